// Settles the batches that a slot's owner did not: a retrier that died, or this one, when a commit's answer never
// came. The producer connects first, which fences every earlier one.

import { randomUUID } from 'node:crypto'
import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { targetOf } from 'dlq-core/domain/retry/fill-target.ts'
import type { SettledAttempt } from 'dlq-core/queries/retry/attempts.ts'
import {
  listOutstanding,
  listOutstandingMessages,
  type OutstandingBatch,
  type OutstandingMessage,
} from 'dlq-core/queries/retry/batches.ts'
import { returnWindowTokens } from 'dlq-core/queries/retry/rate-limits.ts'
import {
  forgetUnanswered,
  lastBatchNumber,
  nextBatchNumbers,
  readUnanswered,
  type Sent,
  type Slot,
} from 'dlq-core/queries/retry/slots.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import { asPublished, settleBatch } from '../publish/settle-batch.ts'
import type { SlotProducer } from '../publish/slot-producer.ts'
import type { RetrierMetrics } from '../retrier-metrics.ts'
import { judgeBatch, type LedgerEntry, type Verdict } from './ledger.ts'
import { type Fate, type LookUpDeps, lookUpSent } from './look-up-sent.ts'

export type RecoverDeps = LookUpDeps & {
  sql: Database
  metrics: RetrierMetrics
  policyOf: PolicyOf
}

/**
 * Connects the slot's producer and settles what the slot still holds. Afterwards the slot holds nothing,
 * and the ledger has an entry that is above every number used so far. Returns how many messages it has settled.
 *
 * @throws {DlqError} where Kafka is away or forbids it, or the slot was lost
 */
export async function connectAndRecover(
  deps: RecoverDeps,
  { slot, producer }: { slot: Slot; producer: SlotProducer },
): Promise<number> {
  const ledger = await producer.connect()
  let settled = 0
  const unanswered = await readUnanswered(deps.sql, slot.slot)
  for (const outstanding of await listOutstanding(deps.sql, slot)) {
    const verdict = judgeBatch(outstanding, ledger ?? { batchNumber: null, token: null })
    // Only with their batch: it may have been settled since, and its messages claimed again.
    const sent = unanswered !== null && unanswered.token === outstanding.token ? unanswered.records : []
    const fates = await lookUpSent(deps, sent)
    settled += await settleOutstanding(deps, { slot, outstanding, verdict, ledger, sent, fates })
  }
  if (unanswered !== null) await forgetUnanswered(deps.sql, slot)
  await reportLostBatches(deps, { slot, ledger })
  const batchNumber = await nextBatchNumbers(deps.sql, { ...slot, floor: ledger?.batchNumber ?? 0n })
  if (batchNumber === null) throw new DlqError('SLOT_LOST', `slot ${slot.slot} was taken over by another retrier`)
  await producer.begin({ batchNumber, token: randomUUID() })
  return settled
}

/**
 * The database gives a number out before Kafka sees it. Where Kafka has a higher one, this database was restored from
 * a backup.
 */
async function reportLostBatches(
  { sql, log, metrics }: RecoverDeps,
  { slot, ledger }: { slot: Slot; ledger: LedgerEntry | null },
): Promise<void> {
  const published = ledger?.batchNumber ?? 0n
  const known = await lastBatchNumber(sql, slot.slot)
  if (published <= known) return
  metrics.forgotten.inc(Number(published - known))
  log.warn({ slot: slot.slot, known: String(known), ledger: String(published) }, 'database_behind_kafka')
}

type Settling = {
  slot: Slot
  outstanding: OutstandingBatch
  /** The ledger's. */
  verdict: Verdict
  ledger: LedgerEntry | null
  sent: readonly Sent[]
  fates: ReadonlyMap<string, Fate>
}

const verdictOf = { committed: 'published', aborted: 'unpublished' } satisfies Record<Fate, Verdict>

async function settleOutstanding(deps: RecoverDeps, settling: Settling): Promise<number> {
  const { sql, policyOf } = deps
  const { slot, outstanding, verdict, sent, fates } = settling
  const { batch } = outstanding
  const held = await listOutstandingMessages(sql, { slot: slot.slot, batch })
  const judged = Map.groupBy(held, ({ id }) => {
    const fate = fates.get(id)
    return fate === undefined ? verdict : verdictOf[fate]
  })
  const { published = [], unpublished = [], unknown = [] } = Object.fromEntries(judged)
  const places = new Map(sent.map((place) => [place.id, place]))
  const toAttempt = (message: OutstandingMessage, outcome: 'published' | 'unknown'): SettledAttempt => ({
    message_id: message.id,
    number: message.retry_count,
    attempt_id: deriveAttemptId(message.id, message.retry_count),
    outcome,
    slot: slot.slot,
    run_id: message.run_id,
    target_topic: places.get(message.id)?.topic ?? targetOf(message, policyOf(message)),
    target_partition: places.get(message.id)?.partition ?? null,
    target_offset: places.get(message.id)?.offset ?? null,
    error: null,
  })
  const { released } = await settleBatch(sql, {
    ...{ ...slot, batch, messages: published.map(asPublished) },
    attempts: [
      ...published.map((message) => toAttempt(message, 'published')),
      ...unknown.map((message) => toAttempt(message, 'unknown')),
    ],
    released: [...unpublished, ...unknown].map(({ id }) => id),
  })
  // What was certainly not published takes nothing off the window of its topic.
  const givenBack = new Set(released)
  const unused = unpublished.filter(({ id }) => givenBack.has(id))
  if (unused.length > 0) await returnClaimed(sql, unused)
  report(deps, settling, judged)
  return held.length
}

async function returnClaimed(sql: Database, messages: readonly OutstandingMessage[]): Promise<void> {
  const byTopic = Map.groupBy(messages, ({ original_topic }) => original_topic)
  const unused = [...byTopic].map(([topic, of]) => ({ topic, count: of.length }))
  // The messages of a batch were claimed together.
  await returnWindowTokens(sql, { claimedAt: messages[0]!.claimed_at, unused })
}

function report(
  { log, metrics }: RecoverDeps,
  { slot, outstanding, verdict, ledger }: Settling,
  judged: ReadonlyMap<Verdict, readonly OutstandingMessage[]>,
): void {
  const counts = Object.fromEntries([...judged].map(([verdict, messages]) => [verdict, messages.length]))
  for (const [verdict, count] of Object.entries(counts)) metrics.recovered.inc({ verdict: verdict as Verdict }, count)
  const batch = { slot: slot.slot, batch: String(outstanding.batch) }
  log[verdict === 'unknown' ? 'warn' : 'info'](
    {
      ...{ ...batch, messages: outstanding.messages, verdict },
      ledger: ledger?.batchNumber == null ? null : String(ledger.batchNumber),
    },
    'batch_recovered',
  )
  const isTorn = verdict !== 'unknown' && [...judged.keys()].some((other) => other !== verdict)
  if (isTorn) log.warn({ ...batch, ledger: verdict, ...counts }, 'transaction_torn')
}
