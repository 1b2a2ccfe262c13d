// The oldest PENDING messages of DLQ topics that share their original topics.
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, expect, test } from 'vitest'
import { oldestPendingOf } from './topic-overview.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeAll(async () => {
  await database.sql`
    insert into dlq.dlq_messages (id, original_topic, dlq_topic, error_message, status, record_timestamp, created_at)
    select dlq.uuid_floor(at), original, dlq, 'e', status, case when n <> 4 then at end,
           -- Stored as a backlog, a day after the records were written; the fourth one was reported without a record.
           case when n = 4 then at else at + interval '1 day' end
    from (values
      (1, 'orders', 'other.dlq', 'PENDING'), (2, 'orders', 'late.dlq', 'DEAD'), (3, 'orders', 'late.dlq', 'PENDING'),
      (4, 'payments', 'late.dlq', 'PENDING'), (5, 'payments', 'first.dlq', 'RESOLVED')) as made (n, original, dlq, status)
    cross join lateral (select timestamptz '2026-02-20Z' + n * interval '1 minute') time (at)`
})

const minute = (n: number) => new Date(Date.UTC(2026, 1, 20, 0, n))

test('of a DLQ topic is the oldest of its own messages, of whatever original topic', async () => {
  const topics = ['late.dlq', 'first.dlq', 'other.dlq', 'unknown.dlq']
  const found = await oldestPendingOf(service.sql, { column: 'dlq_topic', topics, scope: null })
  expect(Object.fromEntries(found)).toEqual({ 'late.dlq': minute(3), 'other.dlq': minute(1) })
})

test('is in the scope', async () => {
  const topics = ['late.dlq', 'other.dlq']
  const found = await oldestPendingOf(service.sql, { column: 'dlq_topic', topics, scope: ['payments'] })
  expect(Object.fromEntries(found)).toEqual({ 'late.dlq': minute(4) })
})

test('of an original topic is the oldest of any DLQ topic', async () => {
  const found = await oldestPendingOf(service.sql, { column: 'original_topic', topics: ['orders'], scope: null })
  expect(Object.fromEntries(found)).toEqual({ orders: minute(1) })
})
