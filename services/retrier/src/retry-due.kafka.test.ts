// The outcomes of due messages: the topics and partitions of their records, and those that are refused alone.

import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSlotWorker, type SlotDeps } from './slot/run-slot.ts'
import { type TestRetrierOptions, testSlotDeps } from './test-retrier.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const closing: (() => Promise<void>)[] = []

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_topics')
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function createWorker(options: Partial<TestRetrierOptions> = {}, more: Partial<SlotDeps> = {}) {
  const { kafka } = topics
  const deps = testSlotDeps({ sql: service.sql, kafka, prefix: topics.groupName('retrier'), ...options }, more)
  const worker = createSlotWorker(deps)
  closing.push(
    () => deps.targets.close(),
    () => worker.close(),
  )
  return worker
}

const due = (columns: MessageColumns) =>
  insertMessageRow(database.sql, { next_retry_at: new Date(Date.now() - 1000), ...columns })
const headersOf = (json: string) => database.sql`(${json}::text)::json`
const read = (topic: string) => readTopic(topics.kafka, { topic, groupId: topics.groupName('reader') })
const errorOf = async (id: string) =>
  (await database.sql<{ error: string | null }[]>`select error from dlq.dlq_attempts where message_id = ${id}`)[0]!
    .error

test('a record is sent to its partition byte for byte, with its timestamp, and its row has the new coordinates', async () => {
  const topic = await topics.createTopic('orders', { partitions: 4 })
  const timestamp = new Date(Date.now() - 3_600_000)
  const place = { original_topic: topic, original_partition: 3, original_offset: 5, consumer_group: 'billing-retry-0' }
  const record = { record_key: Buffer.from([0, 255]), record_value: Buffer.from([1, 0]), record_timestamp: new Date() }
  const id = await due({ ...place, ...record, original_timestamp: timestamp })
  await database.sql`update dlq.dlq_messages set record_headers = ${headersOf('[["a","1"],["a",null]]')}`
  await createWorker().pass()

  const records = await read(topic)
  expect(records).toMatchObject([
    { partition: 3, key: Buffer.from([0, 255]), value: Buffer.from([1, 0]), timestamp: String(timestamp.getTime()) },
  ])
  expect(records[0]!.headerPairs).toEqual([
    ['a', Buffer.from('1')],
    ['a', null],
    ['dlq-message-id', Buffer.from(id)],
    ['dlq-attempt', Buffer.from('1')],
    ['dlq-attempt-id', Buffer.from(deriveAttemptId(id, 1))],
    ['dlq-for-group', Buffer.from(`${topic}/billing`)],
  ])
  expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'RESOLVED', retry_count: 1, lease_slot: null })
  expect([
    ...(await database.sql`select number, outcome, slot, target_topic, target_partition, target_offset from dlq.dlq_attempts`),
  ]).toEqual([
    {
      number: 1,
      outcome: 'published',
      slot: 1,
      target_topic: topic,
      target_partition: 3,
      target_offset: records[0]!.offset,
    },
  ])
})

test('a record whose partition is gone is sent to the partition that Java would choose for its key', async () => {
  const topic = await topics.createTopic('orders', { partitions: 3 })
  // org.apache.kafka.common.utils.UtilsTest.testMurmur2: murmur2("21") = -973932308, murmur2("foobar") = -790332482.
  const expected = new Map([
    ['21', (-973932308 & 0x7fffffff) % 3],
    ['foobar', (-790332482 & 0x7fffffff) % 3],
  ])
  for (const key of expected.keys()) {
    await due({ original_topic: topic, original_partition: 17, record_key: Buffer.from(key), record_value: null })
  }
  await database.sql`update dlq.dlq_messages set record_headers = ${headersOf('[]')}`
  await createWorker().pass()
  expect(new Map((await read(topic)).map(({ key, partition }) => [String(key), partition]))).toEqual(expected)
})

test('a record without a key stays without one; a message without a record gets the attempt’s id', async () => {
  const topic = await topics.createTopic('orders')
  await due({ original_topic: topic, record_value: Buffer.from('record') })
  await database.sql`update dlq.dlq_messages set record_headers = ${headersOf('[]')}`
  const reported = await due({ original_topic: topic })
  await database.sql`update dlq.dlq_messages set payload = ('{"n": 1.10}'::text)::jsonb where id = ${reported}`
  await createWorker().pass()
  const keys = new Map((await read(topic)).map(({ key, value }) => [String(value), key]))
  expect(keys).toEqual(
    new Map([
      ['record', null],
      ['{"n": 1.10}', Buffer.from(deriveAttemptId(reported, 1))],
    ]),
  )
})

