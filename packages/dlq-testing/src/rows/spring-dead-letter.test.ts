import { readFailure } from 'dlq-core/domain/failure/read-failure.ts'
import { expect, test } from 'vitest'
import { springDeadLetter } from './spring-dead-letter.ts'

class InvalidAmountError extends Error {
  override name = 'com.example.payments.InvalidAmountException'
}

test('it reads like Spring’s: the record’s headers, the original coordinates, the cause', () => {
  const { headers, value } = springDeadLetter({
    topic: 'orders',
    partition: 2,
    offset: 7n,
    timestamp: 1_771_583_400_000n,
    key: null,
    value: Buffer.from('{}'),
    headers: [['a', Buffer.from('1')]],
    group: 'payments',
    error: new InvalidAmountError('amount -5 is negative'),
  })
  expect(headers[0]).toEqual(['a', Buffer.from('1')])
  expect(readFailure({ topic: 'orders.dlq.v1', timestamp: 0n, headers, value })).toMatchObject({
    family: 'spring-dlt',
    context: {
      originalTopic: 'orders',
      originalPartition: 2,
      originalOffset: 7n,
      consumerGroup: 'payments',
      errorClass: 'com.example.payments.InvalidAmountException',
    },
  })
})
