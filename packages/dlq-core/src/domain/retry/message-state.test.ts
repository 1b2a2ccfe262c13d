import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type MessageEvent, nextState, type RetryState, statuses } from './message-state.ts'
import { defaultRetryPolicy } from './retry-policy.ts'

const now = new Date('2026-02-20T10:30:00Z')
const deciding = { policy: defaultRetryPolicy, now, random: 0 }
const pending: RetryState = { status: 'PENDING', retry_count: 0, max_retries: 3, next_retry_at: now }

function after(state: RetryState, ...events: MessageEvent[]): RetryState | null {
  return events.reduce<RetryState | null>((state, event) => state && nextState(state, event, deciding), state)
}

test('a message that is published is resolved', () => {
  expect(after(pending, { type: 'claimed' }, { type: 'published' })).toEqual({
    status: 'RESOLVED',
    retry_count: 1,
    max_retries: 3,
    next_retry_at: null,
  })
})

test('a message that keeps failing is DEAD after exactly its budget', () => {
  let state = pending
  for (const attempt of [1, 2, 3]) {
    state = after(
      state,
      { type: 'retry_requested' },
      { type: 'claimed' },
      { type: 'published' },
      { type: 'failed_again', attempt },
    )!
    expect(state).toMatchObject({ retry_count: attempt, status: attempt < 3 ? 'PENDING' : 'DEAD' })
  }
  expect(after(state, { type: 'retry_requested' })).toBeNull()
})

test('the longest waits grow from five minutes by four', () => {
  const waits = [1, 2].map((attempt) => {
    const state = { ...pending, status: 'RESOLVED', retry_count: attempt } as const
    return after(state, { type: 'failed_again', attempt })!.next_retry_at!.getTime() - now.getTime()
  })
  expect(waits).toEqual([20 * 60_000, 80 * 60_000])
})

test('a failure that arrives before its attempt is settled counts', () => {
  expect(after(pending, { type: 'claimed' }, { type: 'failed_again', attempt: 1 })).toMatchObject({
    status: 'PENDING',
    retry_count: 1,
  })
})

test('an older attempt’s failure changes nothing', () => {
  expect(after({ ...pending, status: 'RESOLVED', retry_count: 2 }, { type: 'failed_again', attempt: 1 })).toBeNull()
})

test('an attempt that was given back as unknown counts when it turns out to have been made', () => {
  expect(after(pending, { type: 'claimed' }, { type: 'released' }, { type: 'failed_again', attempt: 1 })).toMatchObject(
    {
      status: 'PENDING',
      retry_count: 1,
    },
  )
})

test('an outage costs no attempt', () => {
  expect(after(pending, { type: 'claimed' }, { type: 'released' })).toEqual(pending)
})

test('a message that Kafka will always refuse waits for a person, not for a time', () => {
  expect(after(pending, { type: 'claimed' }, { type: 'refused', permanent: true })).toMatchObject({
    status: 'PENDING',
    retry_count: 1,
    next_retry_at: null,
  })
})

test.each([
  ['PENDING', 3, 'retry_forced', { status: 'PENDING', max_retries: 4, next_retry_at: now }],
  ['PENDING', 0, 'retry_forced', { status: 'PENDING', max_retries: 3, next_retry_at: now }],
  ['DEAD', 3, 'retry_forced', { status: 'PENDING', max_retries: 4, next_retry_at: now }],
  ['RESOLVED', 1, 'retry_forced', { status: 'PENDING', max_retries: 3, next_retry_at: now }],
  ['RETRYING', 1, 'retry_forced', null],
  ['PENDING', 1, 'marked_dead', { status: 'DEAD', next_retry_at: null }],
  ['RETRYING', 1, 'marked_dead', null],
  ['RESOLVED', 1, 'marked_dead', null],
  ['DEAD', 1, 'marked_dead', null],
  ['DEAD', 1, 'revived', { status: 'PENDING', max_retries: 3 }],
  ['DEAD', 3, 'revived', { status: 'PENDING', max_retries: 6 }],
  ['PENDING', 1, 'revived', null],
  ['RETRYING', 1, 'revived', null],
  ['RESOLVED', 1, 'revived', null],
] as const)('%s after %i attempts, when it is %s, becomes %o', (status, retryCount, type, expected) => {
  const state = after({ ...pending, status, retry_count: retryCount }, { type })
  if (expected === null) expect(state).toBeNull()
  else expect(state).toMatchObject({ ...expected, retry_count: retryCount })
})

