// dlq_topic_partitions: the stored bounds of Kafka's logs, and the lag that follows from them.
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { takeOn } from '../discovery/take-on.ts'
import { beginGeneration, cutPosition, movePosition, resetPosition } from './positions.ts'
import {
  listIngestLag,
  listUnread,
  recordLogBounds,
  recordTopicSettings,
  takeTopicsToLookAt,
  type UnreadRecord,
} from './topic-partitions.ts'
import { recordTopics } from './topics.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const cluster = 'c'
const topic = 'orders.dlq.v1'
const retention_ms = 604_800_000n

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_positions', 'dlq.dlq_topic_partitions', 'dlq.dlq_topics')
  await find(topic)
})

const find = (...topics: string[]) =>
  recordTopics(service.sql, { cluster, found: topics.map((topic) => ({ topic, topic_id: null, partitions: 2 })) })
const bound = (partition: number, log_start_offset: bigint, log_end_offset: bigint) => ({
  topic,
  partition,
  log_start_offset,
  log_end_offset,
})
const see = (bounds: ReturnType<typeof bound>[], unread: UnreadRecord[] = []) =>
  recordLogBounds(service.sql, { cluster, bounds, unread })
const unread = (bounds: ReturnType<typeof bound>[]) => listUnread(service.sql, { cluster, bounds, limit: 10 })
const ingestTo = (partition: number, next_offset: bigint) =>
  resetPosition(service.sql, { cluster, topic, partition, next_offset: next_offset })
const take = (everyMs: number, limit = 100) => takeTopicsToLookAt(service.sql, { cluster, everyMs, limit })
const lagOf = async () => (await listIngestLag(service.sql)).find((lag) => lag.topic === topic)!

describe('a topic is looked at', () => {
  test('once per interval, by the ingester that takes it first', async () => {
    const taken = await Promise.all([take(60_000), take(60_000)])
    expect(taken.flat()).toEqual([topic])
    expect(await take(60_000)).toEqual([])
  })

  test('again when it is due, the one that waits longest first, and not when Kafka has it no more', async () => {
    await find(topic, 'b.dlq.v1', 'gone.dlq.v1')
    await find(topic, 'b.dlq.v1')
    await take(0, 1)
    expect(await take(0, 1)).toEqual(['b.dlq.v1'])
    expect((await take(0)).toSorted()).toEqual(['b.dlq.v1', topic])
  })
})

describe('the lag of a topic', () => {
  test('is the number of offsets behind its positions, and zero where all records are stored', async () => {
    await see([bound(0, 0n, 100n), bound(1, 10n, 50n)])
    expect(await lagOf()).toMatchObject({ lag: 140n, lost: 0n, oldest_unread_at: null, expires_at: null })
    await ingestTo(0, 70n)
    await ingestTo(1, 50n)
    expect(await lagOf()).toMatchObject({ lag: 30n })
    await ingestTo(0, 120n)
    expect(await lagOf()).toMatchObject({ lag: 0n })
  })

  test('includes the offsets that retention deleted before they were stored, but not for a topic never read before', async () => {
    await ingestTo(0, 20n)
    await see([bound(0, 30n, 100n), bound(1, 1000n, 1000n)])
    expect(await lagOf()).toMatchObject({ lag: 70n, lost: 10n })
  })

  test('has the time of the look, and is absent for a topic that was never looked at or is gone', async () => {
    await find(topic, 'new.dlq.v1')
    await see([bound(0, 0n, 1n)])
    const lags = await listIngestLag(service.sql)
    expect(lags.map(({ topic, lag, looked_at }) => [topic, lag, looked_at !== null])).toEqual([
      ['new.dlq.v1', 0n, false],
      [topic, 1n, true],
    ])
    await find()
    expect(await listIngestLag(service.sql)).toEqual([])
  })
})

