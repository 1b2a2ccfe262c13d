import { expect, test } from 'vitest'
import {
  eligibleStatuses,
  ineligibility,
  isAsExpected,
  progressOf,
  refailsTooMuch,
  runKinds,
  waitingOf,
} from './run.ts'

const counts = { taken: 0, done: 0, resolved: 0, failed: 0, failed_again: 0, withdrawn: 0, given_back: 0 }

test('a retry skips messages that are settled, being sent, out of budget or in another run', () => {
  const pending = { status: 'PENDING', retry_count: 0, max_retries: 3, run_id: null, held_by_route: false } as const
  expect(ineligibility('retry', pending)).toBeNull()
  expect(ineligibility('retry', { ...pending, status: 'DEAD' })).toBe('dead')
  expect(ineligibility('retry', { ...pending, status: 'RESOLVED' })).toBe('resolved')
  expect(ineligibility('retry', { ...pending, status: 'RETRYING' })).toBe('retrying')
  expect(ineligibility('retry', { ...pending, retry_count: 3 })).toBe('budget_spent')
  expect(ineligibility('retry', { ...pending, run_id: 'x' })).toBe('in_another_run')
  expect(ineligibility('retry', { ...pending, held_by_route: true })).toBe('held_by_route')
  expect(ineligibility('delete', { ...pending, held_by_route: true })).toBeNull()
  expect(ineligibility('delete', { ...pending, retry_count: 3 })).toBeNull()
})

test('no run changes a message that is being sent', () => {
  for (const kind of runKinds) expect(eligibleStatuses(kind, {})).not.toContain('RETRYING')
  expect(eligibleStatuses('delete', { status: ['DEAD', 'RETRYING'] })).toEqual(['DEAD'])
  expect(eligibleStatuses('retry', { status: ['DEAD'] })).toEqual([])
  expect(eligibleStatuses('retry', { status: ['DEAD'], archived: true })).toEqual(['DEAD'])
})

test('a count is as expected within the tolerance, and never where counting ended early', () => {
  const is = (value: number, expected: number, tolerance: number, relation: 'eq' | 'gte' = 'eq') =>
    isAsExpected({ value, relation }, { expected, tolerance })
  expect(is(100, 100, 0)).toBe(true)
  expect(is(101, 100, 0)).toBe(false)
  expect(is(110, 100, 0.1)).toBe(true)
  expect(is(90, 100, 0.1)).toBe(true)
  expect(is(89, 100, 0.1)).toBe(false)
  expect(is(100, 100, 0.1, 'gte')).toBe(false)
})

test('a message is waiting from the time it was taken until it has an outcome', () => {
  expect(
    waitingOf({ ...counts, taken: 10, resolved: 3, failed: 1, failed_again: 2, withdrawn: 1, given_back: 1 }),
  ).toBe(2)
})

test('re-failures are judged by their share of the sent messages, once enough were sent', () => {
  expect(refailsTooMuch({ resolved: 9, failed_again: 10 }, { maxRefailure: 0.05 })).toBe(false)
  expect(refailsTooMuch({ resolved: 19, failed_again: 1 }, { maxRefailure: 0.05 })).toBe(false)
  expect(refailsTooMuch({ resolved: 18, failed_again: 2 }, { maxRefailure: 0.05 })).toBe(true)
  expect(refailsTooMuch({ resolved: 0, failed_again: 1 }, { maxRefailure: 0.05, sample: 1 })).toBe(true)
  expect(refailsTooMuch({ resolved: 100, failed_again: 0 }, { maxRefailure: 0 })).toBe(false)
})

test('progress is a rate since the start, and how long the rest takes at that rate', () => {
  const at = (seconds: number) => new Date(seconds * 1000)
  const times = { matched: 100, startedAt: at(0), endedAt: null, now: at(10) }
  expect(progressOf({ ...counts, taken: 100, resolved: 20 }, times)).toEqual({ rate: 2, etaSeconds: 40 })
  expect(progressOf(counts, times)).toEqual({ rate: null, etaSeconds: null })
  expect(progressOf({ ...counts, done: 100 }, { ...times, endedAt: at(5) })).toEqual({ rate: 20, etaSeconds: null })
})
