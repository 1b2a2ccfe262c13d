// dlq_topic_partitions: what is written down of Kafka's logs, and the lag that follows from it.
import { emptyTables } from 'dlq-testing/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/service-database.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { resetPosition } from './positions.ts'
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
const retentionMs = 604_800_000n

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_positions', 'dlq.dlq_topic_partitions', 'dlq.dlq_topics')
  await find(topic)
})

const find = (...topics: string[]) =>
  recordTopics(service.sql, { cluster, found: topics.map((topic) => ({ topic, topicId: null, partitions: 2 })) })
const bound = (partition: number, logStart: bigint, logEnd: bigint) => ({ topic, partition, logStart, logEnd })
const see = (bounds: ReturnType<typeof bound>[], unread: UnreadRecord[] = []) =>
  recordLogBounds(service.sql, { cluster, bounds, unread })
const unread = (bounds: ReturnType<typeof bound>[]) => listUnread(service.sql, { cluster, bounds, limit: 10 })
const ingestTo = (partition: number, nextOffset: bigint) =>
  resetPosition(service.sql, { cluster, topic, partition, nextOffset })
const take = (everyMs: number, limit = 100) => takeTopicsToLookAt(service.sql, { cluster, everyMs, limit })
const lagOf = async () => (await listIngestLag(service.sql)).find((lag) => lag.topic === topic)!

describe('a topic is looked at', () => {
  test('once per interval, by whoever takes it first', async () => {
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
  test('is what its partitions hold behind their positions, and zero where all is ingested', async () => {
    await see([bound(0, 0n, 100n), bound(1, 10n, 50n)])
    expect(await lagOf()).toMatchObject({ lag: 140n, lost: 0n, oldestUnreadAt: null, expiresAt: null })
    await ingestTo(0, 70n)
    await ingestTo(1, 50n)
    expect(await lagOf()).toMatchObject({ lag: 30n })
    await ingestTo(0, 120n)
    expect(await lagOf()).toMatchObject({ lag: 0n })
  })

  test('says how many offsets retention took before they were read, but not of a topic never read before', async () => {
    await ingestTo(0, 20n)
    await see([bound(0, 30n, 100n), bound(1, 1000n, 1000n)])
    expect(await lagOf()).toMatchObject({ lag: 70n, lost: 10n })
  })

  test('says as of when, and nothing of a topic that nobody has looked at or that is gone', async () => {
    await find(topic, 'new.dlq.v1')
    await see([bound(0, 0n, 1n)])
    const lags = await listIngestLag(service.sql)
    expect(lags.map(({ topic, lag, lookedAt }) => [topic, lag, lookedAt !== null])).toEqual([
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

  test('is looked for only where the end of the look before is not reached, and from the position on', async () => {
    await see([bound(0, 0n, 100n), bound(1, 0n, 100n)])
    await ingestTo(0, 40n)
    await ingestTo(1, 100n)
    // Partition 1 has come to where the log ended then; what came since may be on its way.
    expect(await unread([bound(0, 0n, 500n), bound(1, 0n, 500n)])).toEqual([{ topic, partition: 0, offset: 40n }])
    expect(await unread([bound(0, 60n, 500n)])).toEqual([{ topic, partition: 0, offset: 60n }])
  })

  test('is not looked for again until it is ingested or deleted', async () => {
    await see([bound(0, 0n, 100n)])
    await ingestTo(0, 40n)
    await see([bound(0, 0n, 100n)], [record])
    expect(await unread([bound(0, 0n, 100n)])).toEqual([])
    expect(await unread([bound(0, 41n, 100n)])).toEqual([{ topic, partition: 0, offset: 41n }])
    await ingestTo(0, 41n)
    expect(await unread([bound(0, 0n, 100n)])).toEqual([{ topic, partition: 0, offset: 41n }])
  })

  test('tells when retention may take it, as long as it waits', async () => {
    await recordTopicSettings(service.sql, {
      cluster,
      settings: [{ topic, retentionMs, retentionBytes: -1n, cleanupPolicy: 'compact,delete' }],
    })
    await ingestTo(0, 40n)
    await see([bound(0, 0n, 100n)], [record])
    expect(await lagOf()).toMatchObject({
      oldestUnreadAt: new Date(timestamp),
      expiresAt: new Date(timestamp + Number(retentionMs)),
      ...{ retentionMs, retentionBytes: -1n, cleanupPolicy: 'compact,delete' },
    })
    // A look that finds nothing new leaves it as it is.
    await see([bound(0, 0n, 120n)])
    expect(await lagOf()).toMatchObject({ oldestUnreadAt: new Date(timestamp) })
    await ingestTo(0, 41n)
    expect(await lagOf()).toMatchObject({ lag: 79n, oldestUnreadAt: null, expiresAt: null })
  })

  test.each([
    ['keeps records for ever', -1n, 'delete'],
    ['is compacted only', retentionMs, 'compact'],
    ['has settings that may not be read', null, null],
  ])('never expires where the topic %s', async (_, retentionMs, cleanupPolicy) => {
    await recordTopicSettings(service.sql, {
      cluster,
      settings: [{ topic, retentionMs, retentionBytes: null, cleanupPolicy }],
    })
    await ingestTo(0, 40n)
    await see([bound(0, 0n, 100n)], [record])
    expect(await lagOf()).toMatchObject({ oldestUnreadAt: new Date(timestamp), expiresAt: null })
  })
})

test('what has not changed is not written again', async () => {
  const versions = () =>
    database.sql`select xmin::text, log_end_offset from dlq.dlq_topic_partitions order by partition`
  await see([bound(0, 0n, 100n), bound(1, 0n, 100n)])
  const before = await versions()
  await see([bound(0, 0n, 100n), bound(1, 0n, 101n)])
  const after = await versions()
  expect(after[0]).toEqual(before[0])
  expect(after[1]).toMatchObject({ log_end_offset: '101' })
})
