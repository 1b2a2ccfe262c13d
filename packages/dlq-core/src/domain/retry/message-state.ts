// A dead letter's life: what may happen to it in which state, and what it is afterwards.
// Decisions only; the queries carry them out, and settle races by their where-clauses.

import { nextRetryAt, type RetryPolicy } from './retry-policy.ts'

export const statuses = ['PENDING', 'RETRYING', 'RESOLVED', 'DEAD'] as const
export type Status = (typeof statuses)[number]

/** The part of a message that its life is about. */
export type RetryState = {
  readonly status: Status
  /** Attempts made; while RETRYING, the running one included. It never falls, except when an attempt is given back. */
  readonly retryCount: number
  readonly maxRetries: number
  /** Null: only when somebody asks. */
  readonly nextRetryAt: Date | null
}

export type MessageEvent =
  /** A retrier took it, to publish it. */
  | { readonly type: 'claimed' }
  /** Its record is in the original topic. */
  | { readonly type: 'published' }
  /** Kafka refused this record; `permanent` where the next attempt would be refused too. */
  | { readonly type: 'refused'; readonly permanent: boolean }
  /** Nothing was sent, and nobody's fault: the attempt is given back. */
  | { readonly type: 'released' }
  /** A dead letter came in that is attempt number `attempt` of this message, failed again. */
  | { readonly type: 'failed_again'; readonly attempt: number }
  | { readonly type: 'retry_requested' }
  /** Somebody insists on one more attempt, whatever the budget and the state say. */
  | { readonly type: 'retry_forced' }
  /** Somebody gave it up. */
  | { readonly type: 'marked_dead' }
  /** Somebody wants what is DEAD to be retried by its policy again. */
  | { readonly type: 'revived' }

export type Deciding = { readonly policy: RetryPolicy; readonly now: Date; readonly random: number }

/** Whether an attempt may be made: the specification's is_retryable(). */
export function isRetryable({ status, retryCount, maxRetries }: Omit<RetryState, 'nextRetryAt'>): boolean {
  if (status === 'RETRYING') return true
  return status === 'PENDING' && retryCount < maxRetries
}

/** The state after the event, or null where the event cannot happen in this state and changes nothing. */
export function nextState(
  state: RetryState,
  event: MessageEvent,
  { policy, now, random }: Deciding,
): RetryState | null {
  const { status, retryCount, maxRetries } = state
  const waiting = (retryCount: number): RetryState => ({
    ...state,
    status: 'PENDING',
    retryCount,
    nextRetryAt: nextRetryAt(policy, retryCount, now, random),
  })
  const afterFailure = (retryCount: number): RetryState =>
    retryCount >= maxRetries ? { ...state, status: 'DEAD', retryCount, nextRetryAt: null } : waiting(retryCount)

  switch (event.type) {
    case 'retry_requested':
      return status === 'PENDING' && isRetryable(state) ? { ...state, nextRetryAt: now } : null
    case 'retry_forced':
      if (status === 'RETRYING') return null
      return { status: 'PENDING', retryCount, maxRetries: Math.max(maxRetries, retryCount + 1), nextRetryAt: now }
    case 'marked_dead':
      return status === 'PENDING' ? { ...state, status: 'DEAD', nextRetryAt: null } : null
    case 'revived': {
      if (status !== 'DEAD') return null
      // A spent budget is given anew; the waits begin with the first.
      const budget = retryCount < maxRetries ? maxRetries : retryCount + policy.maxRetries
      return { ...state, status: 'PENDING', maxRetries: budget, nextRetryAt: nextRetryAt(policy, 0, now, random) }
    }
    case 'claimed':
      return status === 'PENDING' && isRetryable(state) && state.nextRetryAt !== null && state.nextRetryAt <= now
        ? { ...state, status: 'RETRYING', retryCount: retryCount + 1 }
        : null
    case 'published':
      return status === 'RETRYING' ? { ...state, status: 'RESOLVED', nextRetryAt: null } : null
    case 'refused': {
      if (status !== 'RETRYING') return null
      const failed = afterFailure(retryCount)
      return event.permanent ? { ...failed, nextRetryAt: null } : failed
    }
    case 'released':
      return status === 'RETRYING'
        ? { ...state, status: 'PENDING', retryCount: retryCount - 1, nextRetryAt: now }
        : null
    case 'failed_again':
      // An older attempt's failure that arrives late says nothing about the newest attempt.
      if (event.attempt < retryCount) return null
      // A higher number: the attempt was given back as unknown, or the database restored from a backup; but it was made.
      if (event.attempt === retryCount && (status === 'PENDING' || status === 'DEAD')) return null
      return status === 'DEAD' ? { ...state, retryCount: event.attempt } : afterFailure(event.attempt)
  }
}
