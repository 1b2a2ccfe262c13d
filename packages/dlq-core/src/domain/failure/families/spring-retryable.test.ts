import { int32, int64 } from 'dlq-testing/rows/big-endian.ts'
import { expect, test } from 'vitest'
import { deadLetter } from '../../../../fixtures/dead-letter.ts'
import { readFailure } from '../read-failure.ts'

const listenerFailed = 'org.springframework.kafka.listener.ListenerExecutionFailedException'
const timestamp = 1_795_260_903_741n
const timestampBytes = Buffer.from('01a1fde3713d', 'hex')

const trace = `${listenerFailed}: Listener failed
\tat org.springframework.kafka.App.run(App.java:1)
Caused by: org.springframework.kafka.listener.TimestampedException: Exception thrown at 2026-11-21T10:00:00Z
\t... 9 more
Caused by: ${listenerFailed}: Listener method 'void App.on(String)' threw exception
\t... 12 more
Caused by: app.OrderRejected: refused
\t... 15 more
`
const original = [
  ['kafka_original-topic', 'orders'],
  ['kafka_original-partition', int32(1)],
  ['kafka_original-offset', int64(41n)],
  ['kafka_original-timestamp', int64(timestamp)],
  ['kafka_original-timestamp-type', 'CreateTime'],
  ['kafka_dlt-original-consumer-group', 'orders-service'],
] as const
const exception = [
  ['kafka_exception-fqcn', listenerFailed],
  ['kafka_exception-cause-fqcn', 'app.OrderRejected'],
  ['kafka_exception-message', 'Listener failed; refused'],
  ['kafka_exception-stacktrace', trace],
] as const
const retryTopic = (attempts: Buffer) =>
  [
    ['retry_topic-original-timestamp', timestampBytes],
    ['retry_topic-attempts', attempts],
    ['retry_topic-backoff-timestamp', timestampBytes],
  ] as const

test('coordinates, group, error and one attempt less than the header says are read', () => {
  const record = deadLetter([...original, ...exception, ...retryTopic(int32(4))])
  expect(readFailure(record)).toMatchObject({
    family: 'spring-retryable',
    families: ['spring-retryable'],
    context: {
      originalTopic: 'orders',
      originalPartition: 1,
      originalOffset: 41n,
      originalTimestamp: timestamp,
      consumerGroup: 'orders-service',
      errorClass: 'app.OrderRejected',
      errorMessage: 'refused',
      errorStacktrace: trace,
      attempts: 3,
    },
  })
})

test('without a counter its original topic tells the family', () => {
  const record = deadLetter([...original, ...exception])
  expect(readFailure(record)).toMatchObject({ family: 'spring-retryable', context: { attempts: null } })
})

test('where every hop left its own counter, the last one counts', () => {
  const record = deadLetter([...original, ...retryTopic(int32(2)), ...retryTopic(int32(3)), ...retryTopic(int32(4))])
  expect(readFailure(record).context.attempts).toBe(3)
})

test.each([
  ['one byte', Buffer.from([4]), 3],
  ['one byte beyond 127', Buffer.from([200]), 199],
  ['one byte that could be a digit', Buffer.from('4'), 51],
  ['zero', int32(0), null],
  ['one', int32(1), 0],
  ['the most that Spring accepts', int32(32_767), 32_766],
  ['one more', int32(32_768), null],
  ['more than Spring accepts', int32(1_000_000), null],
  ['text', Buffer.from('many'), null],
  ['nothing', Buffer.alloc(0), null],
])('a counter that is %s is read as what it can mean', (_, value, attempts) => {
  expect(readFailure(deadLetter([...original, ...retryTopic(value)])).context.attempts).toBe(attempts)
})

test('without kafka_original-timestamp the variable-length timestamp stands in', () => {
  const both = deadLetter([...original, ['retry_topic-original-timestamp', Buffer.from([0x7f])]])
  expect(readFailure(both).context.originalTimestamp).toBe(timestamp)
  const read = (value: Buffer) =>
    readFailure(
      deadLetter([
        ['retry_topic-attempts', int32(2)],
        ['retry_topic-original-timestamp', value],
      ]),
    ).context.originalTimestamp
  expect(read(timestampBytes)).toBe(timestamp)
  expect(read(int64(timestamp))).toBe(timestamp)
  expect(read(Buffer.from([0x7f]))).toBe(127n)
  expect(read(Buffer.from([0xff]))).toBeNull()
  expect(read(Buffer.from([0xff, 0xff]))).toBeNull()
  expect(read(Buffer.alloc(9))).toBeNull()
})
