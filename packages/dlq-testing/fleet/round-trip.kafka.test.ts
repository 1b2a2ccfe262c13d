// One dead letter as an operator sees it, from the DLQ topic to the API and back to its original topic.
import { deriveAttemptId, deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import type { Header } from 'dlq-core/domain/record/record.ts'
import { eventually, nothingHappensFor } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { springDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import type { Consumer } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const shownMs = 2000
const maxRetries = 3
const fleet = useFleet('orders', {
  env: { DLQ_RETRY_INITIAL_DELAY: '100ms', DLQ_RETRY_MULTIPLIER: '1', DLQ_RETRY_MAX_RETRIES: String(maxRetries) },
})
const timestampText = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/)

beforeAll(async () => {
  await fleet.services.startAll()
  // The ingester is ready before it has joined its group; this one waits for that.
  await fleet.producer.send({ topic: fleet.dlq, messages: [{ value: 'first' }] })
  await eventually(async () => expect(await countRows()).toBe(1))
})

async function countRows(): Promise<number> {
  const [row] = await fleet.database.sql<{ count: number }[]>`select count(*)::int as count from dlq.dlq_messages`
  return row!.count
}

test('a dead letter appears in the API, at full size within two seconds, and a retry sends it unchanged', async () => {
  const key = Buffer.from([0xff, 0x00, 0x6b])
  const value = Buffer.from('{"order_id": "123", "amount": 12345678901234567890.12}')
  const headers: Header[] = [
    ['traceparent', Buffer.from('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01')],
    ['tag', Buffer.from('b')],
    ['empty', Buffer.alloc(0)],
    ['tag', null],
    ['42', Buffer.from([0xfe])],
    ['tag', Buffer.from('a')],
  ]
  const failure: Header = ['error', Buffer.from('processing failed')]
  const since = performance.now()
  const [sent] = await fleet.producer.send({
    topic: fleet.dlq,
    messages: [{ key, value, headers: [...headers, failure], timestamp: '1771583400000' }],
  })
  const offset = BigInt(sent!.baseOffset!)
  const id = deriveMessageId({
    ...{ cluster: fleet.cluster, topic: fleet.dlq, partition: 0 },
    ...{ offset, timestamp: 1_771_583_400_000n },
  })

  const list = await eventually(
    async () => {
      const answer = await fleet.services.request(`/api/v1/dlq/${fleet.dlq}?page=2&page_size=1`)
      expect(answer.json()).toMatchObject({ messages: [{ id }], pagination: { total_count: 2 } })
      return answer
    },
    { intervalMs: 20 },
  )
  if (soak) expect(performance.now() - since).toBeLessThan(shownMs)
  const shown = {
    id,
    original_topic: fleet.original,
    error_message: 'processing failed',
    retry_count: 0,
    max_retries: maxRetries,
    payload: expect.anything(),
    status: 'PENDING',
    created_at: timestampText,
    updated_at: timestampText,
    last_retry_at: null,
  }
  const pagination = { total_count: 2, page: 2, page_size: 1, has_next: false }
  expect(list.status).toBe(200)
  expect(list.json()).toEqual({ messages: [shown], pagination })
  // PostgreSQL's jsonb keeps every digit; only a parser in JavaScript would round it.
  expect(list.text).toContain('12345678901234567890.12')

  const retried = await fleet.services.request(`/api/v1/dlq/messages/${id}/retry`, { method: 'POST' })
  expect(retried).toMatchObject({ status: 200 })
  expect(retried.json()).toEqual({ id, status: 'RESOLVED', message: 'message retry initiated' })
  const resolved = await fleet.services.request(`/api/v1/dlq/messages/${id}`)
  expect(resolved.json()).toMatchObject({ ...shown, status: 'RESOLVED', retry_count: 1, last_retry_at: timestampText })

  const records = await readTopic(fleet.topics.kafka, {
    topic: fleet.original,
    groupId: fleet.topics.groupName('reader'),
  })
  expect(records).toHaveLength(1)
  expect(records[0]).toMatchObject({ key, value })
  expect(records[0]!.headerPairs).toEqual([
    ...headers,
    ['dlq-message-id', Buffer.from(id)],
    ['dlq-attempt', Buffer.from('1')],
    ['dlq-attempt-id', Buffer.from(deriveAttemptId(id, 1))],
  ])
})

test('a retry of a message that does not exist answers 404, and of one with no attempt left 409', async () => {
  const [dead] = await fleet.database.sql<{ id: string }[]>`
    insert into dlq.dlq_messages (original_topic, error_message, status, retry_count)
    values ('elsewhere', 'gave up', 'DEAD', ${maxRetries})
    returning id`
  const missing = await fleet.services.request(`/api/v1/dlq/messages/${crypto.randomUUID()}/retry`, { method: 'POST' })
  expect(missing).toMatchObject({ status: 404 })
  const refused = await fleet.services.request(`/api/v1/dlq/messages/${dead!.id}/retry`, { method: 'POST' })
  expect(refused).toMatchObject({ status: 409 })
})

type Seen = { key: string; attempt: number; tags: (string | undefined)[] }

let consumer: Consumer | undefined
afterAll(() => consumer?.disconnect())

/** A consumer that fails a record as many times as its `failures` header says, and dead-letters it each time. */
async function consumeFailing(): Promise<Seen[]> {
  const group = fleet.topics.groupName('payments')
  const seen: Seen[] = []
  consumer = fleet.topics.kafka.consumer({ groupId: group, maxWaitTimeInMs: 100 })
  await consumer.connect()
  await consumer.subscribe({ topics: [fleet.original], fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ topic, partition, message }) => {
      const headers = message.headerPairs
      const textOf = (wanted: string) => headers.findLast(([name]) => name === wanted)?.[1]?.toString()
      const failures = Number(textOf('failures') ?? 0)
      if (failures === 0) return
      const attempt = Number(textOf('dlq-attempt') ?? 0)
      const tags = headers.filter(([name]) => name === 'tag').map(([, tag]) => tag?.toString())
      seen.push({ key: String(message.key), attempt, tags })
      if (attempt >= failures) return
      const { key, value } = message
      const error = Object.assign(new Error(`attempt ${attempt} failed`), { name: 'com.example.PaymentException' })
      const place = { topic, partition, offset: BigInt(message.offset), timestamp: BigInt(message.timestamp) }
      const letter = springDeadLetter({ ...place, key, value, headers, group, error })
      await fleet.producer.send({ topic: fleet.dlq, messages: [letter] })
    },
  })
  return seen
}

