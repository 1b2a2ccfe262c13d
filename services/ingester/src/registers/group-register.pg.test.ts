// Error groups of several batches at once, and when they failed last.

import { readDeadLetter } from 'dlq-core/domain/message/new-message.ts'
import { touchEveryMs } from 'dlq-core/queries/groups/admit-groups.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { recordAt, storeDeps } from '../store/test-batch.ts'
import { createGroupRegister } from './group-register.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

test('a failure that is seen while the database is told of others is told the next time', async () => {
  const { settings } = storeDeps(service.sql)
  const hourMs = 3_600_000
  const start = Date.now() - 5 * hourMs
  const failing = (errorClass: string, afterHours: number) => {
    const timestamp = BigInt(start + afterHours * hourMs)
    const record = recordAt(0, { timestamp, headers: { 'dlq-error-class': errorClass } })
    return readDeadLetter(record, settings, new Date(), 0)
  }
  let now = 0
  const register = createGroupRegister(service.sql, { now: () => now })
  await register.assign([failing('First', 0), failing('Second', 0)])
  now += touchEveryMs
  const telling = register.assign([failing('First', 1)])
  await register.assign([failing('Second', 2)])
  await telling
  now += touchEveryMs
  await register.assign([failing('First', 3)])

  const rows = await database.sql<{ error_class: string; last_seen_at: Date }[]>`
    select g.error_class, t.last_seen_at from dlq.dlq_group_topics t join dlq.dlq_groups g on g.id = t.group_id`
  const hours = rows.map((row) => [row.error_class, (row.last_seen_at.getTime() - start) / hourMs])
  expect(Object.fromEntries(hours)).toEqual({ First: 3, Second: 2 })
})

test('a batch keeps its groups, though the register forgets them while new ones are made known', async () => {
  const letterOf = (errorClass: string) => {
    const record = recordAt(0, { headers: { 'dlq-error-class': errorClass } })
    return readDeadLetter(record, storeDeps(service.sql).settings, new Date(), 0)
  }
  const register = createGroupRegister(service.sql, { now: () => 0 })
  const groupOf = async (errorClass: string) => {
    const letter = letterOf(errorClass)
    await register.assign([letter])
    return letter.message.group_id
  }
  const known = await groupOf('Known')
  const [again, fresh] = [letterOf('Known'), letterOf('New')]
  const assigning = register.assign([again, fresh])
  register.forget()
  await assigning
  expect([again.message.group_id, fresh.message.group_id]).toEqual([known, await groupOf('New')])
})

test('a group whose texts an erasure has taken gets them again, though the register knows it', async () => {
  const record = recordAt(0, { headers: { 'dlq-error-class': 'Busy', 'dlq-error-message': 'no stock of Ann' } })
  let now = 0
  const register = createGroupRegister(service.sql, { now: () => now })
  const fail = async () => {
    const letter = readDeadLetter(record, storeDeps(service.sql).settings, new Date(), 0)
    await register.assign([letter])
    return letter.message.group_id!
  }
  const id = await fail()
  const read = async () => (await database.sql`select title, message from dlq.dlq_groups where id = ${id}`)[0]
  const before = await read()
  await database.sql`update dlq.dlq_groups set title = 'Busy', message = 'erased' where id = ${id}`
  now += touchEveryMs
  await fail()
  await fail()
  expect(await read()).toEqual(before)
})
