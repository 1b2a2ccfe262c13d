// Topics that nobody ingests, as the ingester finds them in Kafka, and what a subscription does: where it begins, which
// records are its backlog, and that a crash in between leaves nothing half begun.

import { type Family, families } from 'dlq-core/domain/failure/families/family.ts'
import { listCandidates } from 'dlq-core/queries/discovery/candidates.ts'
import { askForSample, takeSampleAnswer } from 'dlq-core/queries/discovery/samples.ts'
import { addSubscription } from 'dlq-core/queries/discovery/subscriptions.ts'
import { takeOn } from 'dlq-core/queries/discovery/take-on.ts'
import { dlqTopicsAmong } from 'dlq-core/queries/ingest/topics.ts'
import { registerCodecs } from 'dlq-core/runtime/fetching/kafka-codecs.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readFixture } from '../../../../packages/dlq-core/fixtures/dead-letter.ts'
import { discoverTopics } from '../read/discover-topics.ts'
import { lookAtCandidates } from './look-at-candidates.ts'
import { answerSamples } from './sample-topics.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const cluster = 'c'
const log = createLog({ service: 'test', level: 'silent' })

beforeAll(() => registerCodecs())
beforeEach(() =>
  emptyTables(
    database.sql,
    ...['dlq.dlq_positions', 'dlq.dlq_topics', 'dlq.dlq_candidates', 'dlq.dlq_subscriptions', 'dlq.dlq_samples'],
  ),
)

type Sent = { key?: Buffer | null; value: Buffer | string | null; headers?: Record<string, Buffer>; timestamp?: string }

async function send(topic: string, messages: Sent[]): Promise<void> {
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  await producer.send({ topic, messages: messages.map((message) => ({ ...message, partition: 0 })) })
  await producer.disconnect()
}

const discover = () =>
  discoverTopics({
    ...{ admin: topics.admin, reader: topics.reader, sql: service.sql, log, cluster },
    ...{ patterns: ['nothing.matches'], ledgerTopic: 'dlq-manager.ledger' },
  })
const createNamed = (topic: string) => createTopics(topics.admin, [{ topic, numPartitions: 1 }])
/** Other tests have topics on the broker too. */
async function look(): Promise<void> {
  const deps = { admin: topics.admin, reader: topics.reader, sql: service.sql, log }
  while ((await lookAtCandidates(deps, cluster)).more);
}
const candidate = async (topic: string) =>
  (await listCandidates(service.sql, { scope: null, topics: [topic], limit: 2 }))[0]
const subscribe = (pattern: string, more = {}) =>
  addSubscription(service.sql, {
    ...{ cluster: null, pattern, mode: 'ingest' as const, original: null, start: 'earliest' as const, start_at: null },
    ...{ backlog: 'manual' as const, created_by: 'test', reason: null, ...more },
  })
const placesOf = (topic: string) => database.sql<{ next_offset: string; manual_below: string | null }[]>`
  select next_offset, manual_below from dlq.dlq_positions where topic = ${topic} order by partition`
const yearsAgo = String(Date.UTC(2023, 0))

