import { expect, test } from 'vitest'
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
