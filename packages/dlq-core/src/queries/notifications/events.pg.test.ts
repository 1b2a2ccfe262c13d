// dlq_events: conditions that begin, last and end.

import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../domain/notifications/event.ts'
import { noteConditions } from './events.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

test('a condition ends though another of its subject lasts, and those of types that nobody looked for go on', async () => {
  const conditionOf = (type: NewEvent['type']): NewEvent => ({ type, subject: 'run/1', severity: 'info', title: type })
  const [paused, unread, silent] = (['run.paused', 'sent.unread', 'service.silent'] as const).map(conditionOf)
  const types = ['run.paused', 'sent.unread'] as const
  await noteConditions(service.sql, { types: ['service.silent'], conditions: [silent!] })
  const first = await noteConditions(service.sql, { types, conditions: [paused!, unread!] })
  expect(first.begun.map(({ type }) => type).toSorted()).toEqual([...types])
  const second = await noteConditions(service.sql, { types, conditions: [unread!] })
  expect([second.begun, second.ended.map(({ type }) => type)]).toEqual([[], ['run.paused']])
})
