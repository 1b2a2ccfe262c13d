// The demo's consumer of orders: it always fails on one kind of order, and on the others while the card network is
// down. Pure: the time is an argument.

export type Order = { order_id: string; amount: number; card: string }

export class InvalidAmountError extends Error {
  override name = 'com.example.payments.InvalidAmountException'
}

export class CardNetworkError extends Error {
  override name = 'com.example.payments.CardNetworkException'
}

/** The interval between two orders. */
export const orderIntervalMs = 700

/** The part of each cycle in which the card network is down. */
const cycleMs = 45_000
const downFromMs = 6_000
const downUntilMs = 16_000
/** A time since the start at which the card network is down. */
export const duringOutageMs = downFromMs

/** @throws an error that has a name as Java would print it */
export function takePayment(order: Order, sinceStartMs: number): void {
  if (order.amount < 0) throw new InvalidAmountError(`amount ${order.amount} of order ${order.order_id} is negative`)
  const inCycleMs = sinceStartMs % cycleMs
  if (inCycleMs >= downFromMs && inCycleMs < downUntilMs)
    throw new CardNetworkError('card network did not answer within 200 ms')
}

/** The n-th order: every twentieth has an amount that no retry will mend. */
export function makeOrder(n: number, now: Date): Order {
  return {
    order_id: `${now.toISOString().slice(0, 19).replace(/\D/g, '')}-${n}`,
    amount: n % 20 === 3 ? -5 : 10 + (n % 90),
    card: `**** ${1000 + (n % 9000)}`,
  }
}
