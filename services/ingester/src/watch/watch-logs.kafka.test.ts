// What the ingester writes down of Kafka's logs, against the shared broker and a database of its own.

import { listIngestLag } from 'dlq-core/queries/topic-partitions.ts'
import { recordTopics } from 'dlq-core/queries/topics.ts'
import { registerCodecs } from 'dlq-core/runtime/kafka-codecs.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { emptyTables } from 'dlq-testing/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/service-database.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import { useTopics } from 'dlq-testing/test-topics.ts'
import { Registry } from 'prom-client'
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createIngesterMetrics } from './ingester-metrics.ts'
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
  recordTopics(service.sql, { cluster, found: found.map((topic) => ({ topic, topicId: null, partitions: 2 })) })

function watch() {
  const registry = new Registry()
  const fetchRecords = vi.fn<typeof topics.admin.fetchRecords>((options) => topics.admin.fetchRecords(options))
  const { fetchLogBounds, describeConfigs } = topics.admin
  const pass = createLogWatch({
    ...{ admin: { fetchLogBounds, describeConfigs, fetchRecords }, sql: service.sql, now: Date.now },
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

test('a topic whose records nobody ingests shows how many wait, since when, and when retention takes the first', async () => {
  const topic = await topics.createTopic('watched', { partitions: 2, config: { 'retention.ms': '7200000' } })
  await find(topic)
  await produce(topic, 0, ['a', 'b', 'c'])
  await produce(topic, 1, ['d'])
  const { look, gauge, fetchRecords } = watch()

  expect(await look()).toMatchObject([
    { topic, lag: 4n, lost: 0n, oldestUnreadAt: null, retentionMs: 7_200_000n, cleanupPolicy: 'delete' },
  ])
  // What waited at the look before, and waits still.
  expect(await look()).toMatchObject([
    { lag: 4n, oldestUnreadAt: new Date(timestamp), expiresAt: new Date(timestamp + 7_200_000) },
  ])
  expect(await gauge()).toMatchObject([{ labels: { topic }, value: 4 }])

  await database.sql`insert into dlq.dlq_positions values (${cluster}, ${topic}, 0, 0, 2), (${cluster}, ${topic}, 1, 0, 1)`
  fetchRecords.mockClear()
  expect(await look()).toMatchObject([{ lag: 1n, oldestUnreadAt: new Date(timestamp + 2) }])
  await look()
  expect(fetchRecords).toHaveBeenCalledTimes(1)
})

test('records that were deleted before they were read are told, and the ones left still wait', async () => {
  const topic = await topics.createTopic('cut')
  await find(topic)
  await produce(topic, 0, ['a', 'b', 'c', 'd'])
  await database.sql`insert into dlq.dlq_positions values (${cluster}, ${topic}, 0, 0, 1)`
  await topics.admin.fetchTopicOffsets(topic) // kafkajs finds no leader in metadata that it has not loaded.
  await topics.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '3' }] })
  const { look } = watch()
  await look()
  expect(await look()).toMatchObject([{ topic, lag: 1n, lost: 2n, oldestUnreadAt: new Date(timestamp + 3) }])
})

describe('a topic that cannot be looked at', () => {
  test('leaves the others, of however many, to be looked at', async () => {
    const [first, second, third] = [
      await topics.createTopic('a'),
      await topics.createTopic('b'),
      await topics.createTopic('c'),
    ]
    const missing = topics.topicName('deleted')
    await find(first!, missing, second!, third!)
    const lags = await watch().look()
    const looked = lags.filter(({ lookedAt, retentionMs }) => lookedAt !== null && retentionMs !== null)
    expect(looked.map(({ topic }) => topic).toSorted()).toEqual([first, second, third].toSorted())
    expect(lags.find(({ topic }) => topic === missing)).toMatchObject({ lookedAt: null, retentionMs: null })
  })

  test('is forgotten by the metric when it is gone', async () => {
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
