// A canary whose messages nobody reads has proved nothing.

import { recordReaders } from 'dlq-core/queries/readers/reader-watch.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { beforeEach, expect, test } from 'vitest'
import { noRates } from '../readers/reader-rates.ts'
import { whyUnread } from './canary-answer.ts'
import { useEngine } from './test-engine.ts'

const engine = useEngine()
const { chunkOf, insertMany, enter, start, read, publishOnce, move } = engine
const canary = { first: 2, share: 0.5, waitMs: 0, maxRefailure: 0.4 }

beforeEach(() =>
  emptyTables(
    engine.database.sql,
    ...['dlq.dlq_readers', 'dlq.dlq_reader_partitions', 'dlq.dlq_reader_gaps'],
    ...['dlq.dlq_topics', 'dlq.dlq_topic_partitions', 'dlq.dlq_positions'],
  ),
)

/** A retrier has looked: billing has read the topic up to this offset. */
async function look(passed: bigint, { members = 1, beganAt = new Date(Date.now() + 1000) } = {}): Promise<void> {
  const reader = { target_topic: 'orders', consumer_group: 'billing' }
  const partition = { ...reader, partition: 0, committed_offset: passed, log_start_offset: 0n, log_end_offset: 100n }
  const judged = { passed_offset: passed, settled_offset: 0n, marks: [], is_rewound: false, gap: null }
  await recordReaders(engine.service.sql, {
    began_at: beganAt.toISOString(),
    readers: [
      {
        ...reader,
        ...{ type: 'classic', state: 'Stable', members, has_commits: true, horizonMs: 1000, rates: noRates },
        partitions: [{ ...partition, ...judged }],
      },
    ],
  })
  await engine.database
    .sql`update dlq.dlq_reader_watch set looked_at = ${beganAt}, look_due_at = now() + interval '1 h'`
}

/** A run whose first two messages were sent to orders/0, offsets 10 and 11. */
async function sendCanary(): Promise<string> {
  await insertMany(10, { consumer_group: 'billing', dlq_cluster: 'c', dlq_topic: 'orders.dlq.v1' })
  const id = await start(enter({ matched: 10, canary }))
  await chunkOf(id, 'first')
  await publishOnce()
  await engine.database.sql`
    update dlq.dlq_attempts a set target_partition = 0, target_offset = 9 + n
    from (select message_id, row_number() over () as n from dlq.dlq_attempts) numbered
    where numbered.message_id = a.message_id`
  return id
}

test('a canary waits until its group has read its messages', async () => {
  const id = await sendCanary()
  await look(11n)
  expect(await chunkOf(id, 'first')).toMatchObject({ isLast: false })
  await look(12n)
  expect(await chunkOf(id, 'first')).toMatchObject({ isLast: true })
})

test('an older look says nothing of the messages, and a new one is asked for', async () => {
  const id = await sendCanary()
  await look(100n, { beganAt: new Date(Date.now() - 5000) })
  expect(await chunkOf(id, 'first')).toMatchObject({ isLast: false })
  const [watch] = await engine.database.sql`select look_due_at < now() as is_due from dlq.dlq_reader_watch`
  expect(watch).toEqual({ is_due: true })
})

test('where nobody reads them in time the run pauses, and says whose members are missing; resumed, it goes on', async () => {
  const id = await sendCanary()
  await look(3n, { members: 0 })
  await engine.read(id)
  await engine.database.sql`update dlq.dlq_runs set last_settled_at = now() - interval '16 minutes'`
  expect(await chunkOf(id, 'first')).toMatchObject({ isLast: false })
  expect(await read(id)).toMatchObject({
    ...{ status: 'paused', status_reason: 'canary: nobody has read orders/0 for 16 m; group billing has no members' },
  })
  await move(id, 'paused', 'running')
  expect(await chunkOf(id, 'first')).toMatchObject({ isLast: true })
})

test('where no retrier looks, silence has to do', async () => {
  const id = await sendCanary()
  await look(3n, { beganAt: new Date(Date.now() - 120_000) })
  expect(await chunkOf(id, 'first')).toMatchObject({ isLast: true })
})

test('while the dead letters of its messages are not stored, nobody knows what came back: it waits, and pauses in the end', async () => {
  const { sql } = engine.database
  const id = await sendCanary()
  await look(12n)
  await sql`insert into dlq.dlq_topics (cluster, topic, partitions, look_due_at) values ('c', 'orders.dlq.v1', 1, now() + interval '1 h')`
  // No ingester has looked since they were read.
  expect(await chunkOf(id, 'first')).toMatchObject({ isLast: false })
  expect(await sql`select look_due_at <= now() as is_due from dlq.dlq_topics`).toEqual([{ is_due: true }])
  // Ingestion is paused: what the last look saw is not stored.
  await sql`update dlq.dlq_topics set looked_at = now() + interval '1 s'`
  await sql`insert into dlq.dlq_topic_partitions values ('c', 'orders.dlq.v1', 0, 2, 5)`
  expect(await chunkOf(id, 'first')).toMatchObject({ isLast: false })
  await sql`update dlq.dlq_runs set last_settled_at = now() - interval '16 minutes'`
  expect(await chunkOf(id, 'first')).toMatchObject({ isLast: false })
  expect(await read(id)).toMatchObject({
    ...{
      status: 'paused',
      status_reason:
        'canary: the dead letters of orders.dlq.v1 have not all been stored for 16 m, so nobody knows what came back',
    },
  })
})

test('once they are stored, a canary goes on', async () => {
  const { sql } = engine.database
  const id = await sendCanary()
  await look(12n)
  await sql`insert into dlq.dlq_topics (cluster, topic, partitions, looked_at) values ('c', 'orders.dlq.v1', 1, now() + interval '1 s')`
  await sql`insert into dlq.dlq_topic_partitions values ('c', 'orders.dlq.v1', 0, 2, 5)`
  await sql`insert into dlq.dlq_positions (cluster, topic, partition, next_offset) values ('c', 'orders.dlq.v1', 0, 5)`
  expect(await chunkOf(id, 'first')).toMatchObject({ isLast: true })
})

test('a group that is there and does not read is said to be behind', () => {
  const example = { topic: 'orders', partition: 3, group: 'billing', members: 2 }
  expect(whyUnread({ example }, 30_000)).toBe(
    'nobody has read orders/3 for 30 s; group billing is behind or stands still',
  )
})
