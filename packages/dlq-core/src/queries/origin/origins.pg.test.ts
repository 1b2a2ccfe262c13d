// When a message is due, once it is known what stands at its original coordinates.

import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { storedOrigin } from '../../domain/origin/origin-state.ts'
import { writeOriginState } from './origins.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const isHeld = storedOrigin({ state: 'value_lost', isHeld: true })
const isFree = storedOrigin({ state: 'same', isHeld: false })
const [before, after] = [new Date('2030-01-01'), new Date('2031-01-01')]

test.each<[string, MessageColumns, number, Date | null]>([
  ['held from now on', { next_retry_at: before }, isHeld, null],
  ['held, and somebody has asked for it', { next_retry_at: before, retry_requested: true }, isHeld, before],
  ['no longer held', { next_retry_at: null, origin_state: isHeld }, isFree, after],
  [
    'no longer held, but its route holds it',
    { next_retry_at: null, origin_state: isHeld, held_by_route: true },
    isFree,
    null,
  ],
  ['not held, as before', { next_retry_at: before }, isFree, before],
  ['only retried when somebody asks, as before', { next_retry_at: null }, isFree, null],
  ['no longer held, but given up', { status: 'DEAD', next_retry_at: null, origin_state: isHeld }, isFree, null],
])('a message that is %s', async (_, row, stored, due) => {
  const id = await insertMessageRow(database.sql, row)
  await writeOriginState(service.sql, { id, stored, nextRetryAt: after })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ origin_state: stored, next_retry_at: due })
})
