import { expect, test } from 'vitest'
import { byHeat, type GroupFacts, heatOf, trendWords } from './heat.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const hours = (count: number) => new Date(now - count * 3_600_000).toISOString()
const trendOf = (...last: number[]) =>
  [...Array.from({ length: 24 - last.length }, () => 0), ...last].map((value) => ({ value, relation: 'eq' as const }))

function group(facts: Partial<GroupFacts>): GroupFacts {
  return {
    counts: { PENDING: 1, RETRYING: 0, RESOLVED: 0, DEAD: 0 },
    owner: 'maria',
    first_seen_at: hours(100),
    last_seen_at: hours(0.1),
    trend: trendOf(1, 1, 1),
    ...facts,
  }
}

test('a group first seen today is new only while nobody owns it', () => {
  expect(heatOf(group({ first_seen_at: hours(3), owner: null }), now)).toBe('new')
  expect(heatOf(group({ first_seen_at: hours(3) }), now)).toBe('steady')
})

test('a group rises where the last hour has five messages and three times the mean before it', () => {
  expect(heatOf(group({ trend: trendOf(5) }), now)).toBe('rising')
  expect(heatOf(group({ trend: trendOf(4) }), now)).toBe('steady')
  expect(heatOf(group({ trend: trendOf(...Array.from({ length: 23 }, () => 2), 5) }), now)).toBe('steady')
  expect(heatOf(group({ trend: trendOf(...Array.from({ length: 23 }, () => 2), 6) }), now)).toBe('rising')
})

test('a group without a message for two hours is quiet, whatever it was', () => {
  expect(heatOf(group({ last_seen_at: hours(2.1), first_seen_at: hours(3), owner: null }), now)).toBe('quiet')
})

test('the hottest comes first, then the larger, and groups without messages are left out', () => {
  const none = group({ counts: { PENDING: 0, RETRYING: 0, RESOLVED: 0, DEAD: 0 } })
  const small = group({})
  const large = group({ counts: { PENDING: 9, RETRYING: 0, RESOLVED: 0, DEAD: 3 } })
  const rising = group({ trend: trendOf(50) })
  expect(byHeat([none, small, large, rising], now).map(({ group }) => group)).toEqual([rising, large, small])
})

test('the trend in words says where a number is only a lower bound', () => {
  expect(trendWords([...trendOf(12, 40), { value: 343, relation: 'gte' }])).toBe(
    '12, 40 and at least 343 in the last three hours',
  )
})
