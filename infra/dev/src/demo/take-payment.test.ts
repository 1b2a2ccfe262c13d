import { readFailure } from 'dlq-core/read-failure.ts'
import type { KafkaMessage } from 'kafkajs'
import { expect, test } from 'vitest'
import { springDeadLetter } from './spring-dead-letter.ts'
import { CardNetworkError, InvalidAmountError, makeOrder, takePayment } from './take-payment.ts'

const order = { order_id: '1', amount: 10, card: '' }

test('an order with a negative amount fails at any time', () => {
  for (const time of [0, 10_000, 1_000_000])
    expect(() => takePayment({ ...order, amount: -5 }, time)).toThrow(InvalidAmountError)
})

test('any order fails while the card network is down, and only then', () => {
  expect(() => takePayment(order, 10_000)).toThrow(CardNetworkError)
  expect(() => takePayment(order, 20_000)).not.toThrow()
})

test('one order in twenty is bad', () => {
  const orders = Array.from({ length: 100 }, (_, n) => makeOrder(n, new Date(0)))
  expect(orders.filter(({ amount }) => amount < 0)).toHaveLength(5)
})

test('its dead letters read like Spring’s', () => {
  const message = {
    key: null,
    value: Buffer.from('{}'),
    offset: '7',
    timestamp: '1771583400000',
    headerPairs: [['a', Buffer.from('1')]],
  }
  const error = new InvalidAmountError('amount -5 is negative')
  const { headers, value } = springDeadLetter({
    topic: 'orders',
    partition: 2,
    group: 'payments',
    message: message as unknown as KafkaMessage,
    error,
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
