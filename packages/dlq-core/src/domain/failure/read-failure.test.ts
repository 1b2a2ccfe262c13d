import { int32, int64 } from 'dlq-testing/rows/big-endian.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deadLetter } from '../../../fixtures/dead-letter.ts'
import type { Header } from '../record/record.ts'
import { families } from './families/family.ts'
import { readFailure } from './read-failure.ts'

type Headers = Parameters<typeof deadLetter>[0]

const spring = (offset: bigint, topic = 'orders'): Headers => [
  ['kafka_dlt-exception-fqcn', 'app.Spring'],
  ['kafka_dlt-original-topic', topic],
  ['kafka_dlt-original-partition', int32(1)],
  ['kafka_dlt-original-offset', int64(offset)],
  ['kafka_dlt-original-timestamp', int64(1_000n + offset)],
]
const connect = (offset: bigint, topic = 'orders'): Headers => [
  ['__connect.errors.topic', topic],
  ['__connect.errors.partition', '1'],
  ['__connect.errors.offset', offset],
  ['__connect.errors.exception.class.name', 'app.Connect'],
]
const smallrye = (offset: bigint, topic = 'orders'): Headers => [
  ['dead-letter-exception-class-name', 'app.SmallRye'],
  ['dead-letter-topic', topic],
  ['dead-letter-partition', '1'],
  ['dead-letter-offset', offset],
]
const delayedRetry = (offset: bigint, timestamp: bigint, topic = 'orders'): Headers => [
  ['delayed-retry-exception-class-name', 'app.DelayedRetry'],
  ['delayed-retry-topic', topic],
  ['delayed-retry-partition', '2'],
  ['delayed-retry-offset', offset],
  ['delayed-retry-original-timestamp', timestamp],
]
const retryable = (offset: bigint): Headers => [
  ['kafka_original-topic', 'orders'],
  ['kafka_original-partition', int32(1)],
  ['kafka_original-offset', int64(offset)],
]
const karafka = (offset: bigint): Headers => [
  ['source_topic', 'orders'],
  ['source_partition', '1'],
  ['source_offset', offset],
]
const app: Headers = [['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01']]

const familyOf = (...headers: Headers[]) => readFailure(deadLetter(headers.flat())).family

test('of families that append, the one whose headers stand last is the newest, whatever the offsets say', () => {
  expect(familyOf(app, spring(5n), connect(9n))).toBe('kafka-connect')
  expect(familyOf(app, connect(5n), spring(9n))).toBe('spring-dlt')
  expect(familyOf(app, connect(900n), spring(0n))).toBe('spring-dlt')
})

test('a @RetryableTopic failure is the newest by its counter, though its coordinates are the first failure’s', () => {
  expect(familyOf(retryable(5n), connect(9n), [['retry_topic-attempts', int32(4)]])).toBe('spring-retryable')
  expect(familyOf(retryable(5n), [['retry_topic-attempts', int32(4)]], connect(9n))).toBe('kafka-connect')
})

test('a @RetryableTopic group header does not make the record one of Spring’s recoverer', () => {
  const record = deadLetter([...retryable(5n), ['kafka_dlt-original-consumer-group', 'g']])
  expect(readFailure(record)).toMatchObject({ families: ['spring-retryable'], context: { consumerGroup: 'g' } })
})

test('of SmallRye’s two strategies, the one whose headers stand first is the newest', () => {
  expect(familyOf(smallrye(9n), delayedRetry(5n, 1n), app)).toBe('smallrye')
  expect(familyOf(delayedRetry(9n, 1n), smallrye(5n), app)).toBe('smallrye-delayed-retry')
})

test('between families that append and prepend, the greater offset of the same partition is the newer', () => {
  expect(familyOf(smallrye(5n), app, spring(9n))).toBe('spring-dlt')
  expect(familyOf(smallrye(9n), app, spring(5n))).toBe('smallrye')
})

test('a family that overwrites in place is judged by its offset too', () => {
  expect(familyOf(karafka(9n), app, spring(5n))).toBe('karafka')
  expect(familyOf(karafka(5n), app, spring(9n))).toBe('spring-dlt')
})

test('in different partitions the later original timestamp is the newer, where both stand in headers', () => {
  expect(familyOf(delayedRetry(1n, 9_999n), spring(5n))).toBe('smallrye-delayed-retry')
  expect(familyOf(delayedRetry(9n, 1n), spring(5n))).toBe('spring-dlt')
  // Connect's timestamp is the record's own and would always be the later one.
  expect(familyOf(delayedRetry(9n, 9_999n, 'orders-dlt'), connect(5n))).toBe('smallrye-delayed-retry')
})

test('a failure on a DLQ or retry topic is newer than the failure that sent the record there', () => {
  expect(familyOf(smallrye(0n, 'orders-dlt'), app, spring(5n))).toBe('smallrye')
  expect(familyOf(smallrye(0n), app, spring(5n, 'orders.dlq.v1'))).toBe('spring-dlt')
  expect(familyOf(smallrye(0n, 'orders_retry_10000'), app, connect(5n))).toBe('smallrye')
})

test('where nothing decides, the family that is tried first wins', () => {
  expect(familyOf(smallrye(1n, 'payments'), app, connect(5n))).toBe('kafka-connect')
})

