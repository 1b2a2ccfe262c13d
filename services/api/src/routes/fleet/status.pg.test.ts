// The status of the fleet, and the consumer groups.

import { forgetIngester, noteIngester } from 'dlq-core/queries/ingest/ingesters.ts'
import { resetPosition } from 'dlq-core/queries/ingest/positions.ts'
import { recordLogBounds } from 'dlq-core/queries/ingest/topic-partitions.ts'
import { expect, test } from 'vitest'
import { useOverview } from './test-overview.ts'

const { database, service, limited, insert, bodyOf } = useOverview()

test('the status names the ingesters with what they read and how far they are behind', async () => {
  const assignment = [
    { topic: 'orders.dlq.v1', partitions: [0, 1] },
    { topic: 'pay.dlq.v1', partitions: [0] },
  ]
  await noteIngester(service.sql, { id: 'i', cluster: 'c', assignment: [], fault: null })
  await noteIngester(service.sql, { id: 'i', cluster: 'c', assignment, fault: 'orders.dlq.v1 is gone' })
  await noteIngester(service.sql, { id: 'gone', cluster: 'c', assignment, fault: null })
  await database.sql`update dlq.dlq_ingesters set seen_at = now() - interval '2 minutes' where id = 'gone'`
  await resetPosition(service.sql, { cluster: 'c', topic: 'orders.dlq.v1', partition: 0, next_offset: 3n })
  const bounds = { log_start_offset: 0n, log_end_offset: 5n }
  await recordLogBounds(service.sql, {
    cluster: 'c',
    bounds: [
      { topic: 'orders.dlq.v1', partition: 0, ...bounds },
      { topic: 'pay.dlq.v1', partition: 0, ...bounds },
    ],
    unread: [],
  })
  const mine = { cluster: 'c', topic: 'pay.dlq.v1', partition: 0, lag: 5 }
  const of = (partition: number, lag: number) => ({ ...mine, topic: 'orders.dlq.v1', partition, lag })
  expect((await bodyOf('status')).ingesters).toMatchObject([
    { id: 'i', partitions: [of(0, 2), of(1, 0), mine], lag: 7, fault: 'orders.dlq.v1 is gone' },
  ])
  expect((await bodyOf('status', limited)).ingesters).toMatchObject([{ partitions: [mine], lag: 5, fault: null }])
  await forgetIngester(service.sql, 'i')
  expect((await bodyOf('status')).ingesters).toEqual([])
})

test('the status has the number of messages, and the processes that handle them', async () => {
  await insert()
  await insert({ original_topic: 'pay.in', status: 'DEAD' })
  await insert({ original_topic: 'pay.in', consumer_group: 'mail' })
  await database.sql`
    insert into dlq.dlq_retriers (id, publishes, fault, seen_at)
    values ('r1', 'exactly-once', 'no brokers', now()), ('r2', 'nothing', null, now() - interval '1 hour')`
  await holdTopics(['orders', 'pay.in'])
  // Two error groups, one of them for two original topics.
  await database.sql`
    insert into dlq.dlq_group_pauses (original_topic, group_id, reason, probe_at, resumed_at)
    select topic, ('00000000-0000-7000-8000-00000000000' || n)::uuid, '20 failed again', now(), case n when 3 then now() end
    from (values ('orders', 1), ('pay.in', 1), ('orders', 2), ('orders', 3)) paused (topic, n)`
  expect(await bodyOf('status')).toMatchObject({
    counts: { PENDING: 2, DEAD: 1 },
    dlq_topics: 3,
    stored_at: null,
    paused_groups: 2,
    held_topics: [
      { topic: 'orders', reason: 'orders is refused', since: '2026-06-01T12:00:00.000+00:00' },
      { topic: 'pay.in' },
    ],
    retriers: [{ id: 'r1', publishes: 'exactly-once', fault: 'no brokers' }],
  })
  expect(await bodyOf('status', limited)).toMatchObject({
    counts: { PENDING: 1, DEAD: 1 },
    // Nothing of the second consumer group waits.
    topics: [
      { consumer_group: 'mail', oldest_pending_at: expect.any(String) },
      { consumer_group: null, oldest_pending_at: null },
    ],
    dlq_topics: 1,
    paused_groups: 1,
    held_topics: [{ topic: 'pay.in' }],
  })
})

test('a limited token has the rates of what its applications handle themselves, and not those of others', async () => {
  await database.sql`delete from dlq.dlq_attempts`
  const handled = async (outcome: string, fields: object) => database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, settled_at)
    values (${await insert(fields)}, 1, gen_random_uuid(), ${outcome}, now())`
  for (const outcome of ['resolved', 'resolved', 'resolved', 'failed'])
    await handled(outcome, { original_topic: 'pay.in', dlq_topic: 'pay.dlq.v1' })
  await handled('resolved', { original_topic: 'orders' })
  expect((await bodyOf('status')).retry).toEqual({ per_minute: 0.8, refused_per_minute: 0.2, success_rate: 0.8 })
  expect((await bodyOf('status', limited)).retry).toEqual({
    ...{ per_minute: 0.6, refused_per_minute: 0.2, success_rate: 0.75 },
  })
})

test('the counts and the oldest message are those of all topics, also of more than are listed', async () => {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message, status, created_at)
    select 'orders-' || n, 'down', 'PENDING', '2026-06-01T12:00:00Z' from generate_series(1, 1100) n, generate_series(1, 2)`
  await insert({ original_topic: 'quiet', created_at: '2026-06-01T11:00:00Z' })
  await insert({ original_topic: 'pay.in', status: 'DEAD' })
  const status = await bodyOf('status')
  expect(status.topics).toHaveLength(1000)
  expect(status).toMatchObject({
    counts: { PENDING: 2201, RETRYING: 0, RESOLVED: 0, DEAD: 1 },
    oldest_pending_at: '2026-06-01T11:00:00.000+00:00',
  })
  expect(await bodyOf('status', limited)).toMatchObject({ counts: { PENDING: 0, DEAD: 1 }, oldest_pending_at: null })
})

test('the consumer groups are listed with their topics, those with most open messages first', async () => {
  for (const original_topic of ['a', 'b', 'a']) await insert({ original_topic, consumer_group: 'billing' })
  await insert({ original_topic: 'b', consumer_group: 'billing', status: 'RESOLVED' })
  await insert({ consumer_group: null })
  await insert({ original_topic: 'pay.in', consumer_group: 'pay' })
  expect(await bodyOf('consumer-groups')).toMatchObject({
    consumer_groups: [
      {
        consumer_group: 'billing',
        original_topics: ['a', 'b'],
        counts: { PENDING: 3, RESOLVED: 1 },
        recent: 4,
        last_failed_at: expect.any(String),
      },
      { consumer_group: 'pay', counts: { PENDING: 1 }, recent: 1 },
      { consumer_group: null, counts: { PENDING: 1 } },
    ],
  })
  expect(await bodyOf('consumer-groups', limited)).toMatchObject({ consumer_groups: [{ consumer_group: 'pay' }] })
})

/** As every retrier writes that lives, and one that does not. */
async function holdTopics(topics: readonly string[]): Promise<void> {
  const since = '2026-06-01T12:00:00Z'
  const held = JSON.stringify(topics.map((topic) => ({ topic, reason: `${topic} is refused`, since })))
  await database.sql`update dlq.dlq_retriers set held_topics = (${held}::text)::json`
}
