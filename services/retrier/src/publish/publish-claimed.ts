// A claimed batch on its way through Kafka, from its messages to their settled rows. It is published as one part or,
// where Kafka refuses something in it, as several. Each part has its own number, and is settled before the next
// one is published.

import { randomUUID } from 'node:crypto'
import { type ClaimedMessage, leaseParts } from 'dlq-core/queries/retry/batches.ts'
import { type Grant, returnTokens } from 'dlq-core/queries/retry/rate-limits.ts'
import { nextBatchNumbers } from 'dlq-core/queries/retry/slots.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { Tracing } from 'dlq-core/runtime/tracing.ts'
import { countClaimed, tokensOf } from '../claim/share-claims.ts'
import { type Cooldown, usualCooldownMs } from '../slot/cooldown.ts'
import type { HeldSlot } from '../slot/hold-slot.ts'
import { type LastLook, type LastLookDeps, lookOnceMore } from '../staleness/last-look.ts'
import { refusalsInARow, type TopicHolds } from '../targets/topic-holds.ts'
import { type Outgoing, type PrepareDeps, type Prepared, prepareOutgoing, type Refusal } from './outgoing.ts'
import { type PartOutcome, type SettleDeps, settlePart } from './settle-batch.ts'
import type { Part, PublishResult, SlotProducer } from './slot-producer.ts'
import { tracePublishing } from './trace-publishing.ts'

export type PublishDeps = PrepareDeps &
  SettleDeps &
  Pick<LastLookDeps, 'reader'> & { cooldown: Cooldown; holds: TopicHolds; tracing: Tracing }

export type PublishCounts = { published: number; refused: number; released: number }

/** `asideMs`: the part of the time that went to topics of which Kafka refused something. */
export type Publishing = PublishCounts & { asideMs: number }

type Work = { slot: HeldSlot; producer: SlotProducer }

export type ClaimedBatch = {
  batchNumber: bigint
  token: string
  messages: readonly ClaimedMessage[]
  /** The rate-limit tokens that were taken for the messages. */
  grants: readonly Grant[]
}

/** Prepares, publishes and settles the batch. Throws as `retryDue` does. */
export async function publishClaimed(deps: PublishDeps, work: Work, batch: ClaimedBatch): Promise<Publishing> {
  const { slot } = work
  const { batchNumber, token, messages } = batch
  const settling = createSettling(deps, slot, batch)
  const { settle, settleResting } = settling
  let prepared: Prepared
  try {
    prepared = await prepareOutgoing(messages, deps)
  } catch (error) {
    await settle(batchNumber, allReleased(messages))
    throw toUnavailable(error as Error)
  }
  coolDown(deps, prepared)
  const { refused, unavailable, paused, held } = prepared
  noteRefused(deps.holds, refused)
  await settle(batchNumber, { published: [], refused, released: idsOf(paused) })
  // For so long, too, they do not stand before others of their original topic that go elsewhere.
  await settle(batchNumber, { ...allReleased(unavailable), releasedForMs: usualCooldownMs })
  await settleResting(batchNumber, held)
  const outgoing = await withoutStale(deps, settling, { batchNumber, outgoing: prepared.outgoing })

  const all = listsOf(deps, outgoing)
  const lists = all.slice(0, mostLists)
  await settleResting(batchNumber, all.slice(mostLists).flat())
  const parts =
    lists.length > 1 ? await leaseAgain(deps, slot, lists) : lists.map((records) => ({ batchNumber, token, records }))
  const asideMs = await publishParts(deps, work, { settling, parts })
  return { ...settling.counts, asideMs }
}

/** What the messages of a batch are settled with. */
type Settling = {
  claimed: ReadonlyMap<string, ClaimedMessage>
  /** Of all that was settled. */
  counts: PublishCounts
  settle(batchNumber: bigint, outcome: PartOutcome): Promise<void>
  /** Gives records back for as long as their topics rest. */
  settleResting(batchNumber: bigint, records: readonly { id: string; topic: string }[]): Promise<void>
}

function createSettling(deps: PublishDeps, slot: HeldSlot, { messages, grants }: ClaimedBatch): Settling {
  const claimed = new Map(messages.map((message) => [message.id, message]))
  const counts: PublishCounts = { published: 0, refused: 0, released: 0 }
  const settle: Settling['settle'] = async (batchNumber, outcome) => {
    const released = await settlePart(deps, slot, { batchNumber, outcome, claimed })
    for (const kind of ['published', 'refused', 'released'] as const) counts[kind] += outcome[kind].length
    // A message that was not sent takes nothing off its topic's rate, nor off the rate of its run. Whoever has taken the
    // slot over returns the tokens of those that it gives back.
    await returnTokens(deps.sql, tokensOf(grants, countClaimed(released.map((id) => claimed.get(id)!))))
  }
  return {
    claimed,
    counts,
    settle,
    async settleResting(batchNumber, records) {
      for (const [topic, ofTopic] of Map.groupBy(records, ({ topic }) => topic)) {
        const releasedForMs = Math.max(deps.holds.restMs(topic), leastRestMs)
        await settle(batchNumber, { ...allReleased(ofTopic), releasedForMs })
      }
    },
  }
}

