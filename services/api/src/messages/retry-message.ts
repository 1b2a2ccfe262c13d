// A retry that a client asks for: marks the message due, then waits a little for the outcome. Only retriers publish.

import { setTimeout as sleep } from 'node:timers/promises'
import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { notAllowed } from 'dlq-core/domain/failure/topic-routes.ts'
import { originStateOf } from 'dlq-core/domain/origin/origin-state.ts'
import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import { targetOf } from 'dlq-core/domain/retry/fill-target.ts'
import type { RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { topicsOfMessage } from 'dlq-core/queries/change/audit.ts'
import type { HeldMessage } from 'dlq-core/queries/change/message-change.ts'
import { getMessage, getOutlook } from 'dlq-core/queries/reading/message-view.ts'
import { getAttempt, requestAttempt } from 'dlq-core/queries/retry/attempts.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { listStaleness } from 'dlq-core/queries/staleness/answers.ts'
import { forceStale } from 'dlq-core/queries/staleness/hold-stale.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import { refuseWithoutKafka } from '../fleet/refuse-without-kafka.ts'
import { ApiError, notFound } from '../http/api-error.ts'
import type { ApiDeps, Call } from '../http/define-route.ts'
import { shownText } from '../masks/shown.ts'
import { pollPause } from '../request/poll-pause.ts'
import { type Asked, changeState, holdAsSeen } from './change-message.ts'
import { staleWords } from './staleness-json.ts'
import { whyHeld, whyHeldForOrigin, whyStale } from './why-not-retried.ts'

const pollMs = 25

export type RetryRequest = Asked & {
  /** Overrides the state and the budget. */
  force: boolean
  waitMs: number
  signal: AbortSignal
}

export type RetryAnswer = { done: boolean; body: { id: string; status: string; message: string } }

/**
 * @throws {ApiError} 404 where there is no such message, 409 where it may not be retried, 412 where it is not as
 *   the sender saw it, 409 SYS_DLQ_PUBLISH_REFUSED where it was not sent, 503 where no retrier has Kafka configured
 */
export async function retryMessage(
  deps: Pick<Call, 'sql' | 'now' | 'policies' | 'wakeRetriers' | 'sight'>,
  request: RetryRequest,
): Promise<RetryAnswer> {
  const { sql, wakeRetriers } = deps
  const { id, scope, waitMs, signal } = request
  const startedAt = monotonicNow()
  const deadline = startedAt + waitMs
  const { number, policy } = await requestNext(deps, request)
  wakeRetriers()
  for (;;) {
    const attempt = await getAttempt(sql, { message_id: id, number })
    if (attempt?.outcome === 'published' || attempt?.outcome === 'resolved')
      return { done: true, body: { id, status: 'RESOLVED', message: 'message retry initiated' } }
    if (attempt?.outcome === 'failed') {
      const why = shownText(attempt.error, deps.sight, await topicsOfMessage(sql, id))
      throw refused(await getOutlook(sql, { id, scope }), why)
    }
    // A retrier may have found only now that the policy holds it.
    if (policy.staleness === 'hold' && !request.force) await refuseStale(sql, id)
    if (monotonicNow() + pollMs > deadline || signal.aborted) {
      const message = await getMessage(sql, { id, scope })
      if (!message) throw notFound(id)
      return {
        done: false,
        body: { id, status: message.status, message: 'message retry accepted; no retrier has settled it yet' },
      }
    }
    await sleep(pollPause({ startedAt, deadline, pollMs }))
  }
}

type Outlook = Awaited<ReturnType<typeof getOutlook>>

function refused(message: Outlook, error: string | null): ApiError {
  const reason = error ?? 'no reason was given'
  const status = message?.status ?? 'deleted'
  const next = whatComesNext(message)
  return new ApiError('SYS_DLQ_PUBLISH_REFUSED', `message was not sent: ${reason}. It is ${status}: ${next}`, [
    { field: 'reason', message: reason },
    { field: 'status', message: status },
    { field: 'next', message: next },
  ])
}

function whatComesNext(message: Outlook): string {
  if (message === null) return 'somebody deleted it meanwhile'
  if (message.status === 'DEAD') return 'no attempts are left; repair the cause, then force a retry'
  if (message.status === 'PENDING' && message.next_retry_at === null)
    return 'it is not tried again by itself; repair the cause, then retry it'
  if (message.status === 'PENDING') return `it is tried again at ${message.next_retry_at!.toISOString()}`
  return 'somebody asked for another attempt meanwhile'
}

/** Marks the message due. Returns the number of the attempt that this will be, or that is under way. */
async function requestNext(
  { sql, now, policies }: Pick<ApiDeps, 'sql' | 'now' | 'policies'>,
  request: RetryRequest,
): Promise<{ number: number; policy: RetryPolicy }> {
  const { id, force, by } = request
  await policies.refresh()
  return sql.begin(async (sql) => {
    const message = await holdAsSeen(sql, request)
    const policy = policies.policyOf(message)
    if (message.status === 'RETRYING') return { number: message.retry_count, policy }
    const [event, action] = force
      ? (['retry_forced', 'message.retry_forced'] as const)
      : (['retry_requested', 'message.retry'] as const)
    if (message.held_by_route) refuseHeld(message, { ...request, redirectTopic: policy.redirectTopic })
    const origin = originStateOf(message.origin_state)
    if (origin?.isHeld && !force) throw new ApiError('SYS_DLQ_CONFLICT', whyHeldForOrigin(origin.state))
    if (policy.staleness === 'hold' && targetOf(message, policy) === message.original_topic) {
      if (force) await forceStale(sql, { id, attempt: message.retry_count + 1 })
      else await refuseStale(sql, id)
    }
    await changeState(sql, message, { event, action, asked: request, policies, now: now() })
    if (policy.delivery !== 'pull') await refuseWithoutKafka(sql)
    const number = message.retry_count + 1
    await requestAttempt(sql, { message_id: id, number, attempt_id: deriveAttemptId(id, number), actor: by.actor })
    return { number, policy }
  })
}

/** A message that its policy holds is sent only if it is forced. */
async function refuseStale(sql: Sql, id: string): Promise<void> {
  const [known = null] = await listStaleness(sql, [id])
  const stale = staleWords({ policy: 'hold', known })
  if (stale !== null) throw new ApiError('SYS_DLQ_CONFLICT', whyStale(stale))
}

/** A message whose route is not open is sent only if it is forced, by somebody who may send to its target. */
function refuseHeld(
  message: HeldMessage,
  { force, scope, redirectTopic }: Pick<RetryRequest, 'force' | 'scope'> & { redirectTopic: string | null },
): void {
  const { original_topic, dlq_topic } = message
  const target = targetOf(message, { redirectTopic })
  const why = notAllowed({ dlq_topic: dlq_topic!, original_topic })
  if (!force) throw new ApiError('SYS_DLQ_CONFLICT', whyHeld(message))
  if (scope !== null && !matchesTopicGlobs(scope, target))
    throw new ApiError('SYS_DLQ_FORBIDDEN', `${why}; to force it needs a token whose topics include ${target}`)
}
