import { int32, int64 } from 'dlq-testing/rows/big-endian.ts'
import { expect, test } from 'vitest'
import { deadLetter } from '../../../../fixtures/dead-letter.ts'
import { readFailure } from '../read-failure.ts'

const listenerFailed = 'org.springframework.kafka.listener.ListenerExecutionFailedException'
const deserializationFailed = 'org.springframework.kafka.support.serializer.DeserializationException'
const timestamp = 1_795_260_903_741n

const original = (topic: string, offset: bigint, group: string | null = 'orders-service') =>
  [
    ['kafka_dlt-original-topic', topic],
    ['kafka_dlt-original-partition', int32(2)],
    ['kafka_dlt-original-offset', int64(offset)],
    ['kafka_dlt-original-timestamp', int64(timestamp)],
    ['kafka_dlt-original-timestamp-type', 'CreateTime'],
    ...(group === null ? [] : [['kafka_dlt-original-consumer-group', group] as const]),
  ] as const

const exception = (fqcn: string, cause: string | null, message: string | null, stacktrace: string, kind = '') =>
  [
    [`kafka_dlt-${kind}exception-fqcn`, fqcn],
    ...(cause === null ? [] : [['kafka_dlt-exception-cause-fqcn', cause] as const]),
    ...(message === null ? [] : [[`kafka_dlt-${kind}exception-message`, message] as const]),
    [`kafka_dlt-${kind}exception-stacktrace`, stacktrace],
  ] as const

const trace = `${listenerFailed}: Listener method 'void App.on(String)' threw exception
\tat org.springframework.kafka.App.run(App.java:1)
\tSuppressed: ${listenerFailed}: Restored Stack Trace
\t\tat org.springframework.kafka.App.run(App.java:2)
Caused by: app.OrderRejected: refused; no stock
second line
\tat app.Orders.charge(Orders.java:3)
\t... 10 more
Caused by: java.net.SocketTimeoutException: Read timed out
\t... 28 more
`
const listenerException = exception(
  listenerFailed,
  'app.OrderRejected',
  "Listener method 'void App.on(String)' threw exception; refused; no stock\nsecond line",
  trace,
)

test('binary coordinates, group, deliveries and the cause of the listener’s exception are read', () => {
  const record = deadLetter([
    ['x-app', 'a'],
    ['kafka_deliveryAttempt', int32(3)],
    ...listenerException,
    ...original('orders', 300_000_000_000n),
  ])
  expect(readFailure(record)).toMatchObject({
    family: 'spring-dlt',
    families: ['spring-dlt'],
    context: {
      originalTopic: 'orders',
      originalPartition: 2,
      originalOffset: 300_000_000_000n,
      originalTimestamp: timestamp,
      consumerGroup: 'orders-service',
      errorClass: 'app.OrderRejected',
      errorMessage: 'refused; no stock\nsecond line',
      errorStacktrace: trace,
      attempts: 3,
    },
  })
})

test('without a stack trace the message is taken from behind the wrapper’s', () => {
  const headers = listenerException.filter(([name]) => !name.endsWith('stacktrace'))
  expect(readFailure(deadLetter([...headers, ...original('orders', 1n)])).context).toMatchObject({
    errorClass: 'app.OrderRejected',
    errorMessage: 'refused; no stock\nsecond line',
    errorStacktrace: null,
  })
})

test.each([
  ['Listener failed; ', `${listenerFailed}: Listener failed\nCaused by: java.lang.NullPointerException\n`],
  ["Listener method 'x' threw exception; ", ''],
  ["Listener method 'x' threw exception; ", 'not a stack trace'],
])('an exception without a message has none, although the header says %o', (message, stacktrace) => {
  const headers = exception(listenerFailed, 'java.lang.NullPointerException', message, stacktrace)
  expect(readFailure(deadLetter([...headers, ...original('orders', 1n)])).context).toMatchObject({
    errorClass: 'java.lang.NullPointerException',
    errorMessage: null,
  })
})

