import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lossLevel, lossMarks, lossShare, lossWords } from './loss.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const hour = 3_600_000
const at = (ms: number) => new Date(now + ms).toISOString()
const calm = { lag: 0, lost: 0, expires_at: null, looked_at: at(-5000), loss: null }
const waits = (leftMs: number) => ({ ...calm, lag: 40, expires_at: at(leftMs), loss: '40 records, first expires soon' })

test('less time is never a longer bar, and every mark of the scale has its place on it', () => {
  fc.assert(
    fc.property(fc.integer({ min: -hour, max: 400 * hour }), fc.nat(hour), (left, more) => {
      expect(lossShare(left)).toBeLessThanOrEqual(lossShare(left + more))
      expect(lossShare(left)).toBeGreaterThanOrEqual(0)
      expect(lossShare(left)).toBeLessThanOrEqual(1)
    }),
  )
  expect(lossMarks.map(({ ms }) => lossShare(ms))).toEqual([
    1,
    expect.closeTo(0.72, 2),
    expect.closeTo(0.52, 2),
    expect.closeTo(0.26, 2),
    0,
  ])
})

test('six hours are to look at, one hour is to act on, and so is every record that is lost', () => {
  expect(lossLevel(waits(7 * hour), now)).toBe('fine')
  expect(lossLevel(waits(5 * hour), now)).toBe('look')
  expect(lossLevel(waits(hour / 2), now)).toBe('act')
  expect(lossLevel({ ...calm, lost: 1 }, now)).toBe('act')
  expect(lossLevel({ ...calm, expires_at: at(0) }, now)).toBe('fine')
})

test('a clock that nobody winds says since when', () => {
  expect(lossWords(waits(hour), now)).toBe('40 records, first expires soon')
  expect(lossWords({ ...waits(hour), looked_at: at(-250_000) }, now)).toBe(
    '40 records, first expires soon, as of 4 m 10 s ago',
  )
  expect(lossWords(calm, now)).toBe('none')
})
