// What a look finds behind dead letters, in real partitions.

import { defaultRetryPolicy, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { listStaleness } from 'dlq-core/queries/staleness/answers.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns } from 'dlq-testing/rows/message-rows.ts'
import kafkajs, { type Message, type Producer } from 'kafkajs'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createStalenessScan } from './scan-staleness.ts'
import { createStalenessMetrics } from './staleness-metrics.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const log = createLog({ service: 'retrier', level: 'silent' })
let producer: Producer
let transactional: Producer

beforeAll(async () => {
  const createPartitioner = kafkajs.Partitioners.DefaultPartitioner
  producer = topics.kafka.producer({ allowAutoTopicCreation: false, createPartitioner })
  const transactionalId = topics.groupName('aborting')
  transactional = topics.kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    transactionalId,
    createPartitioner,
  })
  await Promise.all([producer.connect(), transactional.connect()])
})
afterAll(() => Promise.all([producer.disconnect(), transactional.disconnect()]))
beforeEach(() =>
  emptyTables(
    database.sql,
    ...['dlq.dlq_staleness', 'dlq.dlq_staleness_cursors', 'dlq.dlq_attempts', 'dlq.dlq_messages'],
    ...['dlq.dlq_summary', 'dlq.dlq_summary_totals', 'dlq.dlq_summary_deltas'],
  ),
)

type Bounds = { policy?: RetryPolicy['staleness']; maxBytes?: number }

/** Looks as a retrier does that has just started, until nothing is left to do. */
async function look({ policy = 'warn', maxBytes = 2 ** 30 }: Bounds = {}): Promise<void> {
  await database.sql`update dlq.dlq_staleness_cursors set look_due_at = now()`
  const scan = createStalenessScan({
    ...{ admin: topics.admin, reader: topics.reader, sql: service.sql, log, now: Date.now },
    ...{ maxBytes, ratePerSecond: 2 ** 40, signal: new AbortController().signal },
    metrics: createStalenessMetrics(new Registry()),
    policies: {
      load: async () => {},
      policyOf: () => ({ ...defaultRetryPolicy, staleness: policy }),
      mayAskAboutNewer: () => policy !== 'ignore',
    },
  })
  while ((await scan()).more);
}

async function answerOf(id: string) {
  const [known] = await listStaleness(service.sql, [id])
  if (known === undefined) return null
  const { answer, reason, newer_offset, fresh_to } = known
  return { answer, reason, newer_offset, fresh_to }
}
const fresh = (to: bigint) => ({ answer: 'fresh', reason: null, newer_offset: null, fresh_to: to })
const superseded = (by: bigint | null) => ({ answer: 'superseded', reason: null, newer_offset: by, fresh_to: null })
const unknown = (reason: string) => ({ answer: 'unknown', reason, newer_offset: null, fresh_to: null })

/** Sends records one after the other; returns the offset of the first. */
async function send(topic: string, ...messages: Message[]): Promise<bigint> {
  const [sent] = await producer.send({ topic, messages: messages.map((message) => ({ partition: 0, ...message })) })
  return BigInt(sent!.baseOffset!)
}

const deadLetter = (topic: string, offset: bigint | null, columns: MessageColumns = {}) =>
  insertMessageRow(database.sql, {
    ...{ original_topic: topic, original_partition: 0, original_offset: offset?.toString() ?? null },
    ...{ record_key: Buffer.from('k'), record_value: Buffer.from('old'), ...columns },
  })

const record = (value: string, key = 'k') => ({ key, value })

test('a committed record of the key behind it makes a message superseded, now or at a later look', async () => {
  const topic = await topics.createTopic('orders')
  await send(topic, record('old'), record('other', 'k2'), record('old', 'k3'), record('new'))
  const old = await deadLetter(topic, 0n)
  const newest = await deadLetter(topic, 3n)
  const dead = await deadLetter(topic, 2n, { record_key: Buffer.from('k3'), status: 'DEAD' })
  await look()
  expect(await answerOf(old)).toEqual(superseded(3n))
  expect(await answerOf(newest)).toEqual(fresh(4n))
  expect(await answerOf(dead)).toEqual(fresh(4n))

  await send(topic, record('even newer', 'k3'))
  // A letter behind the cursor has its own gap, and both go on together.
  const late = await deadLetter(topic, 1n, { record_key: Buffer.from('k2') })
  await look()
  expect(await answerOf(dead)).toEqual(superseded(4n))
  expect(await answerOf(newest)).toEqual(fresh(5n))
  expect(await answerOf(late)).toEqual(fresh(5n))

  // What is sent is not asked about any more; where it fails again, it begins anew.
  await database.sql`update dlq.dlq_messages set status = 'RESOLVED' where id = ${late}`
  await send(topic, record('new', 'k2'))
  await look()
  expect(await answerOf(late)).toBeNull()
  await database.sql`update dlq.dlq_messages set status = 'PENDING' where id = ${late}`
  await look()
  expect(await answerOf(late)).toEqual(superseded(5n))

  await look({ policy: 'ignore' })
  expect(await answerOf(newest)).toBeNull()
})

test('own attempts and the attempts of older messages are not newer, whatever their offset; those of newer ones are', async () => {
  const topic = await topics.createTopic('orders')
  await send(topic, record('oldest'), record('old'))
  const older = await deadLetter(topic, 0n)
  const id = await deadLetter(topic, 1n)
  const elsewhere = await deadLetter('elsewhere', 0n, { status: 'RESOLVED' })
  const mark = (of: string) => ({ headers: { 'dlq-message-id': of } })
  await send(topic, { ...record('old again'), ...mark(id) }, { ...record('oldest again'), ...mark(older) })
  await look()
  expect(await answerOf(id)).toEqual(fresh(4n))
  expect(await answerOf(older)).toEqual(superseded(1n))
  // Headers travel: made from another topic's record, it is new here.
  await send(topic, { ...record('made from it'), ...mark(elsewhere) })
  await look()
  expect(await answerOf(id)).toEqual(superseded(4n))
})

