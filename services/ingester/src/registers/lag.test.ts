import { expect, test } from 'vitest'
import { createLag } from './lag.ts'

const place = (partition: number, behind: bigint) => ({
  ...{ topic: 'orders.dlq.v1', partition },
  ...{ nextOffset: 1000n, highWatermark: 1000n + behind },
})

function lagAt() {
  let time = 0
  const lag = createLag({ now: () => time })
  return { isBehind: lag.isBehind, passes: (ms: number) => (time += ms) }
}

test('a few records behind a batch are left by an ingester that keeps up, more are not', () => {
  const { isBehind } = lagAt()
  expect(isBehind(place(0, 0n))).toBe(false)
  expect(isBehind(place(0, 500n))).toBe(false)
  expect(isBehind(place(0, 501n))).toBe(true)
  expect(isBehind(place(0, 400n))).toBe(false)
})

test('the lags of an ingester’s partitions add up', () => {
  const { isBehind } = lagAt()
  expect(isBehind(place(0, 300n))).toBe(false)
  expect(isBehind(place(1, 300n))).toBe(true)
  expect(isBehind({ ...place(0, 300n), topic: 'payments.dlq.v1' })).toBe(true)
  expect(isBehind(place(0, 0n))).toBe(true)
  expect(isBehind(place(1, 0n))).toBe(false)
})

test('a batch of a topic that was created again, and ends before it, takes nothing from the lag of others', () => {
  const { isBehind } = lagAt()
  expect(isBehind(place(0, -1_000_000n))).toBe(false)
  expect(isBehind(place(1, 600n))).toBe(true)
})

test('a partition that is read no more does not count for ever', () => {
  const { isBehind, passes } = lagAt()
  expect(isBehind(place(0, 1_000_000n))).toBe(true)
  passes(5000)
  expect(isBehind(place(1, 0n))).toBe(true)
  passes(1)
  expect(isBehind(place(1, 0n))).toBe(false)
})
