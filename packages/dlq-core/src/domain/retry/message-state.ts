// A message's states: which events are possible in which state, and the state after each.
// Decisions only; the queries carry them out, and their where-clauses settle races.

import { nextRetryAt, type RetryPolicy } from './retry-policy.ts'

export const statuses = ['PENDING', 'RETRYING', 'RESOLVED', 'DEAD'] as const
export type Status = (typeof statuses)[number]

/** The fields that decide a message's state. */
export type RetryState = {
  readonly status: Status
  /** Attempts made; while RETRYING, the running one included. It never falls, except when an attempt is given back. */
  readonly retry_count: number
  readonly max_retries: number
  /** Null: retried only when somebody asks. */
  readonly next_retry_at: Date | null
}

export type MessageEvent =
  /** A retrier claimed it, to publish it. */
  | { readonly type: 'claimed' }
  /** Its record is in the original topic. */
  | { readonly type: 'published' }
  /** Kafka refused this record; `permanent`: it would refuse the next attempt too. */
  | { readonly type: 'refused'; readonly permanent: boolean }
  /** Nothing was sent, for no fault of the message: the attempt is not counted. */
  | { readonly type: 'released' }
  /** A re-failure arrived: attempt number `attempt` of this message failed. */
  | { readonly type: 'failed_again'; readonly attempt: number }
  /** Its consumer group failed on the same record when that was republished for another group. */
  | { readonly type: 'failed_beside' }
  | { readonly type: 'retry_requested' }
  /** Somebody demands one more attempt, in spite of budget and state. */
  | { readonly type: 'retry_forced' }
  /** Somebody gave it up. */
  | { readonly type: 'marked_dead' }
  /** Somebody wants a DEAD message to be retried by its policy again. */
  | { readonly type: 'revived' }

export type Deciding = { readonly policy: RetryPolicy; readonly now: Date; readonly random: number }

/** Whether an attempt may be made: the specification's is_retryable(). */
export function isRetryable({
  status,
  retry_count: retryCount,
  max_retries: maxRetries,
}: Omit<RetryState, 'next_retry_at'>): boolean {
  if (status === 'RETRYING') return true
  return status === 'PENDING' && retryCount < maxRetries
}

/** The state after the event, or null where the event cannot happen in this state and changes nothing. */
export function nextState(
  state: RetryState,
  event: MessageEvent,
  { policy, now, random }: Deciding,
): RetryState | null {
  const { status, retry_count: retryCount, max_retries: maxRetries } = state
  const waiting = (retryCount: number): RetryState => ({
    ...state,
    status: 'PENDING',
    retry_count: retryCount,
    next_retry_at: nextRetryAt(policy, retryCount, now, random),
  })
  const afterFailure = (retryCount: number): RetryState =>
    retryCount >= maxRetries
      ? { ...state, status: 'DEAD', retry_count: retryCount, next_retry_at: null }
      : waiting(retryCount)

  switch (event.type) {
    case 'retry_requested':
      return status === 'PENDING' && isRetryable(state) ? { ...state, next_retry_at: now } : null
    case 'retry_forced':
      if (status === 'RETRYING') return null
      return {
        status: 'PENDING',
        retry_count: retryCount,
        max_retries: Math.max(maxRetries, retryCount + 1),
        next_retry_at: now,
      }
    case 'marked_dead':
      return status === 'PENDING' ? { ...state, status: 'DEAD', next_retry_at: null } : null
    case 'revived': {
      if (status !== 'DEAD') return null
      // The message gets its whole budget again; the waits begin with the first.
      const budget = retryCount < maxRetries ? maxRetries : retryCount + policy.maxRetries
      return { ...state, status: 'PENDING', max_retries: budget, next_retry_at: nextRetryAt(policy, 0, now, random) }
    }
    case 'claimed':
      return status === 'PENDING' && isRetryable(state) && state.next_retry_at !== null && state.next_retry_at <= now
        ? { ...state, status: 'RETRYING', retry_count: retryCount + 1 }
        : null
    case 'published':
      return status === 'RETRYING' ? { ...state, status: 'RESOLVED', next_retry_at: null } : null
    case 'refused': {
      if (status !== 'RETRYING') return null
      const failed = afterFailure(retryCount)
      return event.permanent ? { ...failed, next_retry_at: null } : failed
    }
    case 'released':
      return status === 'RETRYING'
        ? { ...state, status: 'PENDING', retry_count: retryCount - 1, next_retry_at: now }
        : null
    case 'failed_again':
      // An older attempt's failure that arrives late says nothing about the newest attempt.
      if (event.attempt < retryCount) return null
      // A higher number: the attempt was given back as unknown, or the database was restored; the attempt was made.
      if (event.attempt === retryCount && (status === 'PENDING' || status === 'DEAD')) return null
      return status === 'DEAD' ? { ...state, retry_count: event.attempt } : afterFailure(event.attempt)
    case 'failed_beside':
      // Whatever waits or is being sent goes on; no attempt of its own was made.
      return status === 'RESOLVED' ? afterFailure(retryCount) : null
  }
}
