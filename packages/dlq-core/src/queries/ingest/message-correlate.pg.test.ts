// Which topics may hold a retry whose coordinates are not stored, and whose record stands at given coordinates.

import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { findAttemptsByPlace, findTopicsOfUnplaced } from './message-correlate.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() =>
  emptyTables(
    database.sql,
    'dlq.dlq_attempts',
    'dlq.dlq_attempts_archive',
    'dlq.dlq_messages',
    'dlq.dlq_target_topics',
  ),
)

const topic = 'orders'
const insertAttempt = (row: Record<string, unknown>, table = 'dlq.dlq_attempts') =>
  database.sql`
    insert into ${database.sql(table)} ${database.sql({
      ...{ message_id: randomUUID(), number: 1, attempt_id: randomUUID(), outcome: 'published', target_topic: topic },
      ...{ target_partition: null, target_offset: null, settled_at: new Date(), ...row },
    })}`
const unplaced = async (asked = [topic]) => [
  ...(await findTopicsOfUnplaced(service.sql, asked, ({ target_topic }) => target_topic ?? 'by-policy')),
]
const placed = { target_partition: 0, target_offset: 7 }
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)

test.each([
  ['one that was sent, nobody knows where', {}, true],
  ['one of which nobody knows whether it was sent', { outcome: 'unknown', unknown_at: new Date() }, true],
  ['one that was sent after nobody had known', { ...placed, unknown_at: new Date() }, true],
  ['one whose place is known', placed, false],
  ['one that was refused', { outcome: 'failed' }, false],
  ['one that has failed again', { failed_again_at: new Date() }, false],
  ['one of another topic', { target_topic: 'payments' }, false],
  ['one whose record Kafka may have deleted since', { settled_at: daysAgo(8) }, false],
])('an attempt makes its topic one of retries without a place, or not: %s', async (_, row, is) => {
  await insertAttempt(row)
  expect(await unplaced()).toEqual(is ? [topic] : [])
})

test.each([
  ['a retrier', { lease_slot: 3, lease_batch: 1, lease_token: randomUUID() }],
  ['an application', { lease_until: new Date(), lease_token: randomUUID() }],
])('a message that %s is sending makes its original topic one, and where it is sent', async (_, lease) => {
  await database.sql`insert into dlq.dlq_slots (slot, epoch) values (3, 1) on conflict do nothing`
  await insertMessageRow(database.sql, { original_topic: topic, status: 'RETRYING', ...lease })
  expect((await unplaced([topic, 'by-policy', 'payments'])).toSorted()).toEqual(['by-policy', topic])
})

test('a place is that of the attempt which published there, also of an archived message, unless its topic is another now', async () => {
  const [live, archived, before] = [randomUUID(), randomUUID(), randomUUID()]
  await insertAttempt({ message_id: live, ...placed })
  await insertAttempt({ message_id: archived, ...placed, target_topic: 'old' }, 'dlq.dlq_attempts_archive')
  await insertAttempt({ message_id: before, ...placed, target_topic: 'anew', settled_at: daysAgo(2) })
  await database.sql`insert into dlq.dlq_target_topics (target_topic, topic_id, new_since) values ('anew', 'id', ${daysAgo(1)})`
  const asked = [
    ...[topic, 'old', 'never'].map((topic) => ({ topic, partition: 0, offset: 7n })),
    { topic, partition: 1, offset: 7n },
    ...[
      { topic, partition: 0, offset: 8n },
      { topic: 'anew', partition: 0, offset: 7n },
    ],
  ]
  const found = await findAttemptsByPlace(service.sql, asked)
  expect(found.map(({ topic, message_id }) => [topic, message_id])).toEqual([
    [topic, live],
    ['old', archived],
  ])
})