test('a message is retried until it succeeds or has spent its budget, on one row', async () => {
  const { sql } = fleet.database
  const seen = await consumeFailing()
  const headers = (failures: number): Header[] => [
    ['tag', Buffer.from('x')],
    ['failures', Buffer.from(String(failures))],
    ['tag', null],
  ]
  const messages = [
    { key: 'hopeless', value: '{"n":1}', headers: headers(1000) },
    { key: 'mended', value: '{"n":2}', headers: headers(2) },
  ]
  await fleet.producer.send({ topic: fleet.original, messages })

  const statuses = () => sql<{ key: string; status: string; retry_count: number; failure_count: number }[]>`
    select convert_from(record_key, 'UTF8') as key, status, retry_count, failure_count
      from dlq.dlq_messages
     where record_key in ('hopeless', 'mended')
     order by key`
  const settled = [
    { key: 'hopeless', status: 'DEAD', retry_count: maxRetries, failure_count: maxRetries + 1 },
    { key: 'mended', status: 'RESOLVED', retry_count: 2, failure_count: 2 },
  ]
  await eventually(async () => expect([...(await statuses())]).toEqual(settled))
  // Long enough for ten more retries, if there were any.
  await nothingHappensFor(1000)
  expect([...(await statuses())]).toEqual(settled)

  const attemptsSeen = (key: string) => seen.filter((record) => record.key === key).map(({ attempt }) => attempt)
  expect(attemptsSeen('hopeless')).toEqual([0, 1, 2, 3])
  expect(attemptsSeen('mended')).toEqual([0, 1, 2])
  expect(new Set(seen.map(({ tags }) => JSON.stringify(tags)))).toEqual(new Set(['["x",null]']))

  const attempts = await sql`
    select convert_from(record_key, 'UTF8') as key, number, outcome, failed_again_message, error_changed
      from dlq.dlq_attempts join dlq.dlq_messages on id = message_id
     where record_key in ('hopeless', 'mended')
     order by key, number`
  const failed = (key: string, number: number) => ({
    ...{ key, number, outcome: 'published', error_changed: false },
    failed_again_message: `attempt ${number} failed`,
  })
  expect([...attempts]).toEqual([
    ...[1, 2, 3].map((number) => failed('hopeless', number)),
    failed('mended', 1),
    { key: 'mended', number: 2, outcome: 'published', error_changed: null, failed_again_message: null },
  ])
})