/** Without those that their policies hold, which are given back. */
async function withoutStale(
  deps: PublishDeps,
  { claimed, settle }: Settling,
  { batchNumber, outgoing }: { batchNumber: bigint; outgoing: readonly Outgoing[] },
): Promise<readonly Outgoing[]> {
  const addressed = outgoing.map(({ id, topic }) => ({ message: claimed.get(id)!, topic }))
  let look: LastLook
  try {
    look = await lookOnceMore(deps, addressed)
  } catch (error) {
    await settle(batchNumber, allReleased(outgoing))
    throw toUnavailable(error as Error)
  }
  const { stale, waiting, unreadable } = look
  for (const { topic, error } of unreadable) {
    deps.cooldown.add(topic)
    deps.log.warn({ topic, error }, 'last_look_failed')
  }
  if (stale.length + waiting.length === 0) return outgoing
  await settle(batchNumber, { ...nothing, stale })
  await settle(batchNumber, { ...nothing, released: waiting, releasedForMs: notLookedMs })
  const left = new Set([...waiting, ...idsOf(stale)])
  return outgoing.filter(({ id }) => !left.has(id))
}

/** Publishes and settles part after part. Returns how much of the time went to topics of which Kafka refused something. */
async function publishParts(
  deps: PublishDeps,
  { slot, producer }: Work,
  { settling: { settle, settleResting }, parts: all }: { settling: Settling; parts: readonly Part[] },
): Promise<number> {
  let parts = [...all]
  const search: Search = { holds: deps.holds, refusals: new Map() }
  let asideMs = 0
  try {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const since = performance.now()
      const result = await publishPart(deps, producer, part)
      if (result.fault !== null && result.fault.topics === null) {
        await settle(part.batchNumber, { ...result, released: [...result.released, ...idsOf(result.splitInto.flat())] })
        for (const rest of parts) await settle(rest.batchNumber, allReleased(rest.records))
        throw toUnavailable(result.fault.error)
      }
      noteResult(search, result)
      const troubled = result.fault?.topics ?? []
      const releasedForMs = result.fault === null ? 0 : leaveAlone(deps, result.fault, performance.now() - since)
      await settle(part.batchNumber, result.fault === null ? result : { ...result, releasedForMs })
      const going: Part[] = []
      for (const waiting of [...result.splitInto.map((records) => ({ ...part, records })), ...parts]) {
        const isTroubled = ({ topic }: Outgoing) => troubled.includes(topic)
        const isStopped = ({ topic }: Outgoing) => isSearchOver(search, topic)
        const left = waiting.records.filter((record) => !isTroubled(record))
        await settle(waiting.batchNumber, { ...allReleased(waiting.records.filter(isTroubled)), releasedForMs })
        await settleResting(waiting.batchNumber, left.filter(isStopped))
        going.push({ ...waiting, records: left.filter((record) => !isStopped(record)) })
      }
      parts = going.filter(({ records }) => records.length > 0)
      if (result.splitInto.length > 0)
        parts = await leaseAgain(
          deps,
          slot,
          parts.map(({ records }) => records),
        )
      asideMs += noteCost(deps.holds, result, { part, tookMs: performance.now() - since })
    }
  } finally {
    deps.holds.endSearches(search)
  }
  return asideMs
}

/** Leaves the topics alone that Kafka was asked for in vain. Returns for how long. */
function leaveAlone(
  { cooldown, log }: PublishDeps,
  { topics, error }: NonNullable<PublishResult['fault']>,
  tookMs: number,
): number {
  const forMs = Math.max(0, ...(topics ?? []).map((topic) => cooldown.failed(topic, { tookMs, error })))
  log.warn({ topics, forMs, error }, 'topics_left_alone')
  return forMs
}

/** Messages whose partition a retrier has to read first are not claimed again at once. */
const notLookedMs = 2000

const nothing: PartOutcome = { published: [], refused: [], released: [] }

/** What a topic refuses is not claimed again at once. */
const leastRestMs = 1000

/** Each list is a transaction, and what comes due meanwhile waits for all of them. More of a batch rests for a moment. */
const mostLists = 21

/** So many doubtful records of a topic go together at first; a piece that is taken is followed by a larger one. */
const firstDoubtful = 20

/**
 * What goes together in one transaction: all that nothing is known against, then the doubtful records, each topic by
 * itself and in pieces, so that a refused one makes as few others go again as can be.
 */
