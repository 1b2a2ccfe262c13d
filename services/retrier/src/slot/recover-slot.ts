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
  releaseBatch,
} from 'dlq-core/queries/retry/batches.ts'
import { returnWindowTokens } from 'dlq-core/queries/retry/rate-limits.ts'
import { lastBatchNumber, nextBatchNumbers, type Slot } from 'dlq-core/queries/retry/slots.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { asPublished, settleBatch } from '../publish/settle-batch.ts'
import type { Sent, SlotProducer } from '../publish/slot-producer.ts'
import type { RetrierMetrics } from '../retrier-metrics.ts'
import { judgeBatch, type LedgerEntry, type Verdict } from './ledger.ts'

export type RecoverDeps = {
  sql: Database
  log: Log
  metrics: RetrierMetrics
  policyOf: PolicyOf
}

export type Recovered = Record<Verdict, number>

/**
 * Connects the slot's producer and settles what the slot still holds. Afterwards the slot holds nothing,
 * and the ledger has an entry that is above every number used so far. Returns messages by verdict.
 *
 * @param sent where the records stand of a batch whose commit is unknown, if they were published
 * @throws {DlqError} where Kafka is away or forbids it, or the slot was lost
 */
export async function connectAndRecover(
  deps: RecoverDeps,
  { slot, producer, sent = [] }: { slot: Slot; producer: SlotProducer; sent?: readonly Sent[] },
): Promise<Recovered> {
  const ledger = await producer.connect()
  const recovered: Recovered = { published: 0, unpublished: 0, unknown: 0 }
  for (const outstanding of await listOutstanding(deps.sql, slot)) {
    const verdict = judgeBatch(outstanding, ledger ?? { batchNumber: null, token: null })
    recovered[verdict] += await settleOutstanding(deps, { slot, outstanding, verdict, sent })
    report(deps, { slot, outstanding, verdict, ledger })
  }
  await reportLostBatches(deps, { slot, ledger })
  const batchNumber = await nextBatchNumbers(deps.sql, { ...slot, floor: ledger?.batchNumber ?? 0n })
  if (batchNumber === null) throw new DlqError('SLOT_LOST', `slot ${slot.slot} was taken over by another retrier`)
  await producer.begin({ batchNumber, token: randomUUID() })
  return recovered
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

type Settling = { slot: Slot; outstanding: OutstandingBatch; verdict: Verdict; sent: readonly Sent[] }

async function settleOutstanding(
  { sql, policyOf }: RecoverDeps,
  { slot, outstanding, verdict, sent }: Settling,
): Promise<number> {
  const { batch } = outstanding
  const held = await listOutstandingMessages(sql, { slot: slot.slot, batch })
  if (verdict === 'unpublished') {
    // It was certainly not published: its messages are as before the claim, and take nothing off the window of their topics.
    const released = await releaseBatch(sql, { ...slot, batch })
    if (released > 0) await returnClaimed(sql, held)
    return released
  }
  const places = new Map(sent.map((place) => [place.id, place]))
  const toAttempt = (message: OutstandingMessage): SettledAttempt => ({
    message_id: message.id,
    number: message.retry_count,
    attempt_id: deriveAttemptId(message.id, message.retry_count),
    outcome: verdict,
    slot: slot.slot,
    run_id: message.run_id,
    target_topic: places.get(message.id)?.topic ?? targetOf(message, policyOf(message)),
    target_partition: places.get(message.id)?.partition ?? null,
    target_offset: places.get(message.id)?.offset ?? null,
    error: null,
  })
  const isKnown = verdict === 'published'
  const counts = await settleBatch(sql, {
    ...{ ...slot, batch, attempts: held.map(toAttempt) },
    messages: isKnown ? held.map(asPublished) : [],
    released: isKnown ? [] : held.map(({ id }) => id),
  })
  return counts.settled + counts.released
}

async function returnClaimed(sql: Database, messages: readonly OutstandingMessage[]): Promise<void> {
  const byTopic = Map.groupBy(messages, ({ original_topic }) => original_topic)
  const unused = [...byTopic].map(([topic, of]) => ({ topic, count: of.length }))
  // The messages of a batch were claimed together.
  await returnWindowTokens(sql, { claimedAt: messages[0]!.claimed_at, unused })
}

type Reporting = Omit<Settling, 'sent'> & { ledger: LedgerEntry | null }

function report({ log, metrics }: RecoverDeps, { slot, outstanding, verdict, ledger }: Reporting): void {
  metrics.recovered.inc({ verdict }, outstanding.messages)
  log[verdict === 'unknown' ? 'warn' : 'info'](
    {
      ...{ slot: slot.slot, batch: String(outstanding.batch), messages: outstanding.messages, verdict },
      ledger: ledger?.batchNumber == null ? null : String(ledger.batchNumber),
    },
    'batch_recovered',
  )
}