const deserializationTrace = `${deserializationFailed}: failed to deserialize
\tat org.springframework.kafka.App.run(App.java:1)
Caused by: org.apache.kafka.common.errors.SerializationException: Can't deserialize data from topic [orders]
\t... 3 more
Caused by: com.fasterxml.jackson.core.JsonParseException: Unrecognized token 'ORDER': was expecting x
 at [Source: REDACTED; line: 1, column: 1]
\tat com.fasterxml.Parser.next(Parser.java:1)
`

test.each(['', 'key-'])('a failed %sdeserializer’s true cause is the root of the stack trace', (kind) => {
  const headers = exception(
    deserializationFailed,
    deserializationFailed,
    'failed to deserialize',
    deserializationTrace,
    kind,
  )
  const record = deadLetter([...headers, ...original('orders', 1n, null)])
  expect(readFailure(record).context).toMatchObject({
    originalTopic: 'orders',
    consumerGroup: null,
    errorClass: 'com.fasterxml.jackson.core.JsonParseException',
    errorMessage: "Unrecognized token 'ORDER': was expecting x\n at [Source: REDACTED; line: 1, column: 1]",
    errorStacktrace: deserializationTrace,
  })
})

test('a key that failed after a value is the newer failure', () => {
  const key = exception(deserializationFailed, deserializationFailed, 'failed', deserializationTrace, 'key-')
  const withStaleValue = deadLetter([...listenerException, ...key, ...original('orders', 1n)])
  expect(readFailure(withStaleValue).context.errorClass).toBe('com.fasterxml.jackson.core.JsonParseException')
  const bothFailed = deadLetter([...key, ...listenerException, ...original('orders', 1n)])
  expect(readFailure(bothFailed).context.errorClass).toBe('app.OrderRejected')
})

test('an error that is no Exception, which Spring names only by its wrapper, is read from the stack trace', () => {
  const stacktrace = trace.replace('app.OrderRejected', 'java.lang.StackOverflowError')
  const headers = exception(listenerFailed, listenerFailed, "Listener method 'x' threw exception", stacktrace)
  expect(readFailure(deadLetter([...headers, ...original('orders', 1n)])).context).toMatchObject({
    errorClass: 'java.lang.StackOverflowError',
    errorMessage: 'refused; no stock\nsecond line',
  })
})

test('after a second failure the last coordinates count, and nothing stale fills a gap', () => {
  const first = [['kafka_deliveryAttempt', int32(3)], ...original('orders', 1n)] as const
  const record = deadLetter([...first, ...listenerException, ...original('orders', 7n, null)])
  expect(readFailure(record).context).toMatchObject({ originalOffset: 7n, consumerGroup: null, attempts: null })
  const counted = deadLetter([...first, ['kafka_deliveryAttempt', int32(2)], ...original('orders', 7n, 'b')])
  expect(readFailure(counted).context).toMatchObject({ originalOffset: 7n, consumerGroup: 'b', attempts: 2 })
})

test('coordinates that a tool has regrouped by name still belong to the last topic', () => {
  const record = deadLetter([
    ['kafka_dlt-original-offset', int64(1n)],
    ['kafka_dlt-original-offset', int64(7n)],
    ['kafka_dlt-original-topic', 'orders'],
    ['kafka_dlt-original-topic', 'payments'],
  ])
  expect(readFailure(record).context).toMatchObject({ originalTopic: 'payments', originalOffset: 7n })
})

test('numbers that a tool has rewritten as text are read, others are null', () => {
  const read = (partition: Buffer | string | null, offset: Buffer | string | null) =>
    readFailure(
      deadLetter([
        ['kafka_dlt-original-topic', 'orders'],
        ['kafka_dlt-original-partition', partition],
        ['kafka_dlt-original-offset', offset],
      ]),
    ).context
  expect(read('12', '12345678')).toMatchObject({ originalPartition: 12, originalOffset: 12_345_678n })
  expect(read('null', 'unknown!')).toMatchObject({ originalPartition: null, originalOffset: null })
  expect(read(int32(-1), int64(-1n))).toMatchObject({ originalPartition: -1, originalOffset: null })
  expect(read(Buffer.alloc(3), Buffer.alloc(9))).toMatchObject({ originalPartition: null, originalOffset: null })
  expect(read(null, '')).toMatchObject({ originalPartition: null, originalOffset: null })
})
