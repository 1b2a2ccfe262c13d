// Tells people why a message may not be retried, and why a message that may be retried is not sent yet.

import { notAllowed } from 'dlq-core/domain/failure/topic-routes.ts'
import { type OriginState, originStateOf } from 'dlq-core/domain/origin/origin-state.ts'
import { isRetryable, type Status } from 'dlq-core/domain/retry/message-state.ts'
import type { RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import type { HeldMessage } from 'dlq-core/queries/change/message-change.ts'

export type RetryFacts = {
  readonly status: Status
  readonly retryCount: number
  readonly maxRetries: number
  readonly nextRetryAt: Date | null
  readonly retryRequested: boolean
  readonly archived: boolean
  /** It is RETRYING, and no retrier and no lease holds it. */
  readonly unheld: boolean
  /** It came from a DLQ topic that does not say for certain where it failed. */
  readonly topicUncertain: boolean
  /** Why Kafka refused its last attempt; null where it did not. */
  readonly lastRefusal: string | null
  /** Why automatic retries of its error group are paused; null where they are not. */
  readonly groupPaused: string | null
  /** Which of its topics somebody has paused, by whom and why; `why` is null for who may not know. */
  readonly topicsPaused: readonly { readonly topic: string; readonly why: string | null }[]
  /** Why the retriers hold the topic that it would be sent to; null where they do not. */
  readonly topicHeld: { readonly topic: string; readonly reason: string } | null
  /** Why its route holds it; null where it does not. */
  readonly routeClosed: string | null
  /** What is known of its original, where somebody has compared. */
  readonly origin: { readonly state: OriginState; readonly isHeld: boolean } | null
  /** Where its policy holds what is not fresh: what speaks against sending it. */
  readonly stale: string | null
  /** The size of its value, where that was too large to be stored. */
  readonly unstoredValueBytes: bigint | null
  /** SQL has written into `record_headers` what are no headers. */
  readonly headersUnreadable: boolean
}

/** Why a message cannot be sent. */
export function valueIsNotStored(bytes: bigint): string {
  return `message cannot be sent: its value of ${bytes} bytes was too large to be stored; give it another value first`
}

/** Null where it may be retried. The wording is the specification's. */
export function whyNotRetryable(facts: RetryFacts): string | null {
  const { routeClosed, origin } = facts
  if (routeClosed) return whyNotPossible(facts) ?? whyHeldByRoute(routeClosed)
  if (origin?.isHeld) return whyNotPossible(facts) ?? whyHeldForOrigin(origin.state)
  return whyNotPossible(facts) ?? (facts.stale === null ? null : whyStale(facts.stale))
}

function whyNotPossible(facts: RetryFacts): string | null {
  const { status, retryCount, maxRetries, archived, unheld, unstoredValueBytes, headersUnreadable } = facts
  if (archived) return 'message is archived; restore it first'
  if (unstoredValueBytes !== null) return valueIsNotStored(unstoredValueBytes)
  if (headersUnreadable)
    return 'message cannot be sent: its headers were changed by SQL and cannot be read; give it other headers first'
  if (isRetryable({ status: unheld ? 'PENDING' : status, retry_count: retryCount, max_retries: maxRetries }))
    return null
  return `message is not retryable: status=${status}, retry_count=${retryCount}/${maxRetries}`
}

/** Reasons for which a retryable message waits; empty where only its time has not come. */
export function heldUpBy(facts: RetryFacts, policy: Pick<RetryPolicy, 'paused' | 'autoRetry' | 'delivery'>): string[] {
  if (whyNotPossible(facts) !== null) return []
  if (facts.unheld) return [nobodyHoldsIt]
  if (facts.status !== 'PENDING') return []
  const reasons: string[] = []
  if (policy.paused) reasons.push('the policy pauses the topic')
  for (const { topic, why } of facts.topicsPaused) reasons.push(`topic ${topic} is paused ${why ?? 'by somebody'}`)
  if (policy.delivery === 'pull')
    reasons.push('its application has to claim it: the policy says that it retries by itself')
  if (facts.topicHeld !== null && policy.delivery !== 'pull') {
    const { topic, reason } = facts.topicHeld
    reasons.push(`records for ${topic} are refused, so it is only probed: ${reason}`)
  }
  if (facts.groupPaused !== null && !facts.retryRequested && policy.delivery !== 'pull')
    reasons.push(`automatic retries of the error group are paused: ${facts.groupPaused}`)
  if (facts.routeClosed !== null) reasons.push(facts.routeClosed)
  else if (facts.origin?.isHeld && !facts.retryRequested) reasons.push(whyHeldForOrigin(facts.origin.state))
  else if (facts.stale !== null && !facts.retryRequested) reasons.push(whyStale(facts.stale))
  else if (facts.nextRetryAt === null) reasons.push(whyUnscheduled(facts, policy))
  return reasons
}

/** Why a message gets no time for its retry: its route holds it, or it waits for its original. */
export function whyHeld({
  dlq_topic,
  original_topic,
  held_by_route,
  origin_state,
}: Pick<HeldMessage, 'dlq_topic' | 'original_topic' | 'held_by_route' | 'origin_state'>): string {
  const origin = originStateOf(origin_state)
  if (held_by_route || origin === null) return whyHeldByRoute(notAllowed({ dlq_topic: dlq_topic!, original_topic }))
  return whyHeldForOrigin(origin.state)
}

function whyHeldByRoute(routeClosed: string): string {
  return `${routeClosed}; approve the route, or force the retry`
}

/** Why a policy holds a message. */
export function whyStale(stale: string): string {
  return `the policy holds it: ${stale}; force the retry with a reason`
}

/** Why a message is sent by force only. It begins with the state's name, for programs. */
export function whyHeldForOrigin(state: OriginState): string {
  const way = originWays[state] === null ? '' : `${originWays[state]}, `
  return `${state}: ${originHolds[state]}; ${way}edit the value, or force the retry with a reason`
}

const originHolds: Readonly<Record<OriginState, string>> = {
  value_lost: 'the dead letter has no value, but the record that failed has one, and without it a retry would delete',
  wanted: 'the record that failed could not be read yet, and is looked for again',
  unreachable: 'the record that failed could not be read, so nobody knows what it held',
  gone: 'the record that failed is gone, so nobody knows what it held',
  mismatch: 'another record stands where the one that failed stood',
  unproved: 'nothing proves that the record at the original place is the one that failed',
  same: 'the record that failed holds the same',
  different: 'the record that failed holds something else',
}

/** What can be done with the original itself: only one that was found can be adopted. */
const originWays: Readonly<Record<OriginState, string | null>> = {
  value_lost: 'adopt the original',
  wanted: 'wait for it',
  unreachable: 'compare again',
  gone: null,
  mismatch: null,
  unproved: 'adopt the original',
  same: null,
  different: 'adopt the original',
}

const nobodyHoldsIt =
  'it is RETRYING, but no retrier and no application holds it: a retrier makes it PENDING five minutes after its last change; a retry does so at once'

function whyUnscheduled(
  { topicUncertain, lastRefusal }: RetryFacts,
  { autoRetry }: Pick<RetryPolicy, 'autoRetry'>,
): string {
  if (!autoRetry) return 'the policy retries nothing by itself'
  if (topicUncertain) return 'it is not retried by itself: its original topic is not certain'
  if (lastRefusal !== null) return `it is not retried by itself: its last attempt was refused: ${lastRefusal}`
  return 'it is not retried by itself: it was taken off the schedule, or the policy retried nothing by itself when it came'
}
