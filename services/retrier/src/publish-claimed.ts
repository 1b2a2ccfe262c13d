// A claimed batch on its way through Kafka: published as one part or, where Kafka refuses something in
// it, as several, each under a number of its own, one settled before the next is published.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { nextState } from 'dlq-core/message.ts'
import { deriveAttemptId } from 'dlq-core/message-id.ts'
import type { SettledAttempt } from 'dlq-core/queries/attempts.ts'
import { type ClaimedMessage, leaseParts, type SettledMessage } from 'dlq-core/queries/batches.ts'
import { nextBatchNumbers } from 'dlq-core/queries/slots.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { Tracing } from 'dlq-core/runtime/tracing.ts'
import type { Cooldown } from './cooldown.ts'
import type { HeldSlot } from './hold-slot.ts'
import { type Outgoing, type PrepareDeps, prepareOutgoing } from './outgoing.ts'
import type { RetrierMetrics } from './retrier-metrics.ts'
import { settleBatch } from './settle-batch.ts'
import type { Part, PublishResult, SlotProducer } from './slot-producer.ts'
import { tracePublishing } from './trace-publishing.ts'

export type PublishDeps = PrepareDeps & {
  sql: Database
  cooldown: Cooldown
  metrics: RetrierMetrics
  tracing: Tracing
  log: Log
  random: () => number
  /** Aborted where waiting for the database to settle in must end. */
  signal: AbortSignal
}

export type PublishCounts = { published: number; refused: number; released: number }

type Work = { slot: HeldSlot; producer: SlotProducer }
type Claimed = {
  batch: bigint
  token: string
  messages: readonly ClaimedMessage[]
  /** Filled with the messages that were given back, also where this throws. */
  released: ClaimedMessage[]
}
type Outcome = Pick<PublishResult, 'published' | 'refused' | 'released'>

const nothing: PublishResult = { published: [], refused: [], released: [], again: [], fault: null }

/** Publishes and settles. Throws as `retryDue` does. */
export async function publishClaimed(deps: PublishDeps, work: Work, claimed: Claimed): Promise<PublishCounts> {
  const { batch, token, messages } = claimed
  const byId = new Map(messages.map((message) => [message.id, message]))
  const counts: PublishCounts = { published: 0, refused: 0, released: 0 }
  const settle = async (batch: bigint, outcome: Outcome) => {
    await untilSettled(deps, work, { batch, outcome, byId })
    for (const kind of ['published', 'refused', 'released'] as const) counts[kind] += outcome[kind].length
    claimed.released.push(...outcome.released.map((id) => byId.get(id)!))
  }

  const records = await prepare(deps, messages, (outcome) => settle(batch, outcome))
  let parts: Part[] = [{ batch, token, records }]
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part.records.length === 0) continue
    const result = await timed(deps, () => tracePublishing(deps.tracing, part!, () => work.producer.publish(part!)))
    for (const topic of result.fault?.topics ?? []) deps.cooldown.add(topic)
    // What was known of the topic may not be true any more.
    for (const { topic } of result.refused) deps.targets.forget(topic)
    if (result.fault !== null && result.fault.topics === null) {
      await settle(part.batch, { ...result, released: [...result.released, ...idsOf(result.again.flat())] })
      for (const rest of parts) await settle(rest.batch, { ...nothing, released: idsOf(rest.records) })
      throw toUnavailable(result.fault.error)
    }
    await settle(part.batch, result)
    if (result.again.length > 0) {
      parts = await leaseAgain(deps, work, [...result.again, ...parts.map(({ records }) => records)])
    }
  }
  return counts
}

/** Not long, because whoever ends a pause expects to see it. */
const pausedCooldownMs = 1000

/** The records that can be sent; the others are settled at once. */
async function prepare(
  deps: PublishDeps,
  messages: readonly ClaimedMessage[],
  settle: (outcome: Outcome) => Promise<void>,
): Promise<Outgoing[]> {
  const prepared = await prepareOutgoing(messages, deps).catch((error: Error) => error)
  if (prepared instanceof Error) {
    await settle({ ...nothing, released: idsOf(messages) })
    throw toUnavailable(prepared)
  }
  const { outgoing, refused, unavailable, paused } = prepared
  for (const { topic } of unavailable) deps.cooldown.add(topic)
  for (const { topic } of paused) deps.cooldown.add(topic, pausedCooldownMs)
  const released = idsOf([...unavailable, ...paused])
  if (refused.length + released.length > 0) await settle({ published: [], refused, released })
  return outgoing
}

/**
 * Leases what is still to be published under new numbers: all of it, so that the numbers rise in the order
 * of publishing, and a number below the ledger's is never one that waits.
 */
