import { expect, test } from 'vitest'
import { deadLetter } from '../../../../fixtures/dead-letter.ts'
import { readFailure } from '../read-failure.ts'

test('our own headers are read, the last value of each', () => {
  const record = deadLetter([
    ['dlq-original-offset', '1'],
    ['dlq-original-topic', 'orders'],
    ['dlq-original-partition', '2'],
    ['dlq-original-offset', '9007199254740993'],
    ['dlq-original-timestamp', '1795260903741'],
    ['dlq-consumer-group', 'orders-service'],
    ['dlq-error-class', 'TypeError'],
    ['dlq-error-message', '注文は拒否されました'],
    ['dlq-error-stacktrace', 'TypeError: x\n    at charge (orders.ts:1:1)'],
    ['dlq-attempts', '3'],
  ])
  expect(readFailure(record)).toMatchObject({
    family: 'dlq-manager',
    context: {
      originalTopic: 'orders',
      originalPartition: 2,
      originalOffset: 9_007_199_254_740_993n,
      originalTimestamp: 1_795_260_903_741n,
      consumerGroup: 'orders-service',
      errorClass: 'TypeError',
      errorMessage: '注文は拒否されました',
      errorStacktrace: 'TypeError: x\n    at charge (orders.ts:1:1)',
      attempts: 3,
    },
  })
})

test('an error without coordinates, which a consumer may report, is ours too', () => {
  expect(readFailure(deadLetter([['dlq-error-message', 'boom']]))).toMatchObject({
    family: 'dlq-manager',
    context: { originalTopic: null, errorClass: null, errorMessage: 'boom' },
  })
})