test('the policy may send to another topic, and at the present time; a timestamp that retention would delete is not kept', async () => {
  const [topic, redirected] = [await topics.createTopic('orders'), await topics.createTopic('elsewhere')]
  const short = await topics.createTopic('short', { config: { 'retention.ms': '600000' } })
  const record_timestamp = new Date(Date.now() - 3_600_000)
  for (const original_topic of [topic, 'gone', short]) {
    await due({ original_topic, record_timestamp, record_value: Buffer.from('x'), record_key: Buffer.from('k') })
  }
  await createWorker({ policies: { [topic]: { timestamp: 'now' }, gone: { redirectTopic: redirected } } }).pass()

  const ageOf = async (name: string) => Math.round((Date.now() - Number((await read(name))[0]!.timestamp)) / 60_000)
  expect([await ageOf(topic), await ageOf(redirected), await ageOf(short)]).toEqual([0, 60, 0])
  const targets = await database.sql`select distinct target_topic from dlq.dlq_attempts order by 1`
  expect(targets.map(({ target_topic }) => target_topic)).toEqual([topic, redirected, short].toSorted())
})

test('among 1,000 records those that cannot be sent are refused alone, each with its reason, and hold up no others', async () => {
  const [topic, narrow] = [await topics.createTopic('orders', { partitions: 2 }), await topics.createTopic('narrow')]
  await insertDueRows(database.sql, { count: 993, topics: [topic, narrow], partitions: 1 })
  await database.sql`insert into dlq.dlq_topics (cluster, topic, partitions) values ('c', 'was-ingested', 1)`
  const value = { record_value: Buffer.from('x') }
  const refused = {
    'larger than the topic allows': await due({ original_topic: topic, record_value: Buffer.alloc(2_000_000, 'x') }),
    'does not exist': await due({ original_topic: 'never-created', ...value }),
    'internal topic': await due({ original_topic: '__consumer_offsets', ...value }),
    'DLQ topic': await due({ original_topic: 'orders.dlq.v1', ...value }),
    'was-ingested is a DLQ topic': await due({ original_topic: 'was-ingested', ...value }),
    'no topic name': await due({ original_topic: 'not a topic', ...value }),
    'outside what the topic allows': await due({
      original_topic: await topics.createTopic('strict', {
        config: { 'message.timestamp.before.max.ms': '1000', 'message.timestamp.after.max.ms': '1000' },
      }),
      record_timestamp: new Date(Date.now() - 3_600_000),
      ...value,
    }),
  }
  const worker = createWorker()
  while ((await worker.pass()).more);

  const statuses = await database.sql`select status, count(*)::int from dlq.dlq_messages group by 1 order by 1`
  expect([...statuses]).toEqual([
    { status: 'PENDING', count: 7 },
    { status: 'RESOLVED', count: 993 },
  ])
  for (const [reason, id] of Object.entries(refused)) {
    expect(await readMessageRow(database.sql, id)).toMatchObject({
      retry_count: 1,
      next_retry_at: null,
      lease_slot: null,
    })
    expect(await errorOf(id)).toContain(reason)
  }
  const seen = [...(await read(topic)), ...(await read(narrow))].map(({ value }) => String(value))
  expect(new Set(seen).size).toBe(993)
  expect(seen).toHaveLength(993)
})

test('a retrier whose clock is wrong gives back what Kafka refuses for its time, and another one sends it', async () => {
  const topic = await topics.createTopic('orders', { config: { 'message.timestamp.after.max.ms': '3600000' } })
  const policies = { [topic]: { timestamp: 'now' } } as const
  const id = await due({ original_topic: topic, record_value: Buffer.from('x') })
  const dayMs = 86_400_000
  const present = Date.now
  const ahead = vi.spyOn(Date, 'now').mockImplementation(() => present() + dayMs)
  const wrong = createWorker({ policies, clockAheadMs: () => dayMs })
  await wrong.pass().finally(() => ahead.mockRestore())
  const given = { status: 'PENDING', retry_count: 0, next_retry_at: expect.any(Date) }
  expect(await readMessageRow(database.sql, id)).toMatchObject(given)

  await database.sql`update dlq.dlq_messages set next_retry_at = now()`
  await createWorker({ policies }).pass()
  expect((await readMessageRow(database.sql, id)).status).toBe('RESOLVED')
})

