// Which retrier reads which partitions for their open messages.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { forgetCursor, keepCursor, takeCursors } from './cursors.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const [mine, others] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_staleness', 'dlq.dlq_staleness_cursors')
  await database.sql`
    insert into dlq.dlq_staleness_cursors (original_topic, partition, look_due_at)
    select topic, partition, now() - due * interval '1 s'
    from (values ('orders', 0, 1), ('orders', 1, -60), ('orders', 2, 9), ('payments', 0, 5)) as given (topic, partition, due)`
})

const take = async (lease: string, leaseMs = 60_000) =>
  (await takeCursors(service.sql, { lease, leaseMs, limit: 9 }))
    .map(({ original_topic, partition }) => `${original_topic} ${partition}`)
    .toSorted()
const first = { original_topic: 'orders', partition: 0 }

test('a retrier takes what is due of the topic that has been due for longest, and nobody else takes it meanwhile', async () => {
  expect([await take(mine), await take(others), await take(others)]).toEqual([
    ['orders 0', 'orders 2'],
    ['payments 0'],
    [],
  ])
})

test('a lease that ran out is another retrier’s once that has taken it, and ends with its holder', async () => {
  await take(mine, -1)
  expect(await keepCursor(service.sql, { ...first, lease: mine, dueMs: -1, ends: false })).toBe(true)
  expect([await take(others), await take(others)]).toEqual([['payments 0'], ['orders 0', 'orders 2']])
  expect(await keepCursor(service.sql, { ...first, lease: mine, dueMs: 0, ends: true })).toBe(false)
  expect(await keepCursor(service.sql, { ...first, lease: others, dueMs: -1, ends: true })).toBe(true)
  expect(await keepCursor(service.sql, { ...first, lease: others, dueMs: 0, ends: false })).toBe(false)
  expect(await take(mine)).toEqual(['orders 0'])
})

test('a partition is forgotten with its answers, by the holder of its lease', async () => {
  await database.sql`
    insert into dlq.dlq_staleness (message_id, original_topic, partition, answer)
    select gen_random_uuid(), topic, partition, 'waiting' from dlq.dlq_staleness_cursors as known (topic, partition)`
  await take(mine)
  await forgetCursor(service.sql, { ...first, lease: others })
  const left = async () => [
    await database.sql`select from dlq.dlq_staleness`.then((rows) => rows.length),
    await database.sql`select from dlq.dlq_staleness_cursors`.then((rows) => rows.length),
  ]
  expect(await left()).toEqual([4, 4])
  await forgetCursor(service.sql, { ...first, lease: mine })
  expect(await left()).toEqual([3, 3])
})