test('what a transaction took back is not newer, and what is not committed yet is not called read', async () => {
  const topic = await topics.createTopic('orders')
  await send(topic, record('old'))
  const id = await deadLetter(topic, 0n)
  const aborted = await transactional.transaction()
  await aborted.send({ topic, messages: [{ ...record('never'), partition: 0 }] })
  await aborted.abort()
  const open = await transactional.transaction()
  await open.send({ topic, messages: [{ ...record('new'), partition: 0 }] })
  try {
    await look()
    expect(await answerOf(id)).toEqual(fresh(3n))
  } finally {
    await open.commit()
  }
  await look()
  expect(await answerOf(id)).toEqual(superseded(3n))
})

test('where records of the key may stand in another partition, the answer is unknown', async () => {
  const topic = await topics.createTopic('orders', { partitions: 1 })
  const keys = Array.from({ length: 8 }, (_, n) => `key ${n}`)
  await send(topic, ...keys.map((key) => record('old', key)))
  const ids = await Promise.all(keys.map((key, n) => deadLetter(topic, BigInt(n), { record_key: Buffer.from(key) })))
  await look()
  for (const id of ids) expect(await answerOf(id)).toEqual(fresh(8n))
  await topics.admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] })
  const where = await producerPlaces(topic, keys)
  await look()
  const answers = await Promise.all(ids.map(answerOf))
  expect(answers.map((answer) => answer?.answer)).toEqual(where.map((of) => (of === 0 ? 'superseded' : 'unknown')))
  expect(new Set(answers.map((answer) => answer?.reason))).toEqual(new Set([null, 'repartitioned']))
})

/** Sends a newer record of each key to the partition that it has now. */
async function producerPlaces(topic: string, keys: readonly string[]): Promise<number[]> {
  const grown = topics.kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  })
  await grown.connect()
  const places: number[] = []
  for (const key of keys) {
    const [sent] = await grown.send({ topic, messages: [record('new', key)] })
    places.push(sent!.partition)
  }
  await grown.disconnect()
  return places
}

test('each bound says unknown: no key, no place, too much to read, deleted by retention, a topic made anew', async () => {
  const topic = await topics.createTopic('orders')
  await send(
    topic,
    record('old'),
    record('old', 'k2'),
    ...Array.from({ length: 50 }, () => record('x'.repeat(1000), 'o')),
  )
  const [keyless, placeless] = [await deadLetter(topic, 0n, { record_key: null }), await deadLetter(topic, null)]
  const far = await deadLetter(topic, 0n)
  const near = await deadLetter(topic, 51n, { record_key: Buffer.from('o') })
  await look({ maxBytes: 20_000 })
  expect(await answerOf(keyless)).toEqual(unknown('no_key'))
  expect(await answerOf(placeless)).toEqual(unknown('no_place'))
  expect(await answerOf(far)).toEqual(unknown('beyond_bound'))
  expect(await answerOf(near)).toEqual(fresh(52n))

  await topics.admin.fetchTopicOffsets(topic) // kafkajs finds no leader in metadata that it has not loaded.
  await topics.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '10' }] })
  const gone = await deadLetter(topic, 1n, { record_key: Buffer.from('k2') })
  const whole = await deadLetter(topic, 9n, { record_key: Buffer.from('o') })
  await look()
  expect(await answerOf(gone)).toEqual(unknown('retention'))
  expect((await answerOf(whole))?.answer).toBe('superseded')

  await topics.admin.deleteTopics({ topics: [topic] })
  await expect.poll(() => topics.admin.listTopics(), { timeout: 60_000 }).not.toContain(topic)
  await createTopics(topics.admin, [{ topic, numPartitions: 1 }])
  await send(topic, ...Array.from({ length: 60 }, () => record('another')))
  await look()
  expect(await answerOf(near)).toEqual(unknown('recreated'))
})

test('a record that compaction has taken away was replaced by a newer one, unless it was a deletion', async () => {
  const topic = await topics.createTopic('orders', {
    config: {
      'cleanup.policy': 'compact',
      'segment.ms': '100',
      'min.cleanable.dirty.ratio': '0.01',
      'delete.retention.ms': '0',
    },
  })
  await send(topic, record('old'), record('kept', 'k2'), { key: 'k3', value: null })
  // The newest record of k is a deletion, which compaction takes away as well.
  await send(topic, { key: 'k', value: null })
  const [old, kept] = [await deadLetter(topic, 0n), await deadLetter(topic, 1n, { record_key: Buffer.from('k2') })]
  const deletion = await deadLetter(topic, 2n, { record_key: Buffer.from('k3'), record_value: null })
  let n = 0
  await expect
    .poll(
      async () => {
        // A segment is rolled by what is written next.
        await send(topic, record(String(n++), 'roll'))
        const fetched = await topics.reader.fetchRecords({ topic, partition: 0, offset: 0n, maxBytes: 1e6 })
        return fetched.kind === 'records'
          ? fetched.messages.filter(({ key }) => key?.toString() !== 'roll').length
          : null
      },
      { timeout: 120_000, interval: 500 },
    )
    .toBe(1)
  await look()
  expect(await answerOf(old)).toEqual(superseded(null))
  expect(await answerOf(deletion)).toEqual(unknown('retention'))
  expect((await answerOf(kept))?.answer).toBe('fresh')
})
