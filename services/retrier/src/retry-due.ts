// One batch: claim, publish and settle are separate steps, so that no database transaction is open while Kafka
// answers. recover-slot.ts settles a batch that a crash left in between.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { claimBatch, lockTopicsInFlight, type TopicShare } from 'dlq-core/queries/retry/batches.ts'
import { type Grant, returnTokens } from 'dlq-core/queries/retry/rate-limits.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { type BatchPace, type BatchTime, nextBatchSize } from './batch-size.ts'
import type { ClaimTurns } from './claim/claim-turns.ts'
import { type PlanDeps, planClaim } from './claim/plan-claim.ts'
import {
  areAllLimited,
  type ClaimMemory,
  countClaimed,
  filledTopics,
  rememberAppetite,
  unusedTokens,
} from './claim/share-claims.ts'
import { type PublishCounts, type PublishDeps, publishClaimed } from './publish/publish-claimed.ts'
import type { SlotProducer } from './publish/slot-producer.ts'
import type { HeldSlot } from './slot/hold-slot.ts'

export type RetryDeps = PlanDeps &
  PublishDeps & {
    /** Of all slots of this process. */
    turns: ClaimTurns
    /** Messages of a batch at most. */
    batchSize: number
    maxBatchBytes: number
    /** A larger message is refused. */
    maxMessageBytes: number
    /** How long a batch should take at most: messages that come due meanwhile wait for its end. */
    batchMs: number
  }

/**
 * Messages come due while a batch is under way, and wait for its end: so batches grow slowly. They shrink to half of the
 * greatest size at least, because one slow batch may be an accident, and because each transaction has a fixed price: with
 * batches of a fifth, two processes on one busy machine sent less than one (decision 54). Only a fault makes them smaller
 * than that, by `sizeAfterFault`; from there they double.
 */
export function retryPace(
  { batchSize, batchMs }: Pick<RetryDeps, 'batchSize' | 'batchMs'>,
  size = batchSize,
): BatchPace {
  const half = Math.ceil(batchSize / 2)
  const growth = size < half ? 2 : 1.25
  return { targetMs: batchMs, least: Math.min(size, half), most: batchSize, growth }
}

/** A batch that fails after this many times `batchMs` may have been too large for Kafka. */
const slowFaultFactor = 10

/**
 * The size of the batch after one that failed. Where a quota holds a client back, the records of a batch may take longer
 * than a transaction may (decision 83): without smaller ones it would be aborted each time, and nothing ever sent.
 */
export function sizeAfterFault({ size, found, tookMs }: BatchTime, { batchMs }: Pick<RetryDeps, 'batchMs'>): number {
  return tookMs < slowFaultFactor * batchMs ? size : Math.max(1, Math.floor(Math.min(size, found) / 4))
}

/** The state of one slot. */
export type SlotWork = { slot: HeldSlot; producer: SlotProducer; memory: ClaimMemory }

/**
 * Claims, publishes and settles one batch. `more`: another batch may be due at once.
 *
 * @throws {DlqError} KAFKA_UNAVAILABLE, KAFKA_FORBIDDEN or TRANSACTION_PENDING after giving back what could not be sent,
 *   with no attempt counted; SLOT_LOST
 * @throws {CommitUnknownError} where only the ledger knows; the batch is still claimed
 */
export async function retryDue(deps: RetryDeps, work: SlotWork): Promise<PublishCounts & { more: boolean }> {
  const { dueTopics, turns, metrics, sql } = deps
  const { memory } = work
  const { shares, grants } = await planClaim(deps, memory)
  const token = randomUUID()
  let since = performance.now()
  const claimNow = () => {
    since = performance.now()
    return claimOrReturn(deps, work, { token, shares, grants })
  }
  const { asked, claim } = shares.length === 0 ? { asked: [], claim: null } : await turns.take(claimNow)
  const messages = claim?.messages ?? []
  const claimed = countClaimed(messages)
  rememberAppetite(memory, { shares: asked, claimed })
  dueTopics.learn(filledTopics(asked, claimed))
  await returnTokens(sql, unusedTokens(grants, claimed))
  if (claim === null) {
    dueTopics.forget()
    return { more: false, published: 0, refused: 0, released: 0 }
  }

  work.slot.used(claim.batch)
  metrics.inFlight.inc(messages.length)
  try {
    const { asideMs, ...counts } = await publishClaimed(deps, work, {
      batchNumber: claim.batch,
      token,
      messages,
      grants,
    })
    // Without the time that refusals took: smaller batches would not make them quicker.
    const batch = { size: memory.batchSize, found: messages.length, tookMs: performance.now() - since - asideMs }
    memory.batchSize = nextBatchSize(batch, retryPace(deps, memory.batchSize))
    // Asking again at once would not get more where only limited topics are due; where all was given back, it would get
    // the same: what a run holds is due whatever it waits for.
    const isMoving = counts.released < messages.length
    return { more: isMoving && !areAllLimited(asked, grants), ...counts }
  } catch (error) {
    const batch = { size: memory.batchSize, found: messages.length, tookMs: performance.now() - since }
    memory.batchSize = sizeAfterFault(batch, deps)
    throw error
  } finally {
    metrics.inFlight.dec(messages.length)
  }
}

/** Where the claim fails nothing is sent, so its tokens go back: a window may have no others for a day. */
async function claimOrReturn(
  deps: RetryDeps,
  work: SlotWork,
  { grants, ...claim }: { token: string; shares: readonly TopicShare[]; grants: readonly Grant[] },
) {
  try {
    return await claimShares(deps, work, claim)
  } catch (error) {
    await returnTokens(deps.sql, grants).catch((error) => deps.log.debug({ error }, 'return_tokens_failed'))
    throw error
  }
}

/** How long a claim waits before each try to lock limited topics, where it has no others. The first is at once. */
const lockWaitsMs = [0, 5, 10, 20, 40]

/** Claims without the topics that others are claiming of, where these have limits: `asked` are the shares that are left. */
async function claimShares(
  { sql, maxBatchBytes, maxMessageBytes }: RetryDeps,
  { slot: { slot, epoch } }: SlotWork,
  { token, shares }: { token: string; shares: readonly TopicShare[] },
) {
  const claim = (sql: Sql, asked: readonly TopicShare[]) =>
    claimBatch(sql, { slot, epoch, token, shares: asked, maxBytes: maxBatchBytes, maxMessageBytes })
  const capped = shares.filter(({ maxInFlight }) => maxInFlight !== null).map(({ topic }) => topic)
  if (capped.length === 0) return { asked: shares, claim: await claim(sql, shares) }
  return sql.begin(async (sql) => {
    for (const waitMs of lockWaitsMs) {
      if (waitMs > 0) await sleep(waitMs)
      const locked = await lockTopicsInFlight(sql, capped)
      const asked = shares.filter(({ topic, maxInFlight }) => maxInFlight === null || locked.has(topic))
      if (asked.length > 0) return { asked, claim: await claim(sql, asked) }
    }
    return { asked: [], claim: null }
  })
}
