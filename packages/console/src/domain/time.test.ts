import fc from 'fast-check'
import { expect, test } from 'vitest'
import { absoluteTime, relativeTime, shortSpan, spanText } from './time.ts'

test('spans have one unit, or two where the second matters', () => {
  const minute = 60_000
  expect([4000, 90_000, 12 * minute, 190 * minute, 52 * 60 * minute, 9 * 1440 * minute].map(spanText)).toEqual([
    '4 s',
    '1 m 30 s',
    '12 m',
    '3 h 10 m',
    '2 d 4 h',
    '9 d',
  ])
  expect(shortSpan(190 * minute)).toBe('3 h')
})

test('a relative time is never negative', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer(), (at, now) => {
      expect(relativeTime(at, now)).toMatch(/^(now|\d+ [smhd] ago|in \d+ [smhd])$/)
    }),
  )
  expect(relativeTime(1000, 1400)).toBe('now')
})

test('an absolute time has its milliseconds and its zone', () => {
  expect(absoluteTime(Date.parse('2026-11-22T06:39:22.123Z'), 'utc')).toBe('2026-11-22 06:39:22.123 UTC')
  expect(absoluteTime(Date.parse('2026-11-22T06:39:22.123Z'), 'local')).toMatch(
    /^2026-11-2[123] \d\d:\d\d:22\.123 [+-]\d\d:\d\d$/,
  )
})
