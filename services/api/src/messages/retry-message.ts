// A retry that somebody asks for: mark the message due, then wait a little for what comes of it.
// Only the retrier publishes.

import { setTimeout as sleep } from 'node:timers/promises'
import { deriveAttemptId } from 'dlq-core/message-id.ts'
import { getAttempt, requestAttempt } from 'dlq-core/queries/attempts.ts'
import { getMessage } from 'dlq-core/queries/message-read.ts'
import { notFound } from './api-error.ts'
import { type Asked, changeState, holdAsSeen } from './change-message.ts'
import type { ApiDeps } from './define-route.ts'
import { refuseWithoutKafka } from './refuse-without-kafka.ts'

const pollMs = 25

export type RetryRequest = Asked & {
  /** Override the state and the budget. */
  force: boolean
  waitMs: number
  signal: AbortSignal
}

export type RetryAnswer = { done: boolean; body: { id: string; status: string; message: string } }

/**
 * @throws {ApiError} 404 where there is no such message, 409 where it may not be retried, 412 where it is not as
 *   the asker saw it, 503 where no retrier has a Kafka
 */
export async function retryMessage(
  deps: Pick<ApiDeps, 'sql' | 'policies' | 'wakeRetriers'>,
  request: RetryRequest,
): Promise<RetryAnswer> {
  const { sql, wakeRetriers } = deps
  const { id, scope, waitMs, signal } = request
  const deadline = Date.now() + waitMs
  const number = await requestNext(deps, request)
  wakeRetriers()
  for (;;) {
    const attempt = await getAttempt(sql, { message_id: id, number })
    if (attempt?.outcome === 'published' || attempt?.outcome === 'resolved')
      return { done: true, body: { id, status: 'RESOLVED', message: 'message retry initiated' } }
    if (attempt?.outcome === 'failed') {
      const message = await getMessage(sql, { id, scope })
      return {
        done: true,
        body: { id, status: message?.status ?? 'PENDING', message: `message retry failed: ${attempt.error}` },
      }
    }
    if (Date.now() + pollMs > deadline || signal.aborted) {
      const message = await getMessage(sql, { id, scope })
      if (!message) throw notFound(id)
      return {
        done: false,
        body: { id, status: message.status, message: 'message retry accepted; no retrier has settled it yet' },
      }
    }
    await sleep(pollMs)
  }
}

/** Marks the message due. Returns the number of the attempt that this will be, or that is under way. */
async function requestNext(
  { sql, policies }: Pick<ApiDeps, 'sql' | 'policies'>,
  request: RetryRequest,
): Promise<number> {
  const { id, force, by } = request
  await policies.refresh()
  return sql.begin(async (sql) => {
    const message = await holdAsSeen(sql, request)
    if (message.status === 'RETRYING') return message.retryCount
    const [event, action] = force
      ? (['retry_forced', 'message.retry_forced'] as const)
      : (['retry_requested', 'message.retry'] as const)
    await changeState(sql, message, { event, action, asked: request, policies, now: new Date() })
    const { policy } = policies.policyFor({ originalTopic: message.original_topic, dlqTopic: message.dlq_topic })
    if (policy.delivery !== 'pull') await refuseWithoutKafka(sql)
    const number = message.retryCount + 1
    await requestAttempt(sql, { message_id: id, number, attempt_id: deriveAttemptId(id, number), actor: by.actor })
    return number
  })
}
