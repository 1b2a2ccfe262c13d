import { expect, test } from 'vitest'
import { median, medianRatio, percentile, ratePerSecond } from './statistics.ts'

test('the median of an odd count is the middle value, whatever the order', () => {
  expect(median([9, 1, 5])).toBe(5)
})

test('the median of an even count lies between the two middle values', () => {
  expect(median([4, 1, 3, 100])).toBe(3.5)
})

test('there is no median of nothing', () => {
  expect(median([])).toBeNaN()
})

test('a percentile is one of the values', () => {
  const values = Array.from({ length: 200 }, (_, n) => 200 - n)
  expect([0, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([1, 100, 198, 200])
  expect(percentile([], 0.5)).toBeNaN()
})

test('a rate does not count rows that existed at the first look', () => {
  expect(ratePerSecond({ atMs: 1000, count: 400 }, { atMs: 3000, count: 2400 })).toBe(1000)
})

test('ratios are taken round by round, so a slow round does not distort them', () => {
  expect(medianRatio([50, 5, 60], [100, 10, 100])).toBe(0.5)
})
