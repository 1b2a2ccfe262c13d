import { expect, test } from 'vitest'
import { doneBy } from './ask-groups.ts'

const bounds = [{ topic: 'orders', partition: 0, log_start_offset: 0n, log_end_offset: 7n }]
const of = (start: bigint, lag: bigint, partition = 0) => [{ topic: 'orders', partition, start, lag }]
const done = (...args: Parameters<typeof of>) =>
  doneBy(of(...args), bounds)
    .get('orders')!
    .get(args[2] ?? 0)

test('a share group without lag has done all that was there, although its start offset trails', () => {
  expect(done(0n, 0n)).toBe(7n)
})

test('with lag, or where that is not known, it has done what is below its start offset', () => {
  expect(done(3n, 1n)).toBe(3n)
  expect(done(3n, -1n)).toBe(3n)
})

test('it is not set back by a log end that was asked for earlier', () => {
  expect(done(9n, 0n)).toBe(9n)
  expect(done(2n, 0n, 1)).toBe(2n)
})
