import { expect, test } from 'vitest'
import { barsOf, railRange, railWords } from './activity.ts'

const now = Date.parse('2026-02-20T12:00:30Z')
const hour = 3_600_000

test('without times the rail is the last day, by quarters of an hour or coarser', () => {
  expect(railRange({}, now)).toEqual({
    from: '2026-02-19T12:01:00.000Z',
    to: '2026-02-20T12:01:00.000Z',
    stepMs: hour,
  })
})

test('a chosen end leaves the day in sight, and chosen times are the rail', () => {
  expect(railRange({ to: '2026-02-20T06:00:00.000Z' }, now).to).toBe('2026-02-20T12:01:00.000Z')
  expect(railRange({ from: '-1h' }, now)).toMatchObject({ from: '2026-02-20T11:00:30.000Z', stepMs: 60_000 })
  expect(railRange({ from: '2025-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }, now).stepMs).toBe(7 * 24 * hour)
})

test('the rail in words names the largest stretch, and what is DEAD', () => {
  const total = (value: number) => ({ value, relation: 'eq' as const })
  const bars = barsOf(
    [
      { at: '2026-02-20T03:00:00Z', arrived: total(460), dead: total(27) },
      { at: '2026-02-20T04:00:00Z', arrived: total(780), dead: total(0) },
    ],
    hour,
  )
  const clock = (ms: number) => new Date(ms).toISOString().slice(11, 16)
  expect(railWords(bars, true, clock)).toBe('1,240 arrived, 27 of them are DEAD; most, 780, at 04:00')
  expect(railWords(bars, false, clock)).toMatch(/^at least 1,240/)
  expect(railWords([], true, clock)).toBe('Nothing arrived in this time.')
})
