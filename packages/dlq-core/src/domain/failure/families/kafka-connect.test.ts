import { expect, test } from 'vitest'
import { deadLetter } from '../../../../fixtures/dead-letter.ts'
import { readFailure } from '../read-failure.ts'

const set = (offset: string, message: string | null, topic = 'orders') =>
  [
    ['__connect.errors.topic', topic],
    ['__connect.errors.partition', '2'],
    ['__connect.errors.offset', offset],
    ['__connect.errors.connector.name', 'orders-sink'],
    ['__connect.errors.task.id', '0'],
    ['__connect.errors.stage', 'TASK_PUT'],
    ['__connect.errors.class.name', 'org.apache.kafka.connect.sink.SinkTask'],
    ['__connect.errors.exception.class.name', 'java.lang.IllegalStateException'],
    ['__connect.errors.exception.message', message],
    ['__connect.errors.exception.stacktrace', 'java.lang.IllegalStateException: boom\n\tat app.A.b(A.java:1)\n'],
  ] as const

test('decimal coordinates, the record’s own timestamp and the connector’s group are read', () => {
  expect(readFailure(deadLetter(set('9007199254740993', 'boom')))).toMatchObject({
    family: 'kafka-connect',
    context: {
      originalTopic: 'orders',
      originalPartition: 2,
      originalOffset: 9_007_199_254_740_993n,
      originalTimestamp: 1_795_268_108_781n,
      consumerGroup: 'connect-orders-sink',
      errorClass: 'java.lang.IllegalStateException',
      errorMessage: 'boom',
      attempts: null,
    },
  })
})

test('a null message of the newest set is no message, whatever an older set says', () => {
  const record = deadLetter([...set('1', 'stale'), ['x-app', 'a'], ...set('9', null)])
  expect(readFailure(record).context).toMatchObject({ originalOffset: 9n, errorMessage: null })
})

test('a failure without a consumed record has no coordinates', () => {
  const headers = set('-1', 'boom', '').map(
    ([name, value]) => [name, name.endsWith('partition') ? '-1' : value] as const,
  )
  const { context } = readFailure(deadLetter(headers, { timestamp: -1n }))
  expect(context).toMatchObject({ originalTopic: null, originalPartition: -1, originalOffset: null })
  expect(context.originalTimestamp).toBeNull()
})
