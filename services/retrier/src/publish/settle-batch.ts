// Settles a batch, or a part of it: writes its outcomes in one transaction.

import { nextState } from 'dlq-core/domain/retry/message-state.ts'
import type { RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { placeAttempts, type SettledAttempt } from 'dlq-core/queries/retry/attempts.ts'
import {
  type BatchLease,
  type ClaimedMessage,
  lockAlongIndexes,
  releaseBatch,
  type SettledMessage,
  settleMessages,
} from 'dlq-core/queries/retry/batches.ts'
import { type HeldStale, holdStale } from 'dlq-core/queries/staleness/hold-stale.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { RetryCounts } from '../groups/retry-counts.ts'
import type { RetrierMetrics } from '../retrier-metrics.ts'
import type { HeldSlot } from '../slot/hold-slot.ts'
import { type InsistDeps, insist } from '../slot/insist.ts'
import type { PublishResult } from './slot-producer.ts'

export type BatchOutcome = BatchLease & {
  messages: readonly SettledMessage[]
  attempts: readonly SettledAttempt[]
  /** Ids of messages that were not published; their attempt is given back. */
  released: readonly string[]
  /** The released ones are due no sooner than this; null: at once. */
  releasedForMs?: number | null
  /** Messages that their policies hold; their attempt is given back. */
  stale?: readonly HeldStale[]
}

/** Returns which messages the lease still held: how many of `messages`, and the ids of `released` and of `stale`. */
export async function settleBatch(
  sql: Database,
  { slot, epoch, batch, messages, attempts, released, releasedForMs = null, stale = [] }: BatchOutcome,
): Promise<{ settled: number; released: readonly string[]; held: readonly string[] }> {
  const lease = { slot, epoch, batch }
  const ended = attempts.filter(({ outcome }) => outcome !== 'unknown')
  const unknown = attempts.filter(({ outcome }) => outcome === 'unknown')
  return sql.begin(async (sql) => {
    // Sent together; PostgreSQL runs them one after the other.
    const [, settled, givenBack, held] = await Promise.all([
      lockAlongIndexes(sql),
      settleMessages(sql, { ...lease, messages, attempts: ended }),
      released.length === 0
        ? []
        : releaseBatch(sql, { ...lease, ids: released, afterMs: releasedForMs, attempts: unknown }),
      holdStale(sql, { ...lease, held: stale }),
    ])
    if (settled < messages.length) await placeAttempts(sql, { ...lease, attempts: ended })
    return { settled, released: givenBack, held }
  })
}

export type SettleDeps = InsistDeps & {
  sql: Database
  metrics: RetrierMetrics
  log: Log
  retryCounts: Pick<RetryCounts, 'add'>
  policyOf: (message: { original_topic: string; dlq_topic: string | null }) => RetryPolicy
  now: () => Date
  random: () => number
}

/** What became of a part's messages. A message is in one of the lists at most. */
export type PartOutcome = Pick<PublishResult, 'published' | 'refused' | 'released'> &
  Pick<BatchOutcome, 'releasedForMs' | 'stale'>

type Settling = { batchNumber: bigint; outcome: PartOutcome; claimed: ReadonlyMap<string, ClaimedMessage> }

/**
 * Settles a part. Where the database fails it tries again for as long as the slot is ours and the service runs;
 * after that, the ledger tells the next holder of the slot. Returns the ids of the messages that it has given back.
 */
export async function settlePart(deps: SettleDeps, slot: HeldSlot, settling: Settling): Promise<readonly string[]> {
  const { published, refused, released } = settling.outcome
  if (published.length + refused.length + released.length + (settling.outcome.stale?.length ?? 0) === 0) return []
  return insist(deps, slot, {
    write: () => settleOnce(deps, slot, settling),
    onFailure: (failure) => deps.log.warn(failure, 'settle_failed'),
  })
}

async function settleOnce(
  deps: SettleDeps,
  { slot, epoch }: HeldSlot,
  { batchNumber, outcome: { published, refused, released, releasedForMs = null, stale = [] }, claimed }: Settling,
): Promise<readonly string[]> {
  const { sql, metrics, log, retryCounts } = deps
  const messages: SettledMessage[] = [
    ...published.map(({ id }) => asPublished(claimed.get(id)!)),
    ...refused.map(({ id }) => afterRefusal(deps, claimed.get(id)!)),
  ]
  const attempts: SettledAttempt[] = [
    ...published.map((sent) => toAttempt(claimed.get(sent.id)!, slot, sent)),
    ...refused.map(({ id, topic, reason }) =>
      toAttempt(claimed.get(id)!, slot, { topic, partition: null, offset: null }, reason),
    ),
  ]
  const lease = { slot, epoch, batch: batchNumber }
  const settled = await settleBatch(sql, { ...lease, messages, attempts, released, releasedForMs, stale })
  for (const { id } of published) retryCounts.add(claimed.get(id)!)
  metrics.attempts.inc({ outcome: 'published' }, published.length)
  metrics.attempts.inc({ outcome: 'refused' }, refused.length)
  metrics.attempts.inc({ outcome: 'released' }, settled.released.length)
  metrics.attempts.inc({ outcome: 'held' }, settled.held.length)
  // A missing message is not lost: its re-failure may have arrived before this statement.
  if (settled.settled < messages.length)
    log.info({ slot, messages: messages.length, settled: settled.settled }, 'settled_elsewhere')
  for (const { id, reason } of refused) log.warn({ messageId: id, reason }, 'message_refused')
  return [...settled.released, ...settled.held]
}

export function asPublished({ id, run_id }: Pick<ClaimedMessage, 'id' | 'run_id'>): SettledMessage {
  return { id, status: 'RESOLVED', next_retry_at: null, run_id }
}

/** A refused message waits for a person, or is DEAD where this was its last attempt. */
function afterRefusal({ policyOf, now, random }: SettleDeps, message: ClaimedMessage): SettledMessage {
  const { id, retry_count, max_retries, run_id } = message
  const state = { status: 'RETRYING', retry_count, max_retries, next_retry_at: null } as const
  const deciding = { policy: policyOf(message), now: now(), random: random() }
  const after = nextState(state, { type: 'refused', permanent: true }, deciding)!
  return { id, status: after.status as SettledMessage['status'], next_retry_at: after.next_retry_at, run_id }
}

type Place = { topic: string; partition: number | null; offset: bigint | null }

/** With an error it failed. */
function toAttempt(
  { id, retry_count, attempt_id, run_id }: ClaimedMessage,
  slot: number,
  { topic, partition, offset }: Place,
  error: string | null = null,
): SettledAttempt {
  return {
    message_id: id,
    number: retry_count,
    attempt_id,
    outcome: error === null ? 'published' : 'failed',
    slot,
    run_id,
    target_topic: topic,
    target_partition: partition,
    target_offset: offset,
    error,
  }
}
