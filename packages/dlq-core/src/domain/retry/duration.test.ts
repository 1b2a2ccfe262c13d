import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatDuration, parseDuration } from './duration.ts'

test.each([
  ['500ms', 500],
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['1d', 86_400_000],
  ['250', 250],
  [' 2s ', 2000],
])('the text "%s" is %i milliseconds', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds)
})

test.each(['', '5 minutes', '-5m', '1.5s', '5M', 'm', '6h ago'])('the text "%s" is no duration', (text) => {
  expect(parseDuration(text)).toBeNull()
})

test.each([
  [0, '0s'],
  [300_000, '5m'],
  [21_600_000, '6h'],
  [5_400_000, '1h30m'],
  [90_061_001, '1d1h1m1s1ms'],
])('%i milliseconds are written "%s"', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text)
})

test('a duration that is written is read back unchanged', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 400 * 86_400_000 }), (milliseconds) => {
      expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds)
    }),
  )
})
