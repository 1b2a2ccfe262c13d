import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deadLetter } from '../../../fixtures/dead-letter.ts'
import type { Header } from '../record/record.ts'
import { republishingHeaders, stripFailureHeaders } from './strip-failure-headers.ts'

const headers = (...names: string[]): Header[] => names.map((name) => [name, Buffer.from(name)])
const strip = (...names: string[]) => stripFailureHeaders(headers(...names), null).map(([name]) => name)

test.each([
  ['Spring', ['kafka_dlt-original-topic', 'kafka_dlt-key-exception-fqcn', 'kafka_deliveryAttempt']],
  ['Spring’s deserializers', ['springDeserializerExceptionKey', 'springDeserializerExceptionValue']],
  ['@RetryableTopic', ['kafka_original-offset', 'kafka_exception-message', 'kafka_key-exception-stacktrace']],
  ['@RetryableTopic’s counters', ['retry_topic-attempts', 'retry_topic-backoff-timestamp']],
  ['Spring Cloud Stream', ['x-original-timestamp-type', 'x-original-topic', 'x-exception-stacktrace']],
  ['Connect', ['__connect.errors.topic', '__connect.errors.stage']],
  ['Streams', ['__streams.errors.exception', '__streams.errors.offset']],
  ['share groups', ['__dlq.errors.topic', '__dlq.errors.delivery.count']],
  ['SmallRye', ['dead-letter-reason', 'delayed-retry-count', 'deserialization-failure-dlq']],
  ['Karafka', ['source_topic', 'source_partition', 'source_offset', 'source_trace_id', 'source_attempts']],
  ['Karafka before 2.5', ['original_topic', 'original_partition', 'original_offset', 'original_key']],
  ['our client', ['dlq-original-topic', 'dlq-error-stacktrace', 'dlq-attempts', 'dlq-consumer-group']],
  ['an earlier republish', ['dlq-message-id', 'dlq-attempt', 'dlq-attempt-id', 'dlq-for-group']],
])('headers of %s are taken off', (_, names) => {
  expect(strip('x-app', ...names, 'x-app')).toEqual(['x-app', 'x-app'])
})

test.each([
  ...['traceparent', '__TypeId__', 'kafka_correlationId', 'content-type', 'x-retries', 'ce_id', '__proto__', '', '42'],
  ...['x-original-url', 'x-exception-id', 'dlq-routing-key', 'source_topic', 'original_key', 'Error', 'KAFKA_DLT-x'],
])('the application’s header %o stays', (name) => {
  expect(strip(name, 'retry_topic-attempts')).toEqual([name])
})

test('the error header goes only where the record was read by it', () => {
  const record = headers('error', 'x-app')
  expect(stripFailureHeaders(record, 'plain-error').map(([name]) => name)).toEqual(['x-app'])
  expect(stripFailureHeaders(record, 'spring-dlt')).toEqual(record)
  expect(stripFailureHeaders(record, null)).toEqual(record)
})

const republishing = {
  messageId: '019c7a99-6840-77a8-86ab-fbe1ca316b73',
  attempt: 3,
  attemptId: '00000000-0000-8372-9720-071471362768',
} as const

const republish = (headers: readonly Header[]) => [
  ...stripFailureHeaders(headers, null),
  ...republishingHeaders({ ...republishing, forGroup: { topic: 'orders', group: 'billing' } }),
]

test('a republished record carries our headers once, whatever it came with', () => {
  const { headers } = deadLetter([
    ['dlq-message-id', 'old'],
    ['x-app', null],
    ['dlq-attempt', '1'],
    ['dlq-attempt', '2'],
    ['kafka_dlt-original-topic', 'orders'],
  ])
  const republished = republish(headers)
  expect(republished.map(([name, value]) => [name, value?.toString() ?? null])).toEqual([
    ['x-app', null],
    ['dlq-message-id', republishing.messageId],
    ['dlq-attempt', '3'],
    ['dlq-attempt-id', republishing.attemptId],
    ['dlq-for-group', 'orders/billing'],
  ])
  expect(republish(republished)).toEqual(republished)
})

test('foreign headers keep their order, duplicates, nulls and bytes, wherever failure headers stand between them', () => {
  const foreign = fc.tuple(
    fc.oneof(
      fc.constantFrom('', '42', '__proto__', 'traceparent', 'error'),
      fc.string().map((name) => `x-app-${name}`),
    ),
    fc.option(fc.uint8Array().map((bytes) => Buffer.from(bytes))),
  )
  const failure = fc.tuple(
    fc.constantFrom('kafka_dlt-original-topic', 'retry_topic-attempts', '__connect.errors.topic', 'dlq-attempt'),
    fc.option(fc.uint8Array().map((bytes) => Buffer.from(bytes))),
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(foreign, failure)), (mixed) => {
      const isFailure = ([name]: Header) => /^(kafka_dlt|retry_topic|__connect|dlq)/.test(name)
      const stripped = stripFailureHeaders(mixed, null)
      const kept = mixed.filter((header) => !isFailure(header))
      expect(stripped.length).toBe(kept.length)
      for (const [i, header] of kept.entries()) expect(stripped[i]).toBe(header)
    }),
  )
})
