import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  eligibleStatuses,
  ineligibility,
  isAsExpected,
  nextChunkSize,
  progressOf,
  refailsTooMuch,
  runKinds,
  waitingOf,
} from './run.ts'

const counts = { taken: 0, done: 0, resolved: 0, failed: 0, failedAgain: 0, withdrawn: 0, givenBack: 0 }

test('a retry skips what is settled, being sent, out of budget or in another run', () => {
  const pending = { status: 'PENDING', retryCount: 0, maxRetries: 3, runId: null } as const
  expect(ineligibility('retry', pending)).toBeNull()
  expect(ineligibility('retry', { ...pending, status: 'DEAD' })).toBe('dead')
  expect(ineligibility('retry', { ...pending, status: 'RESOLVED' })).toBe('resolved')
  expect(ineligibility('retry', { ...pending, status: 'RETRYING' })).toBe('retrying')
  expect(ineligibility('retry', { ...pending, retryCount: 3 })).toBe('budget_spent')
  expect(ineligibility('retry', { ...pending, runId: 'x' })).toBe('in_another_run')
  expect(ineligibility('delete', { ...pending, retryCount: 3 })).toBeNull()
})

test('no run touches what is being sent', () => {
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

describe('chunks', () => {
  test('grow to what takes a third of a second, at most twofold at a time, and shrink at once', () => {
    expect(nextChunkSize(500, 60)).toBe(1000)
    expect(nextChunkSize(500, 250)).toBe(600)
    expect(nextChunkSize(5000, 3000)).toBe(500)
  })
  test('stay within their bounds, whatever the clock says', () => {
    fc.assert(
      fc.property(fc.integer({ min: 50, max: 10_000 }), fc.double({ min: 0, max: 1e7, noNaN: true }), (size, ms) => {
        const next = nextChunkSize(size, ms)
        return Number.isInteger(next) && next >= 50 && next <= 10_000
      }),
    )
  })
})

test('what is waiting is what was taken and has not come to an end', () => {
  expect(waitingOf({ ...counts, taken: 10, resolved: 3, failed: 1, failedAgain: 2, withdrawn: 1, givenBack: 1 })).toBe(
    2,
  )
})

test('re-failures are judged by their share of what was sent, once there is enough of it', () => {
  expect(refailsTooMuch({ resolved: 9, failedAgain: 10 }, { maxRefailure: 0.05 })).toBe(false)
  expect(refailsTooMuch({ resolved: 19, failedAgain: 1 }, { maxRefailure: 0.05 })).toBe(false)
  expect(refailsTooMuch({ resolved: 18, failedAgain: 2 }, { maxRefailure: 0.05 })).toBe(true)
  expect(refailsTooMuch({ resolved: 0, failedAgain: 1 }, { maxRefailure: 0.05, sample: 1 })).toBe(true)
  expect(refailsTooMuch({ resolved: 100, failedAgain: 0 }, { maxRefailure: 0 })).toBe(false)
})

test('progress is a rate since the start, and how long the rest takes at that rate', () => {
  const at = (seconds: number) => new Date(seconds * 1000)
  const times = { matched: 100, startedAt: at(0), endedAt: null, now: at(10) }
  expect(progressOf({ ...counts, taken: 100, resolved: 20 }, times)).toEqual({ rate: 2, etaSeconds: 40 })
  expect(progressOf(counts, times)).toEqual({ rate: null, etaSeconds: null })
  expect(progressOf({ ...counts, done: 100 }, { ...times, endedAt: at(5) })).toEqual({ rate: 20, etaSeconds: null })
})
