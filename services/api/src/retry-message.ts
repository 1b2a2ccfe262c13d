// A retry that somebody asks for: mark the message due, then wait a little for what comes of it.
// Only the retrier publishes.

import { setTimeout as sleep } from 'node:timers/promises'
import { isRetryable } from 'dlq-core/message.ts'
import { deriveAttemptId } from 'dlq-core/message-id.ts'
import { getAttempt, requestAttempt } from 'dlq-core/queries/attempts.ts'
import { writeAudit } from 'dlq-core/queries/audit.ts'
import { getMessage, type MessageView } from 'dlq-core/queries/message-read.ts'
import { requestRetry } from 'dlq-core/queries/message-retry.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { ApiError, notFound } from './api-error.ts'
import { refuseWithoutKafka } from './refuse-without-kafka.ts'

const pollMs = 25

export type RetryRequest = {
  id: string
  scope: TopicScope
  by: { actor: string; role: string; request_id: string }
  waitMs: number
  signal: AbortSignal
  wakeRetriers: () => void
}

export type RetryAnswer = { done: boolean; body: { id: string; status: string; message: string } }

/** @throws {ApiError} 404 where there is no such message, 409 where it may not be retried, 503 where no retrier has a Kafka */
export async function retryMessage(
  sql: Database,
  { id, scope, by, waitMs, signal, wakeRetriers }: RetryRequest,
): Promise<RetryAnswer> {
  const deadline = Date.now() + waitMs
  const number = await request(sql, { id, scope, by })
  wakeRetriers()
  for (;;) {
    const attempt = await getAttempt(sql, { message_id: id, number })
    if (attempt?.outcome === 'published')
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

/** Marks the message due. Returns the number of the attempt that this will be. */
async function request(sql: Database, { id, scope, by }: Pick<RetryRequest, 'id' | 'scope' | 'by'>): Promise<number> {
  return sql.begin(async (sql) => {
    // Twice, because a retrier may claim or settle the message between the read and the update.
    for (let tries = 0; ; tries += 1) {
      const message = await getMessage(sql, { id, scope })
      if (!message) throw notFound(id)
      if (!isRetryable({ status: message.status, retryCount: message.retry_count, maxRetries: message.max_retries }))
        throw notRetryable(message)
      if (message.status === 'RETRYING') return message.retry_count
      await refuseWithoutKafka(sql)
      if (await requestRetry(sql, id)) {
        const number = message.retry_count + 1
        await requestAttempt(sql, { message_id: id, number, attempt_id: deriveAttemptId(id, number), actor: by.actor })
        const { original_topic } = message
        await writeAudit(sql, { ...by, original_topic, action: 'message.retry', target_type: 'message', target_id: id })
        return number
      }
      if (tries === 1) throw notRetryable(message)
    }
  })
}

function notRetryable({ status, retry_count, max_retries }: MessageView): ApiError {
  return new ApiError(
    'SYS_DLQ_CONFLICT',
    `message is not retryable: status=${status}, retry_count=${retry_count}/${max_retries}`,
  )
}
