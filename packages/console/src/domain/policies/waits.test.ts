import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { expect, test } from 'vitest'
import { drawnWaits, waitShare, waitsOf, waitWords } from './waits.ts'

const minute = 60_000

test('exponential waits go from a tenth of their bound to the whole of it', () => {
  const waits = waitsOf(defaultRetryPolicy)
  expect(waits).toEqual([
    { attempt: 1, fromMs: minute / 2, toMs: 5 * minute },
    { attempt: 2, fromMs: 2 * minute, toMs: 20 * minute },
    { attempt: 3, fromMs: 8 * minute, toMs: 80 * minute },
  ])
  expect(waitWords(defaultRetryPolicy, waits)).toBe('3 attempts; it gives up after 10 m to 1 h 45 m.')
})

test('other waits are exact', () => {
  const list = { ...defaultRetryPolicy, backoff: 'list', backoffListMs: [minute, 60 * minute] } as const
  expect(waitsOf(list).map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual([
    [minute, minute],
    [60 * minute, 60 * minute],
    [60 * minute, 60 * minute],
  ])
  expect(waitWords(list, waitsOf(list))).toBe('3 attempts; it gives up after 2 h 1 m.')
})

test('a policy that sends nothing by itself says so, and windows are named', () => {
  expect(waitWords({ ...defaultRetryPolicy, paused: true }, [])).toMatch(/^Nothing is sent/)
  expect(waitWords({ ...defaultRetryPolicy, autoRetry: false }, [])).toMatch(/^Nothing is tried/)
  const inWindows = { ...defaultRetryPolicy, runEveryMs: 60 * minute }
  expect(waitWords(inWindows, waitsOf(inWindows))).toMatch(/for the next window, every 1 h\.$/)
})

test('the drawing has a place for each wait, and ends where the policy has very many', () => {
  const many = waitsOf({ ...defaultRetryPolicy, maxRetries: 1000 })
  expect(many).toHaveLength(1000)
  expect(drawnWaits(many)).toHaveLength(12)
  const waits = waitsOf(defaultRetryPolicy)
  expect(waitShare(minute / 2, waits)).toBe(0)
  expect(waitShare(80 * minute, waits)).toBe(1)
  expect(waitShare(5 * minute, waits)).toBeLessThan(waitShare(20 * minute, waits))
})
