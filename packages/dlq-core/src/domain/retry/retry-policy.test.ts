import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type MessageEvent, nextState, type RetryState } from './message-state.ts'
import {
  burstOf,
  claimCeiling,
  defaultRetryPolicy,
  nextRetryAt,
  nextRunAt,
  type RetryPolicy,
  sharedLimitsOf,
} from './retry-policy.ts'

const now = new Date('2026-02-20T10:30:00Z')
const minute = 60_000
const hour = 60 * minute

const waitAfter = (policy: Partial<RetryPolicy>, retryCount: number, random = 0) =>
  nextRetryAt({ ...defaultRetryPolicy, ...policy }, retryCount, now, random)!.getTime() - now.getTime()

describe('the exponential wait', () => {
  test('is bounded by five minutes, twenty, eighty, and at last a day', () => {
    expect([0, 1, 2, 3, 4, 5, 999].map((count) => waitAfter({}, count) / minute)).toEqual([
      5, 20, 80, 320, 1280, 1440, 1440,
    ])
  })

  test('is spread evenly between a tenth of its bound and the whole', () => {
    expect([0, 0.25, 0.5, 0.75, 0.999999].map((random) => Math.round(waitAfter({}, 0, random) / 1000))).toEqual([
      300, 233, 165, 98, 30,
    ])
  })

  test('is never over its bound, never under a tenth of it, and a valid time for any policy', () => {
    const policies = fc.record({
      initialDelayMs: fc.integer({ min: 0, max: 366 * 24 * hour }),
      multiplier: fc.double({ min: 1, max: 100, noNaN: true }),
      maxDelayMs: fc.integer({ min: 0, max: 366 * 24 * hour }),
    })
    const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(policies, fc.integer({ min: 0, max: 1000 }), dice, (policy, retryCount, random) => {
        const wait = waitAfter(policy, retryCount, random)
        const bound = Math.min(policy.initialDelayMs, policy.maxDelayMs)
        expect(wait).toBeGreaterThanOrEqual(Math.floor(bound / 10))
        expect(wait).toBeLessThanOrEqual(policy.maxDelayMs)
        // In any case it grows with the number of attempts.
        expect(waitAfter(policy, retryCount + 1, random)).toBeGreaterThanOrEqual(wait)
      }),
    )
  })
})

test('a delay of nothing stays nothing, however often it is multiplied', () => {
  expect(waitAfter({ initialDelayMs: 0, multiplier: 100 }, 999, 0.5)).toBe(0)
})

test('a fixed wait is the same each time, whatever the random number and the longest wait are', () => {
  const policy = { backoff: 'fixed', initialDelayMs: 48 * hour, maxDelayMs: hour } as const
  expect([0, 1, 50].map((count) => waitAfter(policy, count, count / 100))).toEqual([48 * hour, 48 * hour, 48 * hour])
})

test('the waits of a list come one after the other, and the last one repeats', () => {
  const policy = { backoff: 'list', backoffListMs: [1000, 30_000, 10_000] } as const
  expect([0, 1, 2, 3, 999].map((count) => waitAfter(policy, count, 0.7))).toEqual([
    1000, 30_000, 10_000, 10_000, 10_000,
  ])
})

test('without automatic retries nothing is ever due by itself', () => {
  fc.assert(
    fc.property(fc.constantFrom('exponential', 'fixed', 'list'), fc.nat(1000), (backoff, count) => {
      expect(nextRetryAt({ ...defaultRetryPolicy, backoff, autoRetry: false }, count, now, 0)).toBeNull()
    }),
  )
})