async function leaseAgain(
  { sql }: PublishDeps,
  { slot: { slot, epoch } }: Work,
  lists: readonly (readonly Outgoing[])[],
): Promise<Part[]> {
  const waiting = lists.filter((records) => records.length > 0)
  const first = await nextBatchNumbers(sql, { slot, epoch, count: waiting.length })
  if (first === null) throw slotLost(slot)
  const parts = waiting.map((records, at) => ({ batch: first + BigInt(at), token: randomUUID(), records }))
  const leases = parts.map(({ batch, token, records }) => ({ batch, token, ids: idsOf(records) }))
  if (!(await leaseParts(sql, { slot, epoch, parts: leases }))) throw slotLost(slot)
  return parts
}

type Settling = { batch: bigint; outcome: Outcome; byId: ReadonlyMap<string, ClaimedMessage> }

/**
 * Settles, however often the database fails, for as long as the slot is ours. Given up at the end of the
 * process: whoever takes the slot next reads the ledger.
 */
async function untilSettled(deps: PublishDeps, work: Work, settling: Settling): Promise<void> {
  for (let backoffMs = 50; ; backoffMs = Math.min(backoffMs * 2, 2000)) {
    try {
      return await settle(deps, work, settling)
    } catch (error) {
      if (work.slot.isLost() || deps.signal.aborted) throw error
      deps.log.warn({ error, backoffMs }, 'settle_failed')
      await sleep(backoffMs)
    }
  }
}

async function settle(
  deps: PublishDeps,
  { slot: { slot, epoch } }: Work,
  { batch, outcome, byId }: Settling,
): Promise<void> {
  const { sql, metrics, log } = deps
  const { published, refused, released } = outcome
  const messages: SettledMessage[] = [
    ...published.map(({ id }) => ({ id, status: 'RESOLVED' as const, next_retry_at: null })),
    ...refused.map(({ id }) => afterRefusal(deps, byId.get(id)!)),
  ]
  const attempts: SettledAttempt[] = [
    ...published.map(({ id, topic, partition, offset }) => ({
      ...attemptOf(byId.get(id)!, slot),
      ...{
        outcome: 'published' as const,
        target_topic: topic,
        target_partition: partition,
        target_offset: offset,
        error: null,
      },
    })),
    ...refused.map(({ id, topic, reason }) => ({
      ...attemptOf(byId.get(id)!, slot),
      ...{
        outcome: 'failed' as const,
        target_topic: topic,
        target_partition: null,
        target_offset: null,
        error: reason,
      },
    })),
  ]
  const settled = await settleBatch(sql, { slot, epoch, batch, messages, attempts, released })
  metrics.attempts.inc({ outcome: 'published' }, published.length)
  metrics.attempts.inc({ outcome: 'refused' }, refused.length)
  metrics.attempts.inc({ outcome: 'released' }, settled.released)
  // Not every one that is missing was lost: its dead letter may have come back before this statement.
  if (settled.settled < messages.length)
    log.info({ slot, messages: messages.length, settled: settled.settled }, 'settled_elsewhere')
  for (const { id, reason } of refused) log.warn({ messageId: id, reason }, 'message_refused')
}

/** Refused by its nature: it waits for a person, or is DEAD where this was its last attempt. */
function afterRefusal({ policyOf, now, random }: PublishDeps, message: ClaimedMessage): SettledMessage {
  const { id, retry_count: retryCount, max_retries: maxRetries } = message
  const state = { status: 'RETRYING', retryCount, maxRetries, nextRetryAt: null } as const
  const deciding = { policy: policyOf(message), now: now(), random: random() }
  const after = nextState(state, { type: 'refused', permanent: true }, deciding)!
  return { id, status: after.status as SettledMessage['status'], next_retry_at: after.nextRetryAt }
}

function attemptOf({ id, retry_count, run_id }: ClaimedMessage, slot: number) {
  return { message_id: id, number: retry_count, attempt_id: deriveAttemptId(id, retry_count), slot, run_id }
}

async function timed<T>({ metrics }: PublishDeps, work: () => Promise<T>): Promise<T> {
  const stop = metrics.publishSeconds.startTimer()
  try {
    return await work()
  } finally {
    stop()
  }
}

function idsOf(items: readonly { id: string }[]): string[] {
  return items.map(({ id }) => id)
}

function toUnavailable(error: Error): DlqError {
  if (error instanceof DlqError) return error
  return new DlqError('KAFKA_UNAVAILABLE', `Kafka did not take the records: ${error.message}`, { cause: error })
}

function slotLost(slot: number): DlqError {
  return new DlqError('SLOT_LOST', `slot ${slot} was taken over by another retrier`)
}
