import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { absoluteTime, momentTyped, nextMorning, relativeTime, shortSpan, spanText } from './time.ts'

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

test('a time that is typed or chosen is meant in the zone in which the page shows times, also around a change of the clock', () => {
  vi.stubEnv('TZ', 'America/New_York')
  const at = (ms: number) => new Date(ms).toISOString().slice(0, 16)
  const typed = [
    '2026-11-22 18:00',
    '2026-11-22',
    '2026-07-01T18:00',
    '2026-11-22 18:00 +01:00',
    '2026-11-22 18:00 UTC',
  ]
  const said = ['2026-11-22T17:00', '2026-11-22T18:00']
  expect(typed.map((text) => at(momentTyped(text, 'local')))).toEqual([
    ...['2026-11-22T23:00', '2026-11-22T05:00', '2026-07-01T22:00', ...said],
  ])
  expect(typed.map((text) => at(momentTyped(text, 'utc')))).toEqual([
    ...['2026-11-22T18:00', '2026-11-22T00:00', '2026-07-01T18:00', ...said],
  ])
  const wrong = ['soon', '18:00', '2026-13-01', '2026-11-22 18', '2026-02-31', '2026-11-31 18:00']
  expect(wrong.map((text) => momentTyped(text, 'utc'))).toEqual(wrong.map(() => Number.NaN))
  // Saturday evening; the clock is set back in the night.
  const now = new Date('2026-11-01T01:00Z')
  expect(at(nextMorning(now, 'local', 8).getTime())).toBe('2026-11-01T13:00')
  expect(at(nextMorning(now, 'local', 8, 1).getTime())).toBe('2026-11-02T13:00')
  expect(at(nextMorning(now, 'utc', 8).getTime())).toBe('2026-11-01T08:00')
  expect(at(nextMorning(now, 'utc', 8, 1).getTime())).toBe('2026-11-02T08:00')
  vi.unstubAllEnvs()
})