describe('a window', () => {
  test('starts at a multiple of its interval since 1970, and the present one is not the next', () => {
    const next = (time: string, from = time) =>
      nextRunAt(6 * hour, { after: new Date(time), from: new Date(from) }).toISOString()

    expect(next('2026-02-20T10:30:00.000Z')).toBe('2026-02-20T12:00:00.000Z')
    expect(next('2026-02-20T11:59:59.999Z')).toBe('2026-02-20T12:00:00.000Z')
    expect(next('2026-02-20T12:00:00.000Z')).toBe('2026-02-20T18:00:00.000Z')
    expect(next('2026-02-20T10:30:00.000Z', '2026-02-20T12:00:00.001Z')).toBe('2026-02-20T18:00:00.000Z')
    expect(next('2026-02-20T10:30:00.000Z', '2026-02-21T00:00:00.000Z')).toBe('2026-02-21T00:00:00.000Z')
  })

  test('after a wait is the first one that starts after the wait, less than one interval later', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 366 * 24 * hour }),
        fc.integer({ min: 0, max: 100 * hour }),
        (runEveryMs, initialDelayMs) => {
          const wait = waitAfter({ backoff: 'fixed', initialDelayMs, runEveryMs }, 0)
          expect((now.getTime() + wait) % runEveryMs).toBe(0)
          expect(wait).toBeGreaterThan(0)
          expect(wait).toBeGreaterThanOrEqual(initialDelayMs)
          expect(wait).toBeLessThanOrEqual(initialDelayMs + runEveryMs)
        },
      ),
    )
  })
})

describe('the number of messages that may be claimed at one time', () => {
  const ceiling = (policy: Partial<RetryPolicy>) => claimCeiling({ ...defaultRetryPolicy, ...policy })

  test('is unlimited by default, and none while the topic is paused', () => {
    expect(ceiling({})).toBe(Number.POSITIVE_INFINITY)
    expect(ceiling({ paused: true })).toBe(0)
    expect(ceiling({ paused: true, maxInFlight: 10, ratePerSecond: 5 })).toBe(0)
  })

  test('is the cap on messages in flight, and what is less where there are other limits', () => {
    expect(ceiling({ maxInFlight: 10 })).toBe(10)
    expect([3, 50].map((ratePerSecond) => ceiling({ maxInFlight: 10, ratePerSecond }))).toEqual([3, 10])
  })

  test('is a second’s worth where there is a rate, and at least one message', () => {
    expect([100, 2.5, 0.01].map((ratePerSecond) => ceiling({ ratePerSecond }))).toEqual([100, 3, 1])
    expect(burstOf(0.01)).toBe(1)
  })

  test('is the size of a window only where there are windows', () => {
    expect(ceiling({ runLimit: 50 })).toBe(Number.POSITIVE_INFINITY)
    expect(ceiling({ runLimit: 50, runEveryMs: hour })).toBe(50)
    expect(ceiling({ runLimit: 50, runEveryMs: hour, maxInFlight: 40 })).toBe(40)
  })
})

test('only topics with a rate or with windows of limited size have shared limits', () => {
  const limits = (policy: Partial<RetryPolicy>) => sharedLimitsOf({ ...defaultRetryPolicy, ...policy })
  expect(limits({})).toBeNull()
  expect(limits({ runEveryMs: hour })).toBeNull()
  expect(limits({ runLimit: 50 })).toBeNull()
  expect(limits({ ratePerSecond: 100, runLimit: 50 })).toEqual({
    ratePerSecond: 100,
    burst: 100,
    runEveryMs: null,
    runLimit: null,
  })
  expect(limits({ runEveryMs: hour, runLimit: 50 })).toEqual({
    ratePerSecond: null,
    burst: null,
    runEveryMs: hour,
    runLimit: 50,
  })
})

