// When a condition begins, how grave it is, and what the end of a run is called.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { findEvents } from './find-events.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const now = new Date()
const minuteMs = 60_000

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_topics', 'dlq.dlq_topic_partitions', 'dlq.dlq_positions', 'dlq.dlq_runs')
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_summary_deltas')
})

const find = (wanted: { thresholds?: number[]; openDead?: string[] } = {}) =>
  findEvents(service.sql, {
    ...{ after: new Date(now.getTime() - minuteMs), now, openBursts: [], includeMessages: false },
    ...{ thresholds: wanted.thresholds ?? [], openDead: new Set(wanted.openDead) },
  })

const addTopic = (topic: string, { silentMs = 0, gone = false } = {}) => database.sql`
  insert into dlq.dlq_topics (cluster, topic, partitions, retention_ms, cleanup_policy, looked_at, gone_at)
  values ('main', ${topic}, 1, 3600000, 'delete', now() - ${silentMs}::int * interval '1 ms', ${gone ? now : null})`

test.each([
  [360, null],
  [359, 'warning within six hours'],
  [60, 'warning within six hours'],
  [59, 'critical within an hour'],
  [-1, 'critical within an hour'],
])('records that Kafka deletes in %s minutes: %s', async (minutes, said) => {
  await addTopic('orders.dlq')
  await database.sql`
    insert into dlq.dlq_topic_partitions (cluster, topic, partition, log_start_offset, log_end_offset, unread_offset, unread_timestamp)
    values ('main', 'orders.dlq', 0, 0, 9, 0, ${now}::timestamptz + ${minutes - 60}::int * interval '1 minute')`
  const { conditions } = await find()
  expect(conditions.map(({ type, severity, title }) => `${type} ${severity} ${/within .*/.exec(title)}`)).toEqual(
    said === null ? [] : [`loss.near ${said}`],
  )
})

test('records that retention has deleted before they were ingested are lost, with their number', async () => {
  for (const topic of ['orders.dlq', 'payments.dlq']) await addTopic(topic)
  await database.sql`
    insert into dlq.dlq_positions (cluster, topic, partition, next_offset) values ('main', 'orders.dlq', 0, 5), ('main', 'payments.dlq', 0, 8)`
  await database.sql`
    insert into dlq.dlq_topic_partitions (cluster, topic, partition, log_start_offset, log_end_offset)
    values ('main', 'orders.dlq', 0, 8, 8), ('main', 'payments.dlq', 0, 8, 8)`
  expect((await find()).conditions).toMatchObject([
    { type: 'loss.happened', severity: 'critical', dlq_topic: 'orders.dlq', data: { lost: '3' } },
  ])
})

test('no ingester is silent before two minutes, nor where there is no topic to look at', async () => {
  const types = async () => (await find()).conditions.map(({ type, severity }) => `${type} ${severity}`)
  await addTopic('gone.dlq', { silentMs: 9 * minuteMs, gone: true })
  expect(await types()).toEqual([])
  await addTopic('orders.dlq', { silentMs: 3 * minuteMs })
  expect(await types()).toEqual(['service.silent critical'])
  await addTopic('payments.dlq', { silentMs: minuteMs })
  expect(await types()).toEqual([])
})

test('retries that their group has not read for a quarter of an hour are told of, and younger ones are not', async () => {
  await database.sql`
    insert into dlq.dlq_readers (target_topic, consumer_group, state, members, horizon) values ('orders', 'billing', 'Empty', 0, '1 s')`
  await database.sql`
    insert into dlq.dlq_reader_partitions (
      target_topic, consumer_group, partition, committed_offset, log_start_offset, log_end_offset, passed_offset)
    values ('orders', 'billing', 0, 0, 0, 9, 0)`
  const id = await insertMessageRow(database.sql, {
    ...{ original_topic: 'orders', consumer_group: 'billing', status: 'RESOLVED' },
  })
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, settled_at)
    values (${id}, 1, gen_random_uuid(), 'published', 'orders', 0, 1, ${now}::timestamptz - interval '14 minutes')`
  await database.sql`select dlq.fold_summary()`
  expect((await find()).conditions).toEqual([])
  await database.sql`update dlq.dlq_attempts set settled_at = ${now}::timestamptz - interval '15 minutes'`
  expect((await find()).conditions).toMatchObject([
    { type: 'sent.unread', severity: 'warning', original_topic: 'orders', subject: 'topic/orders' },
  ])
})

test('a threshold is passed at its number, and over only a tenth below', async () => {
  const add = (change: number) => database.sql`
    insert into dlq.dlq_summary_deltas (original_topic, status, change) values ('orders', 'DEAD', ${change})`
  const subjects = async (openDead: string[] = []) =>
    (await find({ thresholds: [10, 20], openDead })).conditions.map(({ subject }) => subject)
  await add(9)
  expect(await subjects()).toEqual([])
  expect(await subjects(['dead/orders/10'])).toEqual(['dead/orders/10'])
  await add(1)
  expect(await subjects()).toEqual(['dead/orders/10'])
  await add(-2)
  expect(await subjects(['dead/orders/10'])).toEqual([])
  await add(12)
  expect(await subjects()).toEqual(['dead/orders/10', 'dead/orders/20'])
})

test('a run says how it ended and why, and one that is paused what it waits for', async () => {
  await database.sql`
    insert into dlq.dlq_runs (kind, actor, status, status_reason, selection, until_id, matched, matched_relation, resolved, failed_again, ended_at)
    select kind, 'ann', status, reason, '{"filter":{}}', gen_random_uuid(), 9, 'eq', 3, 1, case when status <> 'paused' then ${now}::timestamptz end
    from (values ('retry', 'failed', 'a step failed'), ('dead', 'cancelled', null), ('redirect', 'paused', 'canary: 1 of 2'), ('retry', 'paused', null))
      as given (kind, status, reason)`
  const { happened, conditions } = await find()
  const told = [...happened, ...conditions].map(({ type, severity, title }) => `${type} ${severity}: ${title}`)
  expect(told.toSorted()).toEqual([
    'run.failed warning: A run of kind retry has failed: 4 sent, 1 came back; a step failed',
    'run.finished info: A run of kind dead was cancelled: 0 messages done',
    'run.paused warning: A run of kind redirect is paused: canary: 1 of 2',
    'run.paused warning: A run of kind retry is paused',
  ])
})
