import { int32, int64 } from 'dlq-testing/rows/big-endian.ts'
import { expect, test } from 'vitest'
import { deadLetter } from '../../../../fixtures/dead-letter.ts'
import { readFailure } from '../read-failure.ts'

const handlerFailed = 'org.springframework.messaging.MessageHandlingException'
const trace = `${handlerFailed}: error occurred in message handler [f], failedMessage=GenericMessage [payload=byte[81]]
\tat org.springframework.integration.App.run(App.java:1)
Caused by: app.OrderRejected: refused
\t... 9 more
`
const set = (offset: bigint, message: string | null, stacktrace = trace) =>
  [
    ['x-original-topic', 'orders.eu'],
    ['x-original-partition', int32(3)],
    ['x-original-offset', int64(offset)],
    ['x-original-timestamp', int64(1_795_260_903_741n)],
    ['x-original-timestamp-type', 'CreateTime'],
    ['x-exception-fqcn', handlerFailed],
    ...(message === null ? [] : [['x-exception-message', message] as const]),
    ['x-exception-stacktrace', stacktrace],
  ] as const

test('binary coordinates and the handler’s cause are read, the group from the default DLQ topic', () => {
  const record = deadLetter(set(9n, 'error occurred in message handler [f]'), { topic: 'error.orders.eu.billing' })
  expect(readFailure(record)).toMatchObject({
    family: 'spring-cloud-stream',
    context: {
      originalTopic: 'orders.eu',
      originalPartition: 3,
      originalOffset: 9n,
      originalTimestamp: 1_795_260_903_741n,
      consumerGroup: 'billing',
      errorClass: 'app.OrderRejected',
      errorMessage: 'refused',
      errorStacktrace: trace,
      attempts: null,
    },
  })
})

test.each(['orders.eu.dlq.billing', 'error.orders.us.billing', 'error.orders.eu.'])(
  'the DLQ topic %s tells no group',
  (topic) => expect(readFailure(deadLetter(set(9n, null), { topic })).context.consumerGroup).toBeNull(),
)

test('an original topic that is null is no part of a DLQ topic’s name', () => {
  const record = deadLetter([['x-original-topic', null]], { topic: 'error.null.billing' })
  expect(readFailure(record)).toMatchObject({ family: 'spring-cloud-stream', context: { consumerGroup: null } })
})

test('of repeated sets the last is read, without the older one’s message', () => {
  const record = deadLetter([...set(1n, 'stale', 'stale'), ...set(9n, null, 'no stack trace')])
  expect(readFailure(record).context).toMatchObject({
    originalOffset: 9n,
    errorClass: handlerFailed,
    errorMessage: null,
    errorStacktrace: 'no stack trace',
  })
})