// "max-retries: 240, batch-size: 50, fixed-rate: 21600000": every six hours at most fifty messages. A message that
// fails stays PENDING until the next window, and one that failed 240 times is passed over.
describe('Wayfair’s regime', () => {
  const wayfair: RetryPolicy = {
    ...defaultRetryPolicy,
    autoRetry: true,
    maxRetries: 240,
    backoff: 'fixed',
    initialDelayMs: 0,
    runEveryMs: 21_600_000,
    runLimit: 50,
  }
  type Message = RetryState & { readonly arrived: number }

  function decide(state: RetryState, event: MessageEvent, now: Date): RetryState {
    const next = nextState(state, event, { policy: wayfair, now, random: 0.3 })
    if (next === null) throw new Error(`${event.type} is impossible in ${state.status}`)
    return next
  }

  const arrive = (arrived: number): Message => ({
    arrived,
    status: 'PENDING',
    retry_count: 0,
    max_retries: wayfair.maxRetries,
    next_retry_at: nextRetryAt(wayfair, 0, now, 0.3),
  })

  /** One window: sends the due messages, oldest first, up to its limit. `fails` decides the outcome of each. */
  function run(messages: readonly Message[], at: Date, fails: (message: Message) => boolean) {
    const isDue = ({ status, next_retry_at: nextRetryAt }: Message) =>
      status === 'PENDING' && nextRetryAt !== null && nextRetryAt <= at
    const taken = messages
      .filter(isDue)
      .toSorted((a, b) => a.next_retry_at!.getTime() - b.next_retry_at!.getTime() || a.arrived - b.arrived)
      .slice(0, claimCeiling(wayfair))
    const after = messages.map((message): Message => {
      if (!taken.includes(message)) return message
      const published = decide(decide(message, { type: 'claimed' }, at), { type: 'published' }, at)
      const { retry_count: attempt } = published
      // Its consumer fails on it a minute later.
      const later = new Date(at.getTime() + minute)
      return {
        ...message,
        ...(fails(message) ? decide(published, { type: 'failed_again', attempt }, later) : published),
      }
    })
    return { taken, after }
  }

  function* runs(messages: readonly Message[], fails: (message: Message) => boolean) {
    for (
      let at = nextRunAt(wayfair.runEveryMs!, { after: now, from: now });
      ;
      at = nextRunAt(21_600_000, { after: at, from: at })
    ) {
      const { taken, after } = run(messages, at, fails)
      messages = after
      yield { at, taken: taken.length, messages }
    }
  }

  test('takes at most fifty messages every six hours', () => {
    const all = runs(
      Array.from({ length: 120 }, (_, n) => arrive(n)),
      () => false,
    )
    const four = [1, 2, 3, 4].map(() => {
      const { value } = all.next()
      return [value!.at.toISOString(), value!.taken]
    })
    expect(four).toEqual([
      ['2026-02-20T12:00:00.000Z', 50],
      ['2026-02-20T18:00:00.000Z', 50],
      ['2026-02-21T00:00:00.000Z', 20],
      ['2026-02-21T06:00:00.000Z', 0],
    ])
  })

  test('retries a failed message in the next window, 240 times, and then never again', () => {
    const attempts: string[] = []
    for (const { at, taken, messages } of runs([arrive(0)], () => true)) {
      if (taken > 0) attempts.push(at.toISOString())
      if (attempts.length < 240) expect(messages[0]).toMatchObject({ status: 'PENDING', retry_count: attempts.length })
      if (taken === 0) {
        expect(messages[0]).toMatchObject({ status: 'DEAD', retry_count: 240, next_retry_at: null })
        break
      }
    }
    expect(attempts).toHaveLength(240)
    // Sixty days, without a gap.
    expect([attempts[0], attempts[1], attempts.at(-1)]).toEqual([
      '2026-02-20T12:00:00.000Z',
      '2026-02-20T18:00:00.000Z',
      '2026-04-21T06:00:00.000Z',
    ])
  })

  test('retries every message, when more fail than a window may take', () => {
    const all = runs(
      Array.from({ length: 100 }, (_, n) => arrive(n)),
      () => true,
    )
    for (let n = 0; n < 20; n += 1) all.next()
    const { value } = all.next()
    const counts = value!.messages.map(({ retry_count: retryCount }) => retryCount)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
  })
})
