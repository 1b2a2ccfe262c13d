import { expect, test } from 'vitest'
import { deadLetter } from '../../../../fixtures/dead-letter.ts'
import { readFailure } from '../read-failure.ts'

test('the broker’s headers are read; they name no error class', () => {
  const record = deadLetter(
    [
      ['__dlq.errors.topic', 'orders'],
      ['__dlq.errors.partition', '2'],
      ['__dlq.errors.offset', '41'],
      ['__dlq.errors.group', 'orders-share'],
      ['__dlq.errors.delivery.count', '5'],
      ['__dlq.errors.message', 'Offset delivery count exceeded the threshold.'],
    ],
    { topic: 'dlq.orders' },
  )
  expect(readFailure(record)).toMatchObject({
    family: 'share-group',
    context: {
      originalTopic: 'orders',
      originalPartition: 2,
      originalOffset: 41n,
      originalTimestamp: null,
      consumerGroup: 'orders-share',
      errorClass: null,
      errorMessage: 'Offset delivery count exceeded the threshold.',
      attempts: 5,
    },
  })
})

test('count and message may be left out', () => {
  const record = deadLetter([
    ['__dlq.errors.topic', 'orders'],
    ['__dlq.errors.partition', '2'],
    ['__dlq.errors.offset', '41'],
    ['__dlq.errors.group', 'orders-share'],
  ])
  expect(readFailure(record).context).toMatchObject({ originalOffset: 41n, attempts: null, errorMessage: null })
})
