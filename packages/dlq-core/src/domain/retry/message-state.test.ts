import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type MessageEvent, nextState, type RetryState, statuses } from './message-state.ts'
import { defaultRetryPolicy } from './retry-policy.ts'

const now = new Date('2026-02-20T10:30:00Z')
const deciding = { policy: defaultRetryPolicy, now, random: 0 }
const pending: RetryState = { status: 'PENDING', retry_count: 0, max_retries: 3, next_retry_at: now }

const minutesLater = (minutes: number) => new Date(now.getTime() + minutes * 60_000)

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
  const waited = { ...pending, next_retry_at: new Date(now.getTime() - 60_000) }
  expect(after(waited, { type: 'claimed' }, { type: 'released' })).toEqual({ ...waited, next_retry_at: now })
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
  ['DEAD', 1, 'revived', { status: 'PENDING', max_retries: 3, next_retry_at: minutesLater(5) }],
  ['DEAD', 3, 'revived', { status: 'PENDING', max_retries: 6, next_retry_at: minutesLater(5) }],
  ['PENDING', 1, 'revived', null],
  ['RETRYING', 1, 'revived', null],
  ['RESOLVED', 1, 'revived', null],
  ['RESOLVED', 1, 'failed_beside', { status: 'PENDING', max_retries: 3, next_retry_at: minutesLater(20) }],
  ['RESOLVED', 3, 'failed_beside', { status: 'DEAD', max_retries: 3, next_retry_at: null }],
  ['PENDING', 1, 'failed_beside', null],
  ['RETRYING', 1, 'failed_beside', null],
  ['DEAD', 3, 'failed_beside', null],
] as const)('%s after %i attempts, when it is %s, becomes %o', (status, retryCount, type, expected) => {
  const state = after({ ...pending, status, retry_count: retryCount }, { type })
  if (expected === null) expect(state).toBeNull()
  else expect(state).toMatchObject({ ...expected, retry_count: retryCount })
})

test('a message that was given up stays DEAD when an attempt of it turns out to have failed, and a duplicate changes nothing', () => {
  const dead: RetryState = { status: 'DEAD', retry_count: 1, max_retries: 3, next_retry_at: null }
  expect(after(dead, { type: 'failed_again', attempt: 2 })).toEqual({ ...dead, retry_count: 2 })
  for (const status of ['DEAD', 'PENDING'] as const)
    expect(after({ ...dead, status }, { type: 'failed_again', attempt: 1 })).toBeNull()
})

const anyEvent: fc.Arbitrary<MessageEvent> = fc.oneof(
  fc.constantFrom(
    { type: 'claimed' } as const,
    { type: 'published' } as const,
    { type: 'released' } as const,
    { type: 'retry_requested' } as const,
    { type: 'retry_forced' } as const,
    { type: 'marked_dead' } as const,
    { type: 'revived' } as const,
    { type: 'failed_beside' } as const,
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
/** What only a person does. Both of them may give a message a larger budget. */
const byHand: Record<string, string[]> = { retry_forced: ['PENDING'], revived: ['PENDING'] }

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
        expect(byHand[event.type] ?? legal[before.status]).toContain(after.status)
        if (event.type in byHand) expect(after.max_retries).toBeGreaterThanOrEqual(before.max_retries)
        else expect(after.max_retries).toBe(before.max_retries)
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
        if (after.status === 'RETRYING') expect(after.retry_count).toBeLessThanOrEqual(after.max_retries)
        if (event.type === 'published') published.push(after.retry_count)
        expect(published.length).toBeLessThanOrEqual(after.max_retries)
      })
      expect(published).toEqual([...new Set(published)].toSorted((a, b) => a - b))
    }),
    { numRuns: 1000 },
  )
})

test('no sequence of events loses a message: it is resolved, given up, DEAD with its budget spent, or can still get there', () => {
  fc.assert(
    fc.property(anyLife, (life) => {
      let isGivenUp = false
      const state = run(life, (before, { type }, after) => {
        if (before.status !== 'DEAD' || after.status !== 'DEAD') isGivenUp = type === 'marked_dead'
      })
      if (state.status === 'DEAD' && !isGivenUp) expect(state.retry_count).toBeGreaterThanOrEqual(state.max_retries)
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
