import { expect, test } from 'vitest'
import { matchTotal, matchWords } from './match-total.ts'

test('a list that was read to its end says how many match, where the API only said "at least"', () => {
  const atLeast = { value: 0, relation: 'gte' } as const
  expect(matchTotal(atLeast, { rows: 0, isWhole: true })).toEqual({ value: 0, relation: 'eq' })
  expect(matchTotal(atLeast, { rows: 3, isWhole: false })).toBe(atLeast)
  const exact = { value: 412, relation: 'eq' } as const
  expect(matchTotal(exact, { rows: 411, isWhole: true })).toBe(exact)
})

test('a search that goes on does not say that more than none match', () => {
  expect(matchWords({ value: 0, relation: 'gte' })).toBe('None was found yet.')
  expect(matchWords({ value: 10_000, relation: 'gte' })).toBe('More than 10,000 messages match.')
  expect(matchWords({ value: 1, relation: 'eq' })).toBe('1 message matches.')
})