/** A record of each family, in a topic with the framework's default name for the dead letters of a topic. */
type FamilyRecord = Sent & { family: Family; named: (topic: string) => string; confidence: 'name' | 'weak' }
const bytes = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]))
const captured = (source: string): Sent => {
  const { value, headers } = readFixture(source)[0]!.record
  return { value, headers: Object.fromEntries(headers.flatMap(([name, value]) => (value ? [[name, value]] : []))) }
}
const byHeaders = (headers: Record<string, string>): Sent => ({ value: 'x', headers: bytes(headers) })
const familyRecords: readonly FamilyRecord[] = [
  { family: 'spring-dlt', named: (of) => `${of}-dlt`, confidence: 'name', ...captured('spring4-custom') },
  // Connect and Karafka have no default name. These are of their manuals, with something of ours to tell them apart.
  { family: 'kafka-connect', named: (of) => `dlq-${of}-sink`, confidence: 'weak', ...captured('connect-json') },
  {
    ...{ family: 'karafka', named: (of) => `${of}_dead_messages`, confidence: 'weak' },
    ...byHeaders({ source_topic: 'orders', source_partition: '1', source_offset: '12', source_consumer_group: 'app' }),
  },
  {
    ...{ family: 'spring-retryable', named: (of) => `${of}-eu-dlt`, confidence: 'name' },
    ...byHeaders({ 'kafka_original-topic': 'orders', 'retry_topic-attempts': '4' }),
  },
  {
    ...{ family: 'spring-cloud-stream', named: (of) => `error.${of}.billing`, confidence: 'name' },
    ...byHeaders({ 'x-original-topic': 'orders', 'x-exception-fqcn': 'app.OrderRejected' }),
  },
  {
    ...{ family: 'kafka-streams', named: (of) => `${of}-dlq`, confidence: 'name' },
    ...byHeaders({ '__streams.errors.exception': 'app.OrderRejected', '__streams.errors.topic': 'orders' }),
  },
  {
    ...{ family: 'smallrye', named: (of) => `dead-letter-topic-${of}`, confidence: 'name' },
    ...byHeaders({ 'dead-letter-reason': 'refused', 'dead-letter-topic': 'orders' }),
  },
  {
    ...{ family: 'smallrye-delayed-retry', named: (of) => `dead-letter-topic-${of}-in`, confidence: 'name' },
    ...byHeaders({ 'delayed-retry-reason': 'refused', 'delayed-retry-topic': 'orders' }),
  },
  {
    ...{ family: 'share-group', named: (of) => `dlq.${of}`, confidence: 'name' },
    ...byHeaders({ '__dlq.errors.topic': 'orders', '__dlq.errors.partition': '2', '__dlq.errors.offset': '41' }),
  },
  {
    ...{ family: 'dlq-manager', named: (of) => `${of}.dlq.v1`, confidence: 'name' },
    ...byHeaders({ 'dlq-original-topic': 'orders', 'dlq-error-message': 'refused' }),
  },
  {
    ...{ family: 'ksqldb', named: (of) => `${of}_ksql_processing_log`, confidence: 'weak' },
    value: JSON.stringify({
      ...{ level: 'ERROR', logger: 'processing.CSAS_X_1.KsqlTopic.Source.deserializer', time: 1_571_409_840_327 },
      message: { type: 2, productionError: { errorMessage: 'Error producing' } },
    }),
  },
  {
    ...{ family: 'plain-error', named: (of) => `${of}_error`, confidence: 'weak' },
    ...byHeaders({ error: 'boom' }),
  },
]

test('each family is among them', () => {
  expect(familyRecords.map(({ family }) => family).toSorted()).toEqual([...families].toSorted())
})

describe('a topic that looks like a DLQ topic', () => {
  test('is a candidate by its name, and more surely by the headers of each family', async () => {
    const made = await Promise.all(
      familyRecords.map(async ({ family, named, confidence, ...record }) => {
        const topic = topics.claimTopic(named(topics.topicName('shop')))
        await createNamed(topic)
        await send(topic, [{ ...record, timestamp: yearsAgo }])
        return { topic, family, confidence }
      }),
    )
    await discover()
    for (const { topic, confidence } of made)
      expect(await candidate(topic)).toMatchObject({ confidence, looked_at: null })
    await look()
    for (const { topic, family } of made)
      expect(await candidate(topic), family).toMatchObject({
        ...{ confidence: 'headers', family, records_at_most: 1n, partitions: 1, cleanup_policy: 'delete' },
        oldest_at: new Date(Number(yearsAgo)),
      })
  })

  test('is none where it is ingested, ignored, or the parent of another', async () => {
    const parent = topics.topicName('form', '_errors')
    const child = topics.claimTopic(`${parent}-dlt`)
    const ignored = topics.topicName('other', '-dlt')
    for (const name of [parent, child, ignored]) await createNamed(name)
    await subscribe(ignored, { mode: 'ignore' })
    await discover()
    expect(await candidate(parent)).toBeUndefined()
    expect(await candidate(ignored)).toBeUndefined()
    expect(await candidate(child)).toMatchObject({ confidence: 'name' })
    await subscribe(child)
    const { topics: consumed } = await discover()
    expect(consumed.map(({ topic }) => topic)).toEqual([child])
    expect(await candidate(child)).toBeUndefined()
  })

  test('shows some records as they would be understood, and no values', async () => {
    const topic = topics.topicName('shop', '-dlt')
    await createNamed(topic)
    await send(
      topic,
      Array.from({ length: 50 }, (_, n) => ({
        ...{ key: Buffer.from('k'), value: `secret-${n}`, timestamp: String(Number(yearsAgo) + n) },
        headers: { 'kafka_dlt-original-topic': Buffer.from('shop') },
      })),
    )
    const id = await askForSample(service.sql, { cluster, topic, atMost: 5 })
    expect(await answerSamples({ reader: topics.reader, sql: service.sql, log, mappings: [] }, cluster)).toEqual({
      more: true,
    })
    const text = await takeSampleAnswer(service.sql, id!)
    expect(text).not.toContain('secret-')
    const { oldest, newest, readable } = JSON.parse(text!)
    expect(readable).toBe(true)
    const offsets = (of: { offset: string }[]) => of.map(({ offset }) => Number(offset))
    expect(offsets(oldest)).toEqual(Array.from({ length: 20 }, (_, n) => n))
    expect(offsets(newest)).toEqual(Array.from({ length: 20 }, (_, n) => 49 - n))
    expect(oldest[0]).toMatchObject({ original_topic: 'shop', original_topic_source: 'header', value_bytes: 8 })
    expect(await database.sql`select from dlq.dlq_samples`).toHaveLength(0)
  })
})

