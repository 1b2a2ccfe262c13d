// A retrier compares messages with records of a real topic.

import { encodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { springDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import { beforeAll, expect, test } from 'vitest'
import { compareMessage } from './compare-message.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const written = 1_771_583_400_000
let topic: string

beforeAll(async () => {
  topic = await topics.createTopic('orders', { config: { 'retention.ms': '-1' } })
  const producer = topics.kafka.producer()
  await producer.connect()
  await producer.send({ topic, messages: [{ key: 'k', value: '{ "amount": 1.50 }', timestamp: String(written) }] })
  await producer.disconnect()
})

async function insert(value: string | null, changes: MessageColumns = {}, timestamp = written): Promise<string> {
  const { headers } = springDeadLetter({
    ...{
      topic,
      partition: 0,
      offset: 0n,
      timestamp: BigInt(timestamp),
      group: 'billing',
      error: new Error('no stock'),
    },
    ...{ key: Buffer.from('k'), value: null, headers: [] },
  })
  return insertMessageRow(database.sql, {
    ...{ dlq_topic: 'orders.dlq.v1', original_topic: topic, original_topic_source: 'header' },
    ...{ original_partition: 0, original_offset: 0, record_key: Buffer.from('k') },
    ...{ record_value: value === null ? null : Buffer.from(value), record_headers: JSON.parse(encodeHeaders(headers)) },
    ...changes,
  })
}

const compare = (id: string, record: 'dlq' | 'origin' = 'dlq', reader = topics.reader) =>
  compareMessage(
    {
      ...{ sql: service.sql, reader, payloads: null, maxValueBytes: 1024 * 1024, now: () => new Date() },
      ...{ policyOf: () => ({ ...defaultRetryPolicy, record }), log: createLog({ service: 'test', level: 'silent' }) },
    },
    id,
  )
const originOf = async (id: string) => {
  const [row] = await database.sql`select * from dlq.dlq_message_origins where message_id = ${id}`
  return row
}
const unreachable = { ...{}, fetchRecords: () => Promise.reject(new Error('no broker')) } as never

test('a comparison that somebody asks for changes neither the message nor its time', async () => {
  const id = await insert('{"amount":1.5}', { next_retry_at: new Date(0) })
  expect(await compare(id)).toBe('different')
  expect(await originOf(id)).toMatchObject({ state: 'different', differs: ['value'], tries: 1, next_try_at: null })
  expect(String((await originOf(id))!.record_value)).toBe('{ "amount": 1.50 }')
  expect(await readMessageRow(database.sql, id)).toMatchObject({
    origin_state: 2,
    edits: 0,
    next_retry_at: new Date(0),
  })
})

test('a lost value that is found is held from then on', async () => {
  const id = await insert(null, { next_retry_at: new Date(0) })
  expect(await compare(id)).toBe('value_lost')
  expect(await readMessageRow(database.sql, id)).toMatchObject({ origin_state: 18, next_retry_at: null })
})

test('a record that could not be read is looked for three times more, and then waits for a person', async () => {
  const id = await insert(null, { origin_state: 17 })
  await database.sql`insert into dlq.dlq_message_origins (message_id, state, next_try_at) values (${id}, 'unreachable', now())`
  for (const minutes of [5, 30]) {
    expect(await compare(id, 'dlq', unreachable)).toBe('wanted')
    const { next_try_at, compared_at } = (await originOf(id))!
    expect(Math.round((next_try_at - compared_at) / 60_000)).toBe(minutes)
  }
  expect(await compare(id, 'dlq', unreachable)).toBe('unreachable')
  expect(await originOf(id)).toMatchObject({ state: 'unreachable', next_try_at: null, problem: 'no broker', tries: 4 })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ origin_state: 16, next_retry_at: null })
})

test('one that is read later is adopted where the policy says so, and is due again', async () => {
  const id = await insert('{"amount":1.5}', { origin_state: 17 })
  expect(await compare(id, 'origin')).toBe('same')
  const message = await readMessageRow(database.sql, id)
  expect(message).toMatchObject({ record_source: 'origin', origin_state: 1, edits: 1 })
  expect(String(message.record_value)).toBe('{ "amount": 1.50 }')
  expect(message.next_retry_at).not.toBeNull()
})

test('another record at the place is neither kept nor adopted', async () => {
  const id = await insert('{"amount":1.5}', {}, written + 1)
  expect(await compare(id, 'origin')).toBe('mismatch')
  expect(await originOf(id)).toMatchObject({ state: 'mismatch', record_value: null })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ edits: 0, origin_state: 13 })
})

test('a message that somebody has edited is not compared any more', async () => {
  const id = await insert('{}', { edits: 1 })
  expect(await compare(id)).toBeNull()
  expect(await originOf(id)).toBeUndefined()
})