test('records that are too large together, but not alone, are all sent', async () => {
  const topic = await topics.createTopic('orders', { config: { 'max.message.bytes': '20000' } })
  await insertDueRows(database.sql, { count: 400, topics: [topic] })
  const tooLarge = await due({ original_topic: topic, record_value: Buffer.alloc(30_000) })
  const worker = createWorker()
  await worker.pass()
  expect((await readMessageRow(database.sql, tooLarge)).status).toBe('PENDING')
  const seen = (await read(topic)).map(({ value }) => String(value))
  expect([seen.length, new Set(seen).size]).toEqual([400, 400])
  const [row] =
    await database.sql`select max(retry_count) as most, count(distinct lease_slot)::int as held from dlq.dlq_messages`
  expect(row).toEqual({ most: 1, held: 0 })
})

test('a topic that is deleted while its metadata is remembered fails alone, and the producer that met it is replaced', async () => {
  const [gone, stays] = [await topics.createTopic('gone'), await topics.createTopic('stays')]
  const worker = createWorker()
  const insert = (from: number) => insertDueRows(database.sql, { count: 10, from, topics: [gone, stays] })
  await insert(0)
  expect(await worker.pass()).toMatchObject({ published: 10 })

  await topics.admin.deleteTopics({ topics: [gone] })
  await insert(10)
  const counts = { published: 0, refused: 0 }
  for (let more = true; more; ) {
    const pass = (await worker.pass()) as { more: boolean; published: number; refused: number }
    counts.published += pass.published
    counts.refused += pass.refused
    more = pass.more
  }
  expect(counts).toEqual({ published: 5, refused: 5 })
  await insertDueRows(database.sql, { count: 5, from: 20, topics: [stays] })
  expect(await worker.pass()).toMatchObject({ published: 5 })
  const seen = (await read(stays)).map(({ value }) => String(value))
  expect([seen.length, new Set(seen).size]).toEqual([15, 15])
})

test('no message of a paused DLQ topic is sent, also where another DLQ topic of the same original topic is not paused', async () => {
  const topic = await topics.createTopic('orders')
  const ages = { 'a.dlq.v1': [30, 10], 'b.dlq.v1': [20] }
  for (const [dlq_topic, seconds] of Object.entries(ages)) {
    for (const ago of seconds)
      await due({ original_topic: topic, dlq_topic, next_retry_at: new Date(Date.now() - ago * 1000) })
  }
  const pass = (paused: string) =>
    createWorker(
      { policies: {} },
      { policyOf: ({ dlq_topic }) => ({ ...defaultRetryPolicy, paused: dlq_topic === paused }) },
    ).pass()
  const resolved = async () =>
    (await database.sql`select dlq_topic, retry_count from dlq.dlq_messages where status = 'RESOLVED'`).map((row) => ({
      ...row,
    }))

  // The policy of the message due longest pauses it, so the whole topic waits.
  await pass('a.dlq.v1')
  expect(await resolved()).toEqual([])
  // The policy of another message pauses it. Its messages are given back, and no attempt is counted.
  expect(await pass('b.dlq.v1')).toMatchObject({ published: 2, released: 1 })
  expect(await resolved()).toEqual([
    { dlq_topic: 'a.dlq.v1', retry_count: 1 },
    { dlq_topic: 'a.dlq.v1', retry_count: 1 },
  ])
  const [waiting] =
    await database.sql`select retry_count, next_retry_at is not null as due from dlq.dlq_messages where status = 'PENDING'`
  expect(waiting).toEqual({ retry_count: 0, due: true })
})

test('a slot without due messages for a minute polls less often, until it finds some', async () => {
  const topic = await topics.createTopic('orders')
  let now = new Date()
  const worker = createWorker({}, { now: () => now })
  expect(await worker.pass()).not.toHaveProperty('waitMs')
  now = new Date(now.getTime() + 61_000)
  expect(await worker.pass()).toMatchObject({ more: false, waitMs: 400 })
  await insertDueRows(database.sql, { count: 1, topics: [topic] })
  expect(await worker.pass()).not.toHaveProperty('waitMs')
  expect(await worker.pass()).not.toHaveProperty('waitMs')
})

test('messages of a paused topic stay, and are sent once it is resumed', async () => {
  const topic = await topics.createTopic('orders')
  await insertDueRows(database.sql, { count: 3, topics: [topic] })
  const policies = { [topic]: { paused: true } }
  const worker = createWorker({ policies })
  expect(await worker.pass()).toMatchObject({ more: false })
  policies[topic] = { paused: false }
  expect(await worker.pass()).toMatchObject({ published: 3 })
})
