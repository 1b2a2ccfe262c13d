// Why a message may not be retried, and why one that may is not being sent yet: in words, for those who look at it.

import { isRetryable, type Status } from './message.ts'
import type { RetryPolicy } from './retry-policy.ts'

export type RetryFacts = {
  readonly status: Status
  readonly retryCount: number
  readonly maxRetries: number
  readonly nextRetryAt: Date | null
  readonly retryRequested: boolean
  readonly archived: boolean
  /** Why automatic retries of its error group are paused; null where they are not. */
  readonly groupPaused: string | null
}

/** Null where it may be retried. The wording is the specification's. */
export function whyNotRetryable({ status, retryCount, maxRetries, archived }: RetryFacts): string | null {
  if (archived) return 'message is archived; restore it first'
  if (isRetryable({ status, retryCount, maxRetries })) return null
  return `message is not retryable: status=${status}, retry_count=${retryCount}/${maxRetries}`
}

/** What keeps a message waiting that may be retried; empty where it only waits for its time. */
export function heldUpBy(facts: RetryFacts, policy: Pick<RetryPolicy, 'paused' | 'autoRetry' | 'delivery'>): string[] {
  if (whyNotRetryable(facts) !== null || facts.status !== 'PENDING') return []
  const reasons: string[] = []
  if (policy.paused) reasons.push('the policy pauses the topic')
  if (policy.delivery === 'pull')
    reasons.push('its application has to claim it: the policy says that it retries by itself')
  if (facts.groupPaused !== null && !facts.retryRequested && policy.delivery !== 'pull')
    reasons.push(`automatic retries of the error group are paused: ${facts.groupPaused}`)
  if (facts.nextRetryAt === null)
    reasons.push(
      policy.autoRetry
        ? 'it is not retried by itself: its original topic is not certain, or somebody has taken it off the schedule'
        : 'the policy retries nothing by itself',
    )
  return reasons
}
