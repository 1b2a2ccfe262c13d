import { expect, test } from 'vitest'
import { rateLine, rateWords, withPoint } from './rate-points.ts'

const box = { width: 100, height: 10 }

test('sixty points are kept, the latest', () => {
  const points = Array.from({ length: 70 }, (_, at) => ({ at, rate: at })).reduce(withPoint, [])
  expect([points.length, points[0]?.at, points.at(-1)?.at]).toEqual([60, 10, 69])
})

test('the line goes from the first time to the last, with the largest rate on top', () => {
  const points = [
    { at: 0, rate: 0 },
    { at: 5000, rate: 20 },
    { at: 10_000, rate: 10 },
  ]
  expect(rateLine(points, box)).toBe('0.0,10.0 50.0,0.0 100.0,5.0')
})

test('one point is no line, and neither are two of the same second', () => {
  expect(rateLine([], box)).toBeNull()
  expect(rateLine([{ at: 1, rate: 1 }], box)).toBeNull()
  const second = [
    { at: 1, rate: 0.7 },
    { at: 900, rate: 0.4 },
  ]
  expect(rateLine(second, box)).toBeNull()
})

test('a run that is paused has no rate now', () => {
  const points = [
    { at: 0, rate: 0.7 },
    { at: 12_000, rate: 40.4 },
  ]
  expect(rateWords(points, { running: true })).toBe('40 a second now, at most 40 in the last 12 s')
  expect(rateWords(points, { running: false })).toBe('at most 40 a second in the last 12 s of its work')
})