function listsOf({ holds, cooldown }: PublishDeps, outgoing: readonly Outgoing[]): (readonly Outgoing[])[] {
  const isDoubtful = ({ topic, isDoubtful }: Outgoing) =>
    isDoubtful || holds.isDoubtful(topic) || cooldown.isTroubled(topic)
  const lists: (readonly Outgoing[])[] = [outgoing.filter((record) => !isDoubtful(record))]
  for (const ofTopic of Map.groupBy(outgoing.filter(isDoubtful), ({ topic }) => topic).values()) {
    for (let start = 0, size = firstDoubtful; start < ofTopic.length; start += size, size *= 2)
      lists.push(ofTopic.slice(start, start + size))
  }
  return lists.filter((list) => list.length > 0)
}

/** Remembers what was refused before it was sent. */
function noteRefused(holds: TopicHolds, refused: readonly Refusal[]): void {
  for (const [topic, ofTopic] of Map.groupBy(refused, ({ topic }) => topic)) {
    const { reason, refusesTopic } = ofTopic.at(-1)!
    holds.refused(topic, { count: ofTopic.length, reason, refusesTopic })
  }
}

/** Looks for the refused records of a batch. `refusals`: topic → how many Kafka has refused. */
type Search = { holds: TopicHolds; refusals: Map<string, number> }

/** Remembers what Kafka took and refused. */
function noteResult(search: Search, { published, refused, refusing }: PublishResult): void {
  const { holds, refusals } = search
  for (const topic of new Set(published.map(({ topic }) => topic))) holds.published(topic)
  for (const topic of refusing)
    if (!refusals.has(topic)) refusals.set(topic, holds.search(topic, search) ? 0 : Number.POSITIVE_INFINITY)
  for (const { topic } of refused) refusals.set(topic, (refusals.get(topic) ?? 0) + 1)
  noteRefused(holds, refused)
}

/** Enough of the topic was refused, or another slot looks for what is. */
function isSearchOver({ refusals }: Search, topic: string): boolean {
  return (refusals.get(topic) ?? 0) >= refusalsInARow
}

/** Remembers what refusals cost, all that they entail included. Returns it in milliseconds. */
function noteCost(
  holds: TopicHolds,
  { published, refusing }: PublishResult,
  { part, tookMs }: { part: Part; tookMs: number },
): number {
  if (refusing.length === 0) return 0
  const costMs = tookMs * (1 - published.length / part.records.length)
  for (const topic of refusing) holds.spent(topic, costMs / refusing.length)
  return costMs
}

/** Short, because a person who ends a pause expects an effect at once. */
const pausedCooldownMs = 1000

/** Leaves the topics alone that cannot be written to now. */
function coolDown({ cooldown, log }: PublishDeps, { unavailable, paused }: Prepared): void {
  const errors = new Map(unavailable.map(({ topic, error }) => [topic, error]))
  for (const [topic, error] of errors) cooldown.cannotTake(topic, error)
  if (errors.size > 0)
    log.warn({ topics: [...errors.keys()], forMs: usualCooldownMs, error: unavailable[0]!.error }, 'topics_left_alone')
  for (const { topic } of paused) cooldown.add(topic, pausedCooldownMs)
}

/** Publishes one part, within its spans, and remembers what its answer says of the topics. */
async function publishPart(
  { metrics, tracing, cooldown, targets }: PublishDeps,
  producer: SlotProducer,
  part: Part,
): Promise<PublishResult> {
  // Meanwhile the other slots claim nothing that may fail for the same reason.
  for (const { topic } of part.records) if (cooldown.isTroubled(topic)) cooldown.add(topic)
  const stop = metrics.publishSeconds.startTimer()
  const result = await tracePublishing(tracing, part, () => producer.publish(part)).finally(stop)
  for (const topic of new Set(result.published.map(({ topic }) => topic))) cooldown.published(topic)
  // The topic may have changed since it was last looked up.
  for (const topic of [...(result.fault?.topics ?? []), ...result.refused.map(({ topic }) => topic)])
    targets.forget(topic)
  return result
}

/**
 * Leases all that is still to be published under new numbers. All of it, so that the numbers rise in the order of
 * publishing: a number below the ledger's never belongs to a part that still waits.
 */
async function leaseAgain(
  { sql }: PublishDeps,
  held: HeldSlot,
  lists: readonly (readonly Outgoing[])[],
): Promise<Part[]> {
  const { slot, epoch } = held
  const waiting = lists.filter((records) => records.length > 0)
  const first = await nextBatchNumbers(sql, { slot, epoch, count: waiting.length })
  if (first === null) throw slotLost(slot)
  held.used(first, waiting.length)
  const parts = waiting.map((records, at) => ({ batchNumber: first + BigInt(at), token: randomUUID(), records }))
  const leases = parts.map(({ batchNumber, token, records }) => ({ batch: batchNumber, token, ids: idsOf(records) }))
  if (!(await leaseParts(sql, { slot, epoch, parts: leases }))) throw slotLost(slot)
  return parts
}

function allReleased(items: readonly { id: string }[]): PartOutcome {
  return { published: [], refused: [], released: idsOf(items) }
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
