// Dead letters whose original stands on a real topic, from the fetch to what a retrier may claim.

import type { NewMessage } from 'dlq-core/domain/message/new-message.ts'
import { readDeadLetter } from 'dlq-core/domain/message/new-message.ts'
import { decodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import type { DeadLetterRecord, Header } from 'dlq-core/domain/record/record.ts'
import { defaultRetryPolicy, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { fetchOriginals } from 'dlq-core/runtime/fetching/fetch-originals.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { claimDue } from 'dlq-testing/rows/claim-due.ts'
import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { springDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import { beforeAll, expect, test } from 'vitest'
import { storeBatch } from './store-batch.ts'
import { batchOf, partition, storeDeps } from './test-batch.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const written = 1_771_583_400_000
/** Offsets 0, 1, 2: a value, a tombstone, a value without a key. */
let topic: string
let dlqOffset = 0

beforeAll(async () => {
  topic = await topics.createTopic('orders', { config: { 'retention.ms': '-1' } })
  const producer = topics.kafka.producer()
  await producer.connect()
  const timestamp = String(written)
  await producer.send({
    topic,
    messages: [
      { key: 'k', value: '{ "amount": 1.50 }', headers: { __TypeId__: 'app.Order' }, timestamp },
      { key: 'k', value: null, timestamp },
      { key: null, value: '{"amount":2}', timestamp },
    ],
  })
  await producer.disconnect()
})

const settings = { policyOf: () => defaultRetryPolicy, mappings: [], dlqPatterns: ['*.dlq.v1'] }

function springLetter(changes: Partial<Parameters<typeof springDeadLetter>[0]> = {}): DeadLetterRecord {
  const failed = {
    ...{ topic, partition: 0, offset: 0n, timestamp: BigInt(written), group: 'billing', error: new Error('no stock') },
    ...{ key: Buffer.from('k'), value: null, headers: [] as Header[] },
  }
  return {
    ...partition,
    offset: BigInt(dlqOffset++),
    timestamp: BigInt(Date.now()),
    ...springDeadLetter({ ...failed, ...changes }),
  }
}

function smallryeLetter(offset: number): DeadLetterRecord {
  const headers = { reason: 'refused', topic, partition: '0', offset: String(offset) }
  return {
    ...{ ...partition, offset: BigInt(dlqOffset++), timestamp: BigInt(Date.now()), key: Buffer.from('k'), value: null },
    headers: Object.entries(headers).map(([name, value]): Header => [`dead-letter-${name}`, Buffer.from(value)]),
  }
}

async function store(
  record: DeadLetterRecord,
  { policy = {}, isOpen = true }: { policy?: Partial<RetryPolicy>; isOpen?: boolean } = {},
): Promise<NewMessage & { edits: number; status: string }> {
  const route = { dlq_topic: partition.topic, original_topic: topic, state: isOpen ? 'open' : 'closed' }
  await database.sql`delete from dlq.dlq_routes`
  const deps = storeDeps(service.sql, {
    settings: { ...settings, policyOf: () => ({ ...defaultRetryPolicy, initialDelayMs: 0, ...policy }) },
    fetchOriginals: (places) => fetchOriginals(topics.reader, places, { limits: { timeoutMs: 60_000 } }),
  })
  const routes = { ...deps.routes, admit: async () => {}, testOf: async () => () => route.state === 'open' }
  await storeBatch({ ...deps, routes }, batchOf([record], { lowOffset: record.offset } as object), {
    lowOffset: record.offset,
  })
  const { message } = readDeadLetter(record, settings, new Date(), 0)
  return (await readMessageRow(database.sql, message.id)) as never
}

const isClaimed = async (id: string) => (await claimDue(service.sql)).messages.some((message) => message.id === id)

test.each([
  ['Spring', () => springLetter()],
  ['SmallRye', () => smallryeLetter(0)],
])('a value that %s lost is not sent as a deletion', async (_, letter) => {
  const message = await store(letter())
  expect(message).toMatchObject({ record_value: null, origin_state: 18, next_retry_at: null, status: 'PENDING' })
  await database.sql`update dlq.dlq_messages set next_retry_at = now() where id = ${message.id}`
  expect(await isClaimed(message.id)).toBe(false)
  await database.sql`update dlq.dlq_messages set retry_requested = true where id = ${message.id}`
  expect(await isClaimed(message.id)).toBe(true)
})

test('a deletion that failed is retried, because the original is one', async () => {
  const message = await store(springLetter({ offset: 1n }))
  expect(message).toMatchObject({ record_value: null, origin_state: 1 })
  expect(message.next_retry_at).not.toBeNull()
})

test('a null whose original is gone, hidden by its route, or of another time waits for a person', async () => {
  expect(await store(springLetter({ offset: 99n }))).toMatchObject({ origin_state: 15, next_retry_at: null })
  expect(await store(springLetter(), { isOpen: false })).toMatchObject({ origin_state: 17, next_retry_at: null })
  // The topic was made anew: another record stands at the offset.
  const other = { timestamp: BigInt(written - 1) }
  const message = await store(springLetter(other), { policy: { record: 'origin' } })
  expect(message).toMatchObject({ origin_state: 13, next_retry_at: null, edits: 0, record_value: null })
  const [origin] = await database.sql`select * from dlq.dlq_message_origins where message_id = ${message.id}`
  expect(origin).toMatchObject({ state: 'mismatch', record_value: null, record_headers: null })
})

test('a dead letter that lacks the bytes of its record waits for them, and is not sent as null', async () => {
  const letter = (original: DeadLetterRecord['original'], key: Buffer | null = null): DeadLetterRecord => ({
    ...{ ...partition, offset: BigInt(dlqOffset++), timestamp: BigInt(Date.now()), key, value: null },
    ...(original && { original }),
    headers: Object.entries({ topic, partition: '0', offset: '0', group: 'billing', message: 'given up' }).map(
      ([name, value]): Header => [`__dlq.errors.${name}`, Buffer.from(value)],
    ),
  })
  // It is looked for again: 17.
  expect(await store(letter('unreachable'))).toMatchObject({ origin_state: 17, next_retry_at: null })
  expect(await store(letter('not-allowed'))).toMatchObject({ origin_state: 17, next_retry_at: null })
  const gone = await store(letter('gone'))
  expect(gone).toMatchObject({ origin_state: 15, next_retry_at: null })
  await database.sql`update dlq.dlq_messages set next_retry_at = now() where id = ${gone.id}`
  expect(await isClaimed(gone.id)).toBe(false)
  expect(await store(letter('fetched'))).toMatchObject({ origin_state: null })
  // A copy with its key has its null, too.
  expect(await store(letter(undefined, Buffer.from('k')))).toMatchObject({ origin_state: null })
})

test('a policy sends the original byte for byte, and keeps the copy as an edit', async () => {
  const copied = { value: Buffer.from('{"amount":1.5}'), headers: [['__TypeId__', Buffer.from('[B')]] as Header[] }
  const letter = springLetter(copied)
  const message = await store(letter, { policy: { record: 'origin' } })
  expect(message).toMatchObject({ record_source: 'origin', origin_state: 1, edits: 1, payload: { amount: 1.5 } })
  expect(String(message.record_value)).toBe('{ "amount": 1.50 }')
  expect(message.next_retry_at).not.toBeNull()
  const headers = decodeHeaders(JSON.stringify(message.record_headers), { error_stacktrace: message.error_stacktrace })
  expect(headers[0]).toEqual(['__TypeId__', Buffer.from('app.Order')])
  expect(headers.map(([name]) => name)).toContain('kafka_dlt-original-offset')
  const [edit] = await database.sql`select * from dlq.dlq_message_edits where message_id = ${message.id}`
  expect(edit).toMatchObject({ actor: 'system', number: 1, fields: ['value', 'headers'] })
  expect(String(edit!.record_value)).toBe('{"amount":1.5}')
})

test('the copy is sent where the policy allows it and there is no original', async () => {
  const letter = () => springLetter({ value: Buffer.from('{}'), offset: 99n })
  expect((await store(letter(), { policy: { record: 'origin-if-available' } })).next_retry_at).not.toBeNull()
  expect((await store(letter(), { policy: { record: 'origin' } })).next_retry_at).toBeNull()
})

test('nothing is fetched for a dead letter with a value, unless a policy wants its original', async () => {
  const message = await store(springLetter({ value: Buffer.from('{}') }))
  expect(message).toMatchObject({ origin_state: null, record_source: 'dlq' })
})
