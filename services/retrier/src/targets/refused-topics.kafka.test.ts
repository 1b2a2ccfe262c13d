// A topic whose records are refused again and again, beside one whose records are all taken. How fast the other one
// stays is measured by `npm run bench -- refused`; this says what is sent together, and how much of the refused is tried.

import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIdempotentProducer } from '../publish/idempotent-producer.ts'
import type { SlotProducer } from '../publish/slot-producer.ts'
import type { FoundTarget, TargetTopics } from '../publish/target-topics.ts'
import { createSlotWorker, type SlotDeps } from '../slot/run-slot.ts'
import { testProducer, testSlotDeps } from '../test-retrier.ts'
import { createTopicHolds } from './topic-holds.ts'
import { bytesAlone } from './topic-limits.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const closing: (() => Promise<void>)[] = []
let now: number

beforeEach(async () => {
  now = Date.now()
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_topics')
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const strict = { 'message.timestamp.before.max.ms': '1000' }

type Options = { deps?: Partial<SlotDeps>; producer?: (slot: number) => SlotProducer; knowsLimits?: boolean }

/** A slot whose parts are noted, each with its topics and how many of its records were published. */
function createRetrier({ deps: more = {}, producer, knowsLimits = true }: Options = {}) {
  const parts: { topics: string[]; records: number; published: number }[] = []
  const options = { sql: service.sql, kafka: topics.kafka, prefix: topics.groupName('retrier'), batchSize: 200 }
  const deps = testSlotDeps(options, {
    holds: createTopicHolds({ now: () => now }),
    ...more,
    createProducer(slot) {
      const inner = producer?.(slot) ?? testProducer(options, slot)
      return {
        ...inner,
        async publish(part) {
          const result = await inner.publish(part)
          const topics = [...new Set(part.records.map(({ topic }) => topic))].toSorted()
          parts.push({ topics, records: part.records.length, published: result.published.length })
          return result
        },
      }
    },
  })
  const { targets } = deps
  const worker = createSlotWorker({ ...deps, targets: knowsLimits ? targets : withoutLimits(targets) })
  closing.push(
    () => targets.close(),
    () => worker.close(),
  )
  return { parts, pass: () => worker.pass(), holds: deps.holds }
}

/** As where the cluster does not let us read the topics' configuration. */
function withoutLimits(targets: TargetTopics): TargetTopics {
  return {
    ...targets,
    async find(topics) {
      const found = await targets.find(topics)
      const unknowing = (known: FoundTarget): FoundTarget =>
        known.kind === 'found' ? { ...known, target: { ...known.target, check: () => ({ kind: 'fits' }) } } : known
      return new Map([...found].map(([topic, known]) => [topic, unknowing(known)]))
    },
  }
}

/** Messages an hour old, which a strict topic refuses. */
async function insertRefused(topic: string, count: number): Promise<void> {
  await insertDueRows(database.sql, { count, topics: [topic] })
  await database.sql`
    update dlq.dlq_messages set record_timestamp = now() - interval '1 hour', max_retries = 1000 where original_topic = ${topic}`
}

/** Somebody asks for all of the topic again. */
const askAgain = (topic: string) =>
  database.sql`
    update dlq.dlq_messages set next_retry_at = now() - interval '2 hours' where original_topic = ${topic} and status = 'PENDING'`

const countOf = async (topic: string, status: string) =>
  (
    await database.sql<[{ n: number }]>`
      select count(*)::int as n from dlq.dlq_messages where original_topic = ${topic} and status = ${status}`
  )[0].n

test('records that a topic’s configuration refuses enter no batch, however often they are due', async () => {
  const [narrow, wide] = [await topics.createTopic('narrow', { config: strict }), await topics.createTopic('wide')]
  await insertRefused(narrow, 300)
  await insertDueRows(database.sql, { count: 1000, topics: [wide], from: 1000 })
  const { parts, pass, holds } = createRetrier()
  for (let passes = 0; (await countOf(wide, 'PENDING')) > 0 && passes < 20; passes += 1) {
    await askAgain(narrow)
    await pass()
    now += 1000
  }
  expect(await countOf(wide, 'RESOLVED')).toBe(1000)
  expect(await countOf(narrow, 'PENDING')).toBe(300)
  expect(parts.filter(({ topics }) => topics.includes(narrow))).toEqual([])
  // After the first batch, of which each topic had half, all but a few places are for the other topic.
  expect(parts.map(({ records }) => records)).toEqual([100, 192, 192, 192, 192, 132])
  expect(holds.list()).toMatchObject([{ topic: narrow, reason: expect.stringContaining('before.max.ms') }])
})

const producers: [string, ((slot: number) => SlotProducer) | undefined][] = [
  ['exactly once', undefined],
  [
    'at least once',
    () => {
      const { log } = testSlotDeps({ sql: service.sql, kafka: topics.kafka, prefix: 'unused' })
      return createIdempotentProducer({ kafka: topics.kafka, log, passFaultPoint: () => {} })
    },
  ],
]

test.each(producers)(
  'what only Kafka can refuse goes beside nothing else from then on, and few of it are tried (%s)',
  async (_, producer) => {
    const [narrow, wide] = [await topics.createTopic('narrow', { config: strict }), await topics.createTopic('wide')]
    await insertRefused(narrow, 1000)
    await insertDueRows(database.sql, { count: 2000, topics: [wide], from: 1000 })
    const { parts, pass, holds } = createRetrier({ knowsLimits: false, ...(producer && { producer }) })
    for (let passes = 0; (await countOf(wide, 'PENDING')) > 0 && passes < 30; passes += 1) {
      await askAgain(narrow)
      await pass()
    }
    expect(await countOf(wide, 'RESOLVED')).toBe(2000)
    // One batch had both, before anything was known.
    expect(parts.filter(({ topics }) => topics.length > 1)).toHaveLength(1)
    expect(holds.list()).toMatchObject([{ topic: narrow, reason: expect.stringContaining('timestamp') }])
    const tried = parts.filter(({ topics }) => topics.includes(narrow))
    // Eight refusals of 100 records, halved each time, then a probe of one record now and then.
    expect(tried.length).toBeLessThan(100)
    const [row] = await database.sql<[{ refused: number }]>`
      select count(*)::int as refused from dlq.dlq_attempts where target_topic = ${narrow}`
    expect(row.refused).toBeGreaterThanOrEqual(8)
    expect(row.refused).toBeLessThan(60)
    const seen = await readTopic(topics.kafka, { topic: wide, groupId: topics.groupName('reader') })
    expect([seen.length, new Set(seen.map(({ value }) => String(value))).size]).toEqual([2000, 2000])
  },
)

test('a held topic is probed, and goes on when a probe is taken', async () => {
  const narrow = await topics.createTopic('narrow', { config: strict })
  await insertRefused(narrow, 200)
  const { parts, pass, holds } = createRetrier({ knowsLimits: false })
  await pass()
  expect(holds.list()).toHaveLength(1)
  // Those that were refused wait for a person; the others only for the topic, and no attempt of theirs is counted.
  const waiting = async () =>
    [
      ...(await database.sql`
        select retry_count, next_retry_at is not null as due, count(*)::int from dlq.dlq_messages
        where status = 'PENDING' group by 1, 2 order by 1`),
    ].map((row) => ({ ...row }))
  expect(await waiting()).toEqual([
    { retry_count: 0, due: true, count: 192 },
    { retry_count: 1, due: false, count: 8 },
  ])

  await topics.admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: 2, name: narrow, configEntries: [] }],
  })
  // Beyond any rest, as for what was put off.
  now += 600_000
  await database.sql`update dlq.dlq_messages set next_retry_at = now() where next_retry_at is not null`
  parts.length = 0
  await pass()
  expect(parts).toEqual([{ topics: [narrow], records: 8, published: 8 }])
  expect(holds.list()).toEqual([])
  await pass()
  expect(await waiting()).toEqual([{ retry_count: 1, due: false, count: 8 }])
})

