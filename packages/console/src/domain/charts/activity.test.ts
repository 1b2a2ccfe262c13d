import { expect, test } from 'vitest'
import { barsOf, barWords, railRange, railWords } from './activity.ts'

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

test('the times of arrival are the rail before those of storing', () => {
  const filter = { from: '-1h', arrived_from: '2026-02-20T02:00:00.000Z', arrived_to: '2026-02-20T06:00:00.000Z' }
  expect(railRange(filter, now)).toMatchObject({ from: filter.arrived_from, to: filter.arrived_to })
  expect(railRange({ arrived_to: filter.arrived_to }, now).to).toBe('2026-02-20T12:01:00.000Z')
})

test('a stretch that was not read to its end has a least number, no share of DEAD, and is not called the largest', () => {
  const capped = { value: 400, relation: 'gte' as const }
  const exact = (value: number) => ({ value, relation: 'eq' as const })
  const bars = barsOf(
    [
      { at: '2026-02-20T03:00:00Z', arrived: exact(60), dead: exact(1) },
      { at: '2026-02-20T04:00:00Z', arrived: capped, dead: capped },
      { at: '2026-02-20T05:00:00Z', arrived: capped, dead: exact(4) },
    ],
    hour,
  )
  expect(bars.map(({ dead }) => dead)).toEqual([1, null, null])
  expect(bars.map(barWords)).toEqual(['60 arrived, 1 is DEAD', 'at least 400 arrived', 'at least 400 arrived'])
  expect(railWords(bars, String)).toBe('at least 860 arrived')
  const nothing = barsOf([{ at: '2026-02-20T03:00:00Z', arrived: { ...capped, value: 0 }, dead: exact(0) }], hour)
  expect(railWords(nothing, String)).toBe('Nothing was found in the part of this time that was read.')
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
  expect(railWords(bars, clock)).toBe('1,240 arrived, 27 of them are DEAD; most, 780, at 04:00')
  expect(bars.map(barWords)).toEqual(['460 arrived, 27 are DEAD', '780 arrived'])
  expect(railWords([], clock)).toBe('Nothing arrived in this time.')
})
