import { expect, test } from 'vitest'
import { isPartOfAll, matchTotal, matchWords } from './match-total.ts'

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

test('all that match are offered where everything loaded is selected, and more match', () => {
  const total = { value: 12_000, relation: 'eq' } as const
  expect(isPartOfAll(total, { chosen: 100, allLoaded: true })).toBe(true)
  expect(isPartOfAll({ value: 100, relation: 'gte' }, { chosen: 100, allLoaded: true })).toBe(true)
  expect(isPartOfAll(total, { chosen: 2, allLoaded: false })).toBe(false)
  expect(isPartOfAll({ value: 100, relation: 'eq' }, { chosen: 100, allLoaded: true })).toBe(false)
  expect(isPartOfAll(null, { chosen: 100, allLoaded: true })).toBe(false)
})
