import { readDeadLetter } from 'dlq-core/domain/message/new-message.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { expect, test } from 'vitest'
import type { RouteTest } from '../registers/route-register.ts'
import { completeRecords } from './complete-records.ts'

const topics = useTopics()
const log = createLog({ service: 'test', level: 'silent' })
const settings = { policyOf: () => defaultRetryPolicy, mappings: [], dlqPatterns: ['dlq.*'] }

/** No database: nothing asks it where the routes are given. */
const depsWith = (isOpen: RouteTest, reader: Pick<TopicReader, 'fetchRecords'> = topics.reader) => ({
  ...{ sql: null as never, reader, log, maxValueBytes: 1000 },
  routes: { testOf: async () => isOpen },
})

/** The dead letter that a broker writes for a share group that does not copy records (KIP-1191). */
function shareGroupLetter(topic: string, offset: number): DeadLetterRecord {
  const text = (value: string | number) => Buffer.from(String(value))
  return {
    cluster: 'c',
    topic: 'dlq.orders',
    partition: 0,
    offset: BigInt(offset),
    timestamp: 1_771_583_400_000n,
    key: null,
    value: null,
    headers: [
      ['__dlq.errors.topic', text(topic)],
      ['__dlq.errors.partition', text(0)],
      ['__dlq.errors.offset', text(offset)],
      ['__dlq.errors.group', text('billing')],
      ['__dlq.errors.delivery.count', text(5)],
      ['__dlq.errors.message', text('delivery count exceeded')],
    ],
  }
}

test('a dead letter without bytes gets those of its original record, and the row says whether they were found', async () => {
  const topic = await topics.createTopic('orders')
  const producer = topics.kafka.producer()
  await producer.connect()
  await producer.send({
    topic,
    messages: [{ key: 'k', value: '{"order_id":"123"}', headers: { traceparent: '00-abc' } }],
  })
  await producer.disconnect()

  const letters = [shareGroupLetter(topic, 0), shareGroupLetter(topic, 99)]
  const completed = await completeRecords(
    depsWith(() => true),
    letters,
  )
  const [found, gone] = completed.map((record) => readDeadLetter(record, settings, new Date(), 0.5).message)

  expect(found).toMatchObject({
    record_source: 'origin',
    record_key: Buffer.from('k'),
    payload: '{"order_id":"123"}',
    original_topic: topic,
    error_message: 'delivery count exceeded',
  })
  expect(completed[0]!.headers[0]).toEqual(['traceparent', Buffer.from('00-abc')])
  expect(found!.next_retry_at).not.toBeNull()

  expect(gone).toMatchObject({ record_source: 'dlq', record_value: null, next_retry_at: null })
  expect(gone!.error_message).toContain('the original record is gone')
})

test('nothing is read of a topic that the DLQ topic may not speak for, and the row says so', async () => {
  const topic = await topics.createTopic('secret-hr')
  const producer = topics.kafka.producer()
  await producer.connect()
  await producer.send({ topic, messages: [{ key: 'maria', value: '{"salary":1}' }] })
  await producer.disconnect()

  const read: string[] = []
  const reader: Pick<TopicReader, 'fetchRecords'> = {
    fetchRecords: (place) => {
      read.push(place.topic)
      return topics.reader.fetchRecords(place)
    },
  }
  const own = await topics.createTopic('own')
  // Beside a letter whose original may be read: a batch is not judged as one.
  const [letter] = await completeRecords(
    depsWith(({ original_topic }) => original_topic === own, reader),
    [shareGroupLetter(topic, 0), shareGroupLetter(own, 0)],
  )
  expect(read).toEqual([own])
  expect(letter).toMatchObject({ key: null, value: null, original: 'not-allowed' })
  const { message } = readDeadLetter(letter!, settings, new Date(), 0.5)
  expect(message).toMatchObject({ record_source: 'dlq', record_key: null, record_value: null, next_retry_at: null })
  expect(message.error_message).toContain('has not been allowed to speak for the original topic')
})
