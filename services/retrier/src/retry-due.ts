// One batch: claim, publish and settle are separate steps, so that no database transaction is open while
// Kafka answers. What a crash in between leaves behind is settled by recover-slot.ts.

import { randomUUID } from 'node:crypto'
import { type ClaimedMessage, claimBatch, lockTopicsInFlight, type TopicShare } from 'dlq-core/queries/batches.ts'
import { returnTokens } from 'dlq-core/queries/rate-limits.ts'
import { nextBatchSize } from './batch-size.ts'
import type { HeldSlot } from './hold-slot.ts'
import {
  areAllLimited,
  countClaimed,
  type PlanDeps,
  type PlanMemory,
  planClaim,
  rememberAppetite,
  tokensOf,
  unusedTokens,
} from './plan-claim.ts'
import { type PublishCounts, type PublishDeps, publishClaimed } from './publish-claimed.ts'
import type { SlotProducer } from './slot-producer.ts'

export type RetryDeps = PlanDeps &
  PublishDeps & {
    /** Messages of a batch at most. */
    batchSize: number
    maxBatchBytes: number
    /** What a batch should not take longer than, because what comes due meanwhile waits for it. */
    batchMs: number
  }

/** What belongs to one slot. */
export type SlotWork = { slot: HeldSlot; producer: SlotProducer; memory: PlanMemory }

/**
 * Claims, publishes and settles one batch.
 *
 * @throws {DlqError} KAFKA_UNAVAILABLE or KAFKA_FORBIDDEN after giving back what could not be sent, with no
 *   attempt counted; SLOT_LOST
 * @throws {UnsureError} where only the ledger knows; the batch is still claimed
 */
export async function retryDue(deps: RetryDeps, work: SlotWork): Promise<PublishCounts & { more: boolean }> {
  const { dueTopics, metrics, sql } = deps
  const { shares, grants } = await planClaim(deps, work.memory)
  const token = randomUUID()
  const since = performance.now()
  const claim = shares.length === 0 ? null : await claimShares(deps, work, { token, shares })
  const messages = claim?.messages ?? []
  const claimed = countClaimed(messages)
  rememberAppetite(work.memory, { shares, claimed })
  await returnTokens(sql, unusedTokens(grants, claimed))
  if (claim === null) {
    dueTopics.forget()
    return { more: false, published: 0, refused: 0, released: 0 }
  }

  const released: ClaimedMessage[] = []
  metrics.inFlight.inc(messages.length)
  try {
    const counts = await publishClaimed(deps, work, { ...claim, token, released })
    const batch = { size: work.memory.batchSize, claimed: messages.length, tookMs: performance.now() - since }
    work.memory.batchSize = nextBatchSize(batch, { mostMessages: deps.batchSize, targetMs: deps.batchMs })
    // Where only limited topics are due, asking again at once would not get more.
    return { more: !areAllLimited(shares, grants), ...counts }
  } finally {
    metrics.inFlight.dec(messages.length)
    // What was not sent takes nothing off the topic's rate, nor off its present run.
    if (released.length > 0) await returnTokens(sql, tokensOf(grants, countClaimed(released)))
  }
}

async function claimShares(
  { sql, maxBatchBytes }: RetryDeps,
  { slot: { slot, epoch } }: SlotWork,
  { token, shares }: { token: string; shares: readonly TopicShare[] },
) {
  const claim = { slot, epoch, token, shares, maxBytes: maxBatchBytes }
  const capped = shares.filter(({ maxInFlight }) => maxInFlight !== null).map(({ topic }) => topic)
  if (capped.length === 0) return claimBatch(sql, claim)
  return sql.begin(async (sql) => {
    await lockTopicsInFlight(sql, capped)
    return claimBatch(sql, claim)
  })
}
