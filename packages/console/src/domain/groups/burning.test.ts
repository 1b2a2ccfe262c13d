import { expect, test } from 'vitest'
import { burningOf, burningWords } from './burning.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const hoursAgo = (hours: number) => new Date(now - hours * 3_600_000).toISOString()
const groupOf = ({ DEAD = 0, RESOLVED = 0, seen = 1 }: { DEAD?: number; RESOLVED?: number; seen?: number }) => ({
  counts: { PENDING: 0, RETRYING: 0, RESOLVED, DEAD },
  owner: 'maria',
  first_seen_at: hoursAgo(100),
  last_seen_at: hoursAgo(seen),
  trend: null,
})

test('where all open groups were read, those that burn are counted', () => {
  const groups = [groupOf({ DEAD: 3 }), { ...groupOf({ DEAD: 1 }), owner: null, first_seen_at: hoursAgo(3) }]
  const read = burningOf({ groups, totals: { open: 2, new: 9 }, next_cursor: null }, now)
  expect(read).toMatchObject({ burning: 2, fresh: 1, open: 2, partly: false })
  expect(burningWords(read)).toBe('2 groups burn')
})

test('where more are open than were read, the numbers are lower bounds, or what the API has counted', () => {
  const groups = Array.from({ length: 50 }, () => groupOf({ DEAD: 1 }))
  const read = burningOf({ groups, totals: { open: 74, new: 71 }, next_cursor: 'more' }, now)
  expect(read).toMatchObject({ burning: 50, fresh: 71, open: 74, partly: true })
  expect(burningWords(read)).toBe('at least 50 of 74 open groups burn')
})

test('a quiet group without anything open is no row, and still an open group', () => {
  const groups = [groupOf({ RESOLVED: 4, seen: 5 }), groupOf({ DEAD: 2, seen: 5 }), groupOf({ RESOLVED: 1 })]
  const { rows, burning, open } = burningOf({ groups, totals: null, next_cursor: null }, now)
  expect(rows.map(({ group }) => group)).toEqual([groups[2], groups[1]])
  expect({ burning, open }).toEqual({ burning: 1, open: 3 })
})
