// The bounds of Kafka's logs that the ingester stores, against the shared broker and a separate database.

import { listIngestLag } from 'dlq-core/queries/ingest/topic-partitions.ts'
import { recordTopics } from 'dlq-core/queries/ingest/topics.ts'
import { registerCodecs } from 'dlq-core/runtime/fetching/kafka-codecs.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { Registry } from 'prom-client'
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createIngesterMetrics } from '../ingester-metrics.ts'
import { createLogWatch } from './watch-logs.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const cluster = 'c'
const timestamp = Date.now() - 3_600_000

beforeAll(() => registerCodecs())
beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_positions', 'dlq.dlq_topic_partitions', 'dlq.dlq_topics')
})

const find = (...found: string[]) =>
  recordTopics(service.sql, { cluster, found: found.map((topic) => ({ topic, topic_id: null, partitions: 2 })) })

function watch() {
  const registry = new Registry()
  const fetchRecords = vi.fn<TopicReader['fetchRecords']>((place) => topics.reader.fetchRecords(place))
  const pass = createLogWatch({
    ...{ admin: topics.admin, reader: { ...topics.reader, fetchRecords }, sql: service.sql, now: Date.now },
    log: createLog({ service: 'test', level: 'silent' }),
    metrics: createIngesterMetrics(registry),
  })
  const look = async () => {
    await database.sql`update dlq.dlq_topics set look_due_at = now()`
    expect(await pass(cluster)).toEqual({ more: false })
    return listIngestLag(service.sql)
  }
  const gauge = async () => (await registry.getSingleMetric('dlq_ingest_lag_records')!.get()).values
  return { look, gauge, fetchRecords }
}

async function produce(topic: string, partition: number, values: string[]): Promise<void> {
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  await producer.send({
    topic,
    messages: values.map((value, index) => ({ value, partition, timestamp: String(timestamp + index) })),
  })
  await producer.disconnect()
}

test('a topic whose records are not stored shows how many wait, since when, and when retention deletes the first', async () => {
  const topic = await topics.createTopic('watched', { partitions: 2, config: { 'retention.ms': '7200000' } })
  await find(topic)
  await produce(topic, 0, ['a', 'b', 'c'])
  await produce(topic, 1, ['d'])
  const { look, gauge, fetchRecords } = watch()

  expect(await look()).toMatchObject([
    { topic, lag: 4n, lost: 0n, oldest_unread_at: null, retention_ms: 7_200_000n, cleanup_policy: 'delete' },
  ])
  // The record that waited at the previous look still waits.
  expect(await look()).toMatchObject([
    { lag: 4n, oldest_unread_at: new Date(timestamp), expires_at: new Date(timestamp + 7_200_000) },
  ])
  expect(await gauge()).toMatchObject([{ labels: { topic }, value: 4 }])

  await database.sql`insert into dlq.dlq_positions values (${cluster}, ${topic}, 0, 0, 2), (${cluster}, ${topic}, 1, 0, 1)`
  fetchRecords.mockClear()
  expect(await look()).toMatchObject([{ lag: 1n, oldest_unread_at: new Date(timestamp + 2) }])
  await look()
  expect(fetchRecords).toHaveBeenCalledTimes(1)
})

test('records that were deleted before they were read are reported, and the others still wait', async () => {
  const topic = await topics.createTopic('cut')
  await find(topic)
  await produce(topic, 0, ['a', 'b', 'c', 'd'])
  await database.sql`insert into dlq.dlq_positions values (${cluster}, ${topic}, 0, 0, 1)`
  await topics.admin.fetchTopicOffsets(topic) // kafkajs finds no leader in metadata that it has not loaded.
  await topics.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '3' }] })
  const { look } = watch()
  await look()
  expect(await look()).toMatchObject([{ topic, lag: 1n, lost: 2n, oldest_unread_at: new Date(timestamp + 3) }])
})

describe('a topic whose log cannot be read', () => {
  test('does not prevent the reading of any number of others', async () => {
    const [first, second, third] = [
      await topics.createTopic('a'),
      await topics.createTopic('b'),
      await topics.createTopic('c'),
    ]
    const missing = topics.topicName('deleted')
    await find(first!, missing, second!, third!)
    const lags = await watch().look()
    const looked = lags.filter(({ looked_at, retention_ms }) => looked_at !== null && retention_ms !== null)
    expect(looked.map(({ topic }) => topic).toSorted()).toEqual([first, second, third].toSorted())
    expect(lags.find(({ topic }) => topic === missing)).toMatchObject({ looked_at: null, retention_ms: null })
  })

  test('is removed from the metric when it is gone', async () => {
    const topic = await topics.createTopic('forgotten')
    await find(topic)
    const { look, gauge } = watch()
    await look()
    expect(await gauge()).toHaveLength(1)
    await find()
    await look()
    expect(await gauge()).toEqual([])
  })
})