test('of three families in one record all are kept and the newest is read', () => {
  const record = deadLetter([...smallrye(9n), ...app, ...spring(5n), ['error', 'x'], ...connect(7n)])
  expect(readFailure(record)).toMatchObject({
    family: 'smallrye',
    families: ['kafka-connect', 'spring-dlt', 'smallrye', 'plain-error'],
    context: { errorClass: 'app.SmallRye', originalOffset: 9n },
  })
})

const uuid = '019c7a99-6840-77a8-86ab-fbe1ca316b73'

test('our own headers are found beside any family, the last value of each', () => {
  const record = deadLetter([
    ['dlq-message-id', '019c7a99-6840-79fb-9d9c-9390f3ec817d'],
    ['dlq-message-id', uuid.toUpperCase()],
    ['dlq-attempt', '2'],
    ['dlq-attempt-id', uuid],
    ...spring(5n),
  ])
  expect(readFailure(record)).toMatchObject({
    family: 'spring-dlt',
    families: ['spring-dlt'],
    ours: { messageId: uuid, attempt: 2, attemptId: uuid },
  })
})

test.each(['', 'x', `${uuid}x`, `{${uuid}}`, uuid.replaceAll('-', ''), uuid.replace('0', 'g'), null])(
  '%o is no id of ours',
  (value) => {
    const record = deadLetter([
      ['dlq-message-id', value],
      ['dlq-attempt-id', value],
      ['dlq-attempt', value],
    ])
    expect(readFailure(record).ours).toEqual({ messageId: null, attempt: null, attemptId: null })
  },
)

test('an attempt that is no count is null', () => {
  // Beyond int32 PostgreSQL would refuse it, and with it the whole batch.
  for (const value of ['-1', '1.5', '2147483648', '99999999999999999999', ' 1', '0x1']) {
    expect(readFailure(deadLetter([['dlq-attempt', value]])).ours.attempt).toBeNull()
  }
})

test('forty repeated sets are read as the last one', () => {
  const sets = Array.from({ length: 40 }, (_, i) => connect(BigInt(i))).flat()
  expect(readFailure(deadLetter(sets)).context.originalOffset).toBe(39n)
})

test('headers named like an object’s own, and null values everywhere, change nothing', () => {
  const odd: Headers = [
    ['__proto__', 'p'],
    ['constructor', 'c'],
    ['', 'empty'],
    ['42', 'n'],
    ['x-null', null],
  ]
  expect(readFailure(deadLetter([...odd, ...spring(5n), ...odd])).context).toMatchObject({ originalOffset: 5n })
  const nulls = deadLetter(
    [...spring(5n), ...connect(5n), ...smallrye(5n), ...karafka(5n)].map(([name]) => [name, null]),
  )
  expect(readFailure(nulls).context).toMatchObject({
    originalTopic: null,
    originalPartition: null,
    originalOffset: null,
  })
})

test('a stack trace of 900 KB is kept whole', () => {
  const stacktrace = `app.Spring: boom\n${'\tat app.A.b(A.java:1)\n'.repeat(42_000)}`
  const { context } = readFailure(deadLetter([...spring(5n), ['kafka_dlt-exception-stacktrace', stacktrace]]))
  expect(context.errorStacktrace === stacktrace).toBe(true)
  expect(context.errorMessage).toBe('boom')
})

// Values that a header of each kind may have, and many that it may not.
const knownNames = [
  ...spring(1n),
  ...connect(1n),
  ...smallrye(1n),
  ...delayedRetry(1n, 1n),
  ...retryable(1n),
  ...karafka(1n),
].map(([name]) => name)
const otherNames = [
  'error',
  'retry_topic-attempts',
  'retry_topic-original-timestamp',
  'kafka_deliveryAttempt',
  '__streams.errors.exception',
  '__dlq.errors.topic',
  'x-original-topic',
  'x-original-offset',
  'kafka_dlt-exception-stacktrace',
  'kafka_dlt-exception-message',
  'kafka_dlt-key-exception-fqcn',
  'delayed-retry-count',
  'dlq-original-topic',
  'dlq-message-id',
  '__proto__',
  '',
  '42',
]
const value = fc.option(
  fc.oneof(
    fc.uint8Array({ maxLength: 24 }).map((bytes) => Buffer.from(bytes)),
    fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map((number) => Buffer.from(String(number))),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(`\nCaused by: ${text}: ${text}\n\tat x`)),
  ),
)
const header: fc.Arbitrary<Header> = fc.tuple(
  fc.oneof(fc.constantFrom(...knownNames, ...otherNames), fc.string()),
  value,
)

test('reading never throws, whatever headers and value a record has, and each field has its type', () => {
  fc.assert(
    fc.property(fc.array(header, { maxLength: 60 }), value, (headers, value) => {
      const { family, context, families: present } = readFailure({ ...deadLetter([], { value }), headers })
      if (family !== null) expect(present).toContain(family)
      for (const name of present) expect(families).toContain(name)
      const { originalPartition: partition, originalOffset: offset, originalTimestamp, attempts } = context
      for (const number of [offset, originalTimestamp, attempts]) expect(number === null || number >= 0).toBe(true)
      expect(partition === null || partition === (partition | 0)).toBe(true)
      expect(offset === null || offset < 2n ** 63n).toBe(true)
      expect(context.errorMessage).not.toBe('')
    }),
    { numRuns: 2_000 },
  )
})