describe('the oldest unread record', () => {
  const timestamp = Date.UTC(2026, 0, 2)
  const record = { topic, partition: 0, offset: 40n, timestamp }

  test('is searched only where the end of the previous look is not reached, and from the position on', async () => {
    await see([bound(0, 0n, 100n), bound(1, 0n, 100n)])
    await ingestTo(0, 40n)
    await ingestTo(1, 100n)
    // Partition 1 has reached the log's end of that time. Newer records may be on their way.
    expect(await unread([bound(0, 0n, 500n), bound(1, 0n, 500n)])).toEqual([{ topic, partition: 0, offset: 40n }])
    expect(await unread([bound(0, 60n, 500n)])).toEqual([{ topic, partition: 0, offset: 60n }])
  })

  test('is not searched again until it is stored or deleted', async () => {
    await see([bound(0, 0n, 100n)])
    await ingestTo(0, 40n)
    await see([bound(0, 0n, 100n)], [record])
    expect(await unread([bound(0, 0n, 100n)])).toEqual([])
    expect(await unread([bound(0, 41n, 100n)])).toEqual([{ topic, partition: 0, offset: 41n }])
    await ingestTo(0, 41n)
    expect(await unread([bound(0, 0n, 100n)])).toEqual([{ topic, partition: 0, offset: 41n }])
  })

  test('has the time at which retention may delete it, as long as it waits', async () => {
    await recordTopicSettings(service.sql, {
      cluster,
      settings: [{ topic, retention_ms: retention_ms, retention_bytes: -1n, cleanup_policy: 'compact,delete' }],
    })
    await ingestTo(0, 40n)
    await see([bound(0, 0n, 100n)], [record])
    expect(await lagOf()).toMatchObject({
      oldest_unread_at: new Date(timestamp),
      expires_at: new Date(timestamp + Number(retention_ms)),
      ...{ retention_ms, retention_bytes: -1n, cleanup_policy: 'compact,delete' },
    })
    // A look that finds nothing new leaves it as it is.
    await see([bound(0, 0n, 120n)])
    expect(await lagOf()).toMatchObject({ oldest_unread_at: new Date(timestamp) })
    await ingestTo(0, 41n)
    expect(await lagOf()).toMatchObject({ lag: 79n, oldest_unread_at: null, expires_at: null })
  })

  test.each([
    ['keeps records for ever', -1n, 'delete'],
    ['is compacted only', retention_ms, 'compact'],
    ['has settings that may not be read', null, null],
  ])('never expires where the topic %s', async (_, retention_ms, cleanup_policy) => {
    await recordTopicSettings(service.sql, {
      cluster,
      settings: [{ topic, retention_ms: retention_ms, retention_bytes: null, cleanup_policy: cleanup_policy }],
    })
    await ingestTo(0, 40n)
    await see([bound(0, 0n, 100n)], [record])
    expect(await lagOf()).toMatchObject({ oldest_unread_at: new Date(timestamp), expires_at: null })
  })
})

describe('of a topic that was deleted and created again', () => {
  const created = (topic_id: string, partitions: number) =>
    recordTopics(service.sql, { cluster, found: [{ topic, topic_id, partitions }] })
  const old = { topic, partition: 0, offset: 40n, timestamp: Date.UTC(2026, 0, 2) }

  test('nothing is left: its records do not wait any more', async () => {
    await created('one', 2)
    await see([bound(0, 0n, 100n), bound(1, 0n, 100n)], [old])
    await ingestTo(0, 40n)
    await created('two', 2)
    expect(await lagOf()).toMatchObject({ lag: 0n, oldest_unread_at: null })
    const bounds = [bound(0, 0n, 10n), bound(1, 0n, 0n)]
    await see(bounds)
    expect(await lagOf()).toMatchObject({ lag: 10n, oldest_unread_at: null })
    expect(await unread(bounds)).toEqual([{ topic, partition: 0, offset: 0n }])
  })

  test('nothing is left of partitions that the new one does not have', async () => {
    await created('one', 2)
    await see([bound(0, 0n, 100n), bound(1, 0n, 100n)])
    await ingestTo(0, 100n)
    await ingestTo(1, 100n)
    await created('two', 1)
    await see([bound(0, 0n, 0n)])
    expect(await lagOf()).toMatchObject({ lag: 0n, lost: 0n })
  })

  test('nothing is left where a subscription begins it', async () => {
    await created('one', 2)
    await see([bound(0, 0n, 100n), bound(1, 0n, 100n)], [old])
    await find()
    await takeOn(service.sql, {
      ...{ cluster, found: { topic, topic_id: 'two', partitions: 1 }, subscribedAt: new Date() },
      places: [{ partition: 0, next_offset: 0n, manual_below: null }],
    })
    await see([bound(0, 0n, 10n)])
    expect(await lagOf()).toMatchObject({ lag: 10n, oldest_unread_at: null })
  })
})

test.each<[string, () => Promise<unknown>]>([
  ['that somebody sets back', () => ingestTo(0, 10n)],
  [
    'that goes back to where the log was cut',
    () => cutPosition(service.sql, { cluster, topic, partition: 0, seen_offset: 40n, next_offset: 10n }),
  ],
  [
    'that begins a new generation',
    () => beginGeneration(service.sql, { cluster, topic, partition: 0, seen_offset: 40n, next_offset: 10n }),
  ],
])('the oldest unread record is searched again behind a position %s', async (_, setBack) => {
  await ingestTo(0, 40n)
  await see(
    [bound(0, 0n, 100n), bound(1, 0n, 0n)],
    [{ topic, partition: 0, offset: 40n, timestamp: 1_767_312_000_000 }],
  )
  await setBack()
  expect(await lagOf()).toMatchObject({ oldest_unread_at: null })
  expect(await unread([bound(0, 0n, 100n)])).toEqual([{ topic, partition: 0, offset: 10n }])
  await movePosition(service.sql, { cluster, topic, partition: 0, next_offset: 20n })
  expect(await lagOf()).toMatchObject({ oldest_unread_at: null })
})

test('unchanged bounds are not written again', async () => {
  const versions = () =>
    database.sql`select xmin::text, log_end_offset from dlq.dlq_topic_partitions order by partition`
  await see([bound(0, 0n, 100n), bound(1, 0n, 100n)])
  const before = await versions()
  await see([bound(0, 0n, 100n), bound(1, 0n, 101n)])
  const after = await versions()
  expect(after[0]).toEqual(before[0])
  expect(after[1]).toMatchObject({ log_end_offset: '101' })
})