test('the size up to which a record is sent is the size up to which Kafka takes it', async () => {
  const limit = 2000
  const topic = await topics.createTopic('narrow', { config: { 'max.message.bytes': String(limit) } })
  const wanted = async (bytes: number) => {
    const id = await insertMessageRow(database.sql, { original_topic: topic, next_retry_at: new Date(0) })
    const record = { record_value: Buffer.alloc(bytes), record_headers: '[]', record_key: Buffer.from('k') }
    await database.sql`
      update dlq.dlq_messages set record_value = ${record.record_value}, record_key = ${record.record_key},
        record_headers = ('[]'::text)::json where id = ${id}`
    return id
  }
  const sent: number[] = []
  const measuring = (slot: number) => {
    const inner = testProducer({ sql: service.sql, kafka: topics.kafka, prefix: topics.groupName('sizes') }, slot)
    const publish: SlotProducer['publish'] = (part) => {
      sent.push(...part.records.map(bytesAlone))
      return inner.publish(part)
    }
    return { ...inner, publish }
  }
  // The smallest of these fits surely, the largest surely not; headers of ours take the rest.
  const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => wanted(limit - 193 + n)))
  const { parts, pass } = createRetrier({ producer: measuring, knowsLimits: true })
  while ((await pass()).more);
  expect(parts.every(({ records, published }) => records === published)).toBe(true)
  expect(Math.max(...sent)).toBe(limit)

  // Without the check, Kafka refuses the next larger one.
  const refusedByUs = await database.sql`select message_id from dlq.dlq_attempts where outcome = 'failed'`
  expect(refusedByUs.length).toBeGreaterThan(0)
  expect(refusedByUs.length).toBeLessThan(ids.length)
  await database.sql`update dlq.dlq_messages set next_retry_at = now() where status = 'PENDING'`
  const unchecked = createRetrier({ producer: measuring, knowsLimits: false })
  for (let passes = 0; passes < 5; passes += 1) await unchecked.pass()
  expect(unchecked.parts.reduce((sum, { published }) => sum + published, 0)).toBe(0)
  expect(sent).toContain(limit + 1)
})
