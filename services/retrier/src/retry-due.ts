// Claim, publish and settle are separate steps, so that no database transaction is open while Kafka
// answers. What a crash in between leaves behind is given back when its lease expires.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { nextState } from 'dlq-core/message.ts'
import { deriveAttemptId } from 'dlq-core/message-id.ts'
import { type SettledAttempt, settleAttempts } from 'dlq-core/queries/attempts.ts'
import { type ClaimedMessage, claimDueMessages, refuseMessage, releaseMessages, resolveMessages } from 'dlq-core/queries/message-retry.ts'
import { toRepublishedRecord } from 'dlq-core/republished-record.ts'
import type { RetryPolicy } from 'dlq-core/retry-policy.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { Outgoing, PublishOutcome, Publisher } from './publisher.ts'
import type { RetrierMetrics } from './retrier-metrics.ts'

export type RetryDeps = {
  sql: Database
  publisher: Publisher
  metrics: RetrierMetrics
  log: Log
  policy: RetryPolicy
  batchSize: number
  leaseMs: number
  now: () => Date
  random: () => number
}

export type RetryCounts = { more: boolean; published: number; refused: number; released: number }

/**
 * One batch: claims what is due, publishes it, settles it.
 *
 * @throws {DlqError} KAFKA_UNAVAILABLE after giving back what could not be sent; no attempt is counted for it
 */
export async function retryDue(deps: RetryDeps): Promise<RetryCounts> {
  const { sql, publisher, metrics, batchSize, leaseMs } = deps
  // After an outage, ask first: claiming and giving back would write every row twice for nothing.
  await publisher.ready()
  const token = randomUUID()
  const deadline = Date.now() + leaseMs
  const claimed = await claimDueMessages(sql, { token, leaseMs, limit: batchSize })
  if (claimed.length === 0) return { more: false, published: 0, refused: 0, released: 0 }

  metrics.inFlight.inc(claimed.length)
  try {
    const stop = metrics.publishSeconds.startTimer()
    const outcomes = await publishClaimed(publisher, claimed)
    stop()
    const counts = await untilSettled(deps, { token, claimed, outcomes, deadline })
    const unsent = outcomes.find((outcome) => outcome.kind === 'unsent')
    if (unsent?.kind === 'unsent') {
      throw new DlqError('KAFKA_UNAVAILABLE', `Kafka did not take the records: ${unsent.error.message}`, { cause: unsent.error })
    }
    return { more: claimed.length >= batchSize, ...counts }
  } finally {
    metrics.inFlight.dec(claimed.length)
  }
}

async function publishClaimed(publisher: Publisher, claimed: readonly ClaimedMessage[]): Promise<PublishOutcome[]> {
  const outgoing: Outgoing[] = []
  const broken: PublishOutcome[] = []
  for (const message of claimed) {
    const { id, original_topic: topic, original_partition: partition } = message
    try {
      const { key, value, headers } = toRepublishedRecord(message)
      outgoing.push({ id, topic, partition, key, value, headers })
    } catch (error) {
      // A row changed by hand may not be a record any more. It waits for a person; the others go.
      broken.push({ id, kind: 'refused', permanent: true, reason: `the stored record cannot be rebuilt: ${(error as Error).message}` })
    }
  }
  return [...broken, ...(await publisher.publish(outgoing))]
}

type Settling = { token: string; claimed: readonly ClaimedMessage[]; outcomes: readonly PublishOutcome[]; deadline: number }

/** Settles, however often the database fails, until the lease ends: what is published must not be sent again for a blip. */
async function untilSettled(deps: RetryDeps, settling: Settling) {
  for (let backoffMs = 100; ; backoffMs = Math.min(backoffMs * 2, 2000)) {
    try {
      return await settle(deps, settling)
    } catch (error) {
      if (Date.now() + backoffMs > settling.deadline) throw error
      deps.log.warn({ error, backoffMs }, 'settle_failed')
      await sleep(backoffMs)
    }
  }
}

async function settle({ sql, metrics, log, policy, now, random }: RetryDeps, { token, claimed, outcomes }: Settling) {
  const messages = new Map(claimed.map((message) => [message.id, message]))
  const published = outcomes.filter((outcome) => outcome.kind === 'published')
  const refused = outcomes.filter((outcome) => outcome.kind === 'refused')
  const unsent = outcomes.filter((outcome) => outcome.kind === 'unsent')

  const resolved = await sql.begin(async (sql) => {
    const resolved = await resolveMessages(sql, { token, ids: published.map(({ id }) => id) })
    for (const { id, permanent } of refused) {
      const { retry_count: retryCount, max_retries: maxRetries } = messages.get(id)!
      const state = { status: 'RETRYING', retryCount, maxRetries, nextRetryAt: null } as const
      const after = nextState(state, { type: 'refused', permanent }, { policy, now: now(), random: random() })!
      await refuseMessage(sql, { token, id, status: after.status as 'PENDING' | 'DEAD', next_retry_at: after.nextRetryAt })
    }
    if (unsent.length > 0) await releaseMessages(sql, { token, ids: unsent.map(({ id }) => id) })
    await settleAttempts(sql, {
      attempts: [...published, ...refused].map((outcome) => toAttempt(messages.get(outcome.id)!, outcome)),
    })
    return resolved
  })
  metrics.attempts.inc({ outcome: 'published' }, published.length)
  metrics.attempts.inc({ outcome: 'refused' }, refused.length)
  metrics.attempts.inc({ outcome: 'released' }, unsent.length)
  // Not every one that is missing was lost: its dead letter may have come back before this statement.
  if (resolved.length < published.length) log.info({ published: published.length, resolved: resolved.length }, 'settled_elsewhere')
  for (const { id, reason } of refused) log.warn({ messageId: id, reason }, 'message_refused')
  return { published: published.length, refused: refused.length, released: unsent.length }
}

function toAttempt(message: ClaimedMessage, outcome: PublishOutcome & { kind: 'published' | 'refused' }): SettledAttempt {
  const published = outcome.kind === 'published' ? outcome : null
  return {
    message_id: message.id,
    number: message.retry_count,
    attempt_id: deriveAttemptId(message.id, message.retry_count),
    outcome: published ? 'published' : 'failed',
    target_topic: message.original_topic,
    target_partition: published?.partition ?? null,
    target_offset: published?.offset ?? null,
    error: outcome.kind === 'refused' ? outcome.reason : null,
  }
}