describe('a subscription', () => {
  test('begins with all that Kafka holds as its backlog, and the loop guard knows its topic before', async () => {
    const topic = topics.topicName('odd-name')
    await createNamed(topic)
    await send(topic, [{ value: 'a', timestamp: yearsAgo }, { value: 'b' }])
    await subscribe(topic)
    expect([...(await dlqTopicsAmong(service.sql, [topic, 'other']))]).toEqual([topic])
    await discover()
    expect(await placesOf(topic)).toEqual([{ next_offset: '0', manual_below: '2' }])
    // Looking again changes nothing.
    await database.sql`update dlq.dlq_positions set next_offset = 1`
    await discover()
    expect(await placesOf(topic)).toEqual([{ next_offset: '1', manual_below: '2' }])
  })

  test('of a time begins at the first record of that time', async () => {
    const topic = topics.topicName('odd-name')
    await createNamed(topic)
    const at = Number(yearsAgo)
    await send(
      topic,
      [0, 1, 2].map((n) => ({ value: 'x', timestamp: String(at + n * 1000) })),
    )
    await subscribe(topic, { start: 'time', start_at: new Date(at + 500) })
    await discover()
    expect(await placesOf(topic)).toEqual([{ next_offset: '1', manual_below: '3' }])
  })

  test('that meets a topic made after it reads all of it, and its records are no backlog', async () => {
    const topic = topics.topicName('odd-name')
    await subscribe(`${topic}*`, { start: 'latest' })
    await createNamed(topic)
    await send(topic, [{ value: 'a', timestamp: String(Date.now() + 1000) }])
    await discover()
    expect(await placesOf(topic)).toEqual([{ next_offset: '0', manual_below: null }])
  })

  test('leaves neither topic nor positions where it is interrupted, and begins whole the next time', async () => {
    const topic = topics.topicName('odd-name')
    await createNamed(topic)
    await send(topic, [
      { value: 'a', timestamp: yearsAgo },
      { value: 'b', timestamp: yearsAgo },
    ])
    await subscribe(topic, { start: 'latest' })
    const crashing = service.sql.begin(async (sql) => {
      const found = { topic, topic_id: null, partitions: 1 }
      await takeOn(sql, {
        cluster,
        found,
        places: [{ partition: 0, next_offset: 2n, manual_below: 2n }],
        subscribedAt: new Date(),
      })
      throw new Error('killed')
    })
    await expect(crashing).rejects.toThrow('killed')
    expect(await database.sql`select from dlq.dlq_topics where topic = ${topic}`).toHaveLength(0)
    // Several ingesters at once: one of them begins it.
    await Promise.all([discover(), discover(), discover()])
    expect(await placesOf(topic)).toEqual([{ next_offset: '2', manual_below: '2' }])
  })

  test('goes on where the topic was left', async () => {
    const topic = topics.topicName('odd-name')
    await createNamed(topic)
    await send(
      topic,
      [0, 1, 2].map(() => ({ value: 'x', timestamp: yearsAgo })),
    )
    const first = await subscribe(topic)
    await discover()
    await database.sql`update dlq.dlq_positions set next_offset = 2`
    await database.sql`delete from dlq.dlq_subscriptions where id = ${first!.id}`
    expect((await discover()).topics).toEqual([])
    await subscribe(topic)
    await discover()
    expect(await placesOf(topic)).toEqual([{ next_offset: '2', manual_below: '3' }])
  })

  test('whose topic was out of sight for a moment goes on as if it had not been', async () => {
    const topic = topics.topicName('odd-name')
    await createNamed(topic)
    await send(topic, [{ value: 'a', timestamp: yearsAgo }])
    await subscribe(topic)
    await discover()
    await send(topic, [{ value: 'b' }])
    await database.sql`update dlq.dlq_topics set gone_at = now() where topic = ${topic}`
    expect((await discover()).topics.map((of) => of.topic)).toEqual([topic])
    expect(await placesOf(topic)).toEqual([{ next_offset: '0', manual_below: '1' }])
  })
})