const anyEvent: fc.Arbitrary<MessageEvent> = fc.oneof(
  fc.constantFrom(
    { type: 'claimed' } as const,
    { type: 'published' } as const,
    { type: 'released' } as const,
    { type: 'retry_requested' } as const,
  ),
  fc.record({ type: fc.constant('refused' as const), permanent: fc.boolean() }),
  fc.record({ type: fc.constant('failed_again' as const), attempt: fc.integer({ min: 1, max: 5 }) }),
)

const legal: Record<string, string[]> = {
  PENDING: ['PENDING', 'RETRYING', 'DEAD'],
  RETRYING: ['PENDING', 'RESOLVED', 'DEAD'],
  RESOLVED: ['PENDING', 'DEAD'],
  DEAD: ['DEAD'],
}

/** Runs the events, and calls `see` after each that changed the state. */
function run(
  { events, max_retries }: { events: readonly MessageEvent[]; max_retries: number },
  see: (before: RetryState, event: MessageEvent, after: RetryState) => void,
): RetryState {
  return events.reduce<RetryState>(
    (state, event) => {
      const next = nextState(state, event, deciding)
      if (next === null) return state
      see(state, event, next)
      return next
    },
    { ...pending, max_retries },
  )
}

const anyLife = fc.record({
  events: fc.array(anyEvent, { maxLength: 60 }),
  max_retries: fc.integer({ min: 1, max: 4 }),
})

test('no sequence of events leaves the legal transitions', () => {
  fc.assert(
    fc.property(anyLife, (life) => {
      run(life, (before, event, after) => {
        expect(statuses).toContain(after.status)
        expect(legal[before.status]).toContain(after.status)
        expect(after.max_retries).toBe(life.max_retries)
        expect(after.retry_count).toBeGreaterThanOrEqual(before.retry_count - (event.type === 'released' ? 1 : 0))
      })
    }),
    { numRuns: 1000 },
  )
})

test('no sequence of events spends more than the budget: each attempt has a different number, up to the budget', () => {
  fc.assert(
    fc.property(anyLife, (life) => {
      const published: number[] = []
      run(life, (_, event, after) => {
        if (after.status === 'RETRYING') expect(after.retry_count).toBeLessThanOrEqual(life.max_retries)
        if (event.type === 'published') published.push(after.retry_count)
      })
      expect(published).toEqual([...new Set(published)].toSorted((a, b) => a - b))
      expect(published.length).toBeLessThanOrEqual(life.max_retries)
    }),
    { numRuns: 1000 },
  )
})

test('no sequence of events loses a message: it is resolved, DEAD with its budget spent, or can still get there', () => {
  fc.assert(
    fc.property(anyLife, (life) => {
      const state = run(life, () => {})
      if (state.status === 'DEAD') expect(state.retry_count).toBeGreaterThanOrEqual(life.max_retries)
      const claimed =
        state.status === 'PENDING' ? after(state, { type: 'retry_requested' }, { type: 'claimed' }) : state
      expect(claimed).not.toBeNull()
      if (claimed!.status !== 'RETRYING') return
      expect(after(claimed!, { type: 'published' })).toMatchObject({ status: 'RESOLVED' })
      expect(after(claimed!, { type: 'released' })).toMatchObject({ status: 'PENDING', next_retry_at: now })
    }),
    { numRuns: 1000 },
  )
})
