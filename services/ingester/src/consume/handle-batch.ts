// What happens to one batch of kafkajs: it is split into parts, each is stored with the position after it, and what cannot
// be stored now is read again from where the database says.

import { setTimeout as sleep } from 'node:timers/promises'
import { partitionKey } from 'dlq-core/domain/record/record-place.ts'
import type { LogBounds } from 'dlq-core/queries/ingest/topic-partitions.ts'
import { noRoomNow } from 'dlq-core/runtime/fetching/kafka-codecs.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { Consumer, EachBatchPayload, Batch as KafkaBatch, KafkaMessage } from 'kafkajs'
import type { PositionWatch } from '../read/watch-positions.ts'
import type { Batch, SeenPosition, StoreOptions, StoreOutcome } from '../store/store-batch.ts'
import type { OffsetCommits } from './commit-offsets.ts'
import { fetchedRecords } from './fetched-records.ts'
import { type FetchedPart, partBounds, partsOfBatch } from './parts-of-batch.ts'
import type { StoreAhead } from './store-ahead.ts'
import { untilStored } from './until-stored.ts'

export type HandleDeps = {
  consumer: Pick<Consumer, 'seek'>
  reader: Pick<TopicReader, 'fetchLogBounds'>
  log: Log
  cluster: string
  maxValueBytes: number
  isPaused: (topic: string) => boolean
  positions: Pick<PositionWatch, 'stored'>
  ahead: StoreAhead
  commits: Pick<OffsetCommits, 'note'>
  /** Keys of the partitions of whose last records most were written early. */
  early: Set<string>
  store: (batch: Batch, options?: StoreOptions) => Promise<StoreOutcome>
  /** The topic was deleted and created again, so its offsets begin again; or its log was cut. */
  onRecreated: (batch: Batch, seen: SeenPosition, lowOffset: bigint) => Promise<void>
  /**
   * There is another leader: moves the position back to where it has cut the log, and returns that; null where it has not.
   */
  onAnotherLeader: (batch: Batch, seen: SeenPosition) => Promise<bigint | null>
  onStored: (batch: Batch, outcome: StoreOutcome & { kind: 'stored' }) => void
  /** The database has forgotten what it had stored. */
  onBehind: () => void
  /** Retention has deleted records before they were read; control records may be among them. */
  onLost: (batch: Batch, count: number) => void
}

/** Returns when the batch is stored, or is being stored beside the next fetch. */
export async function handleBatch(deps: HandleDeps, payload: EachBatchPayload): Promise<void> {
  const { consumer, ahead } = deps
  const { topic, partition, messages, fetchedOffset } = payload.batch as FetchedBatch
  const isOver = () => payload.isStale() || !payload.isRunning()
  const left = messages.find(({ undecodable }) => undecodable?.reason === noRoomNow)
  if (left && left === messages[0])
    return consumer.seek({ topic, partition, offset: String(startOf(left, fetchedOffset)) })
  const bounds = deps.early.has(partitionKey({ topic, partition })) ? partBounds.early : partBounds.late
  const parts = [...partsOfBatch(toBatch(payload.batch, deps, left), bounds)]
  let held = parts.length
  /** Nothing reads the records of so many parts any more. */
  const giveBack = (parts: number) => {
    held -= parts
    if (held === 0) payload.batch.release()
  }
  for (const [index, { batch: part, bytes }] of parts.entries()) {
    if (!(await isFree(deps, payload))) return giveBack(parts.length - index)
    // What is left for a later fetch is sought when this is stored.
    await ahead.begin({ topic, partition }, left ? null : bytes, async () => {
      // What was under way may have found that reading goes on elsewhere.
      if (isOver()) return
      // It is read again, from the position, when the pause is over.
      if (deps.isPaused(topic)) return consumer.seek({ topic, partition, offset: String(part.fetchedOffset) })
      payload.resolveOffset(String(part.nextOffset - 1n))
      // Not where that fails: a transaction whose caller has gone on may still read them.
      if (await storeOrSeek(deps, payload, part)) giveBack(1)
    })
    // kafkajs throws a TypeError, and ends the consumer, where the topic is not ours any more.
    if (isOver()) return
  }
  if (left) consumer.seek({ topic, partition, offset: String(startOf(left, fetchedOffset)) })
}

/** A partition's transaction takes a few hundred milliseconds. */
const patienceMs = 2000

/**
 * Waits for the partition's earlier work, which may wait for a row that somebody has locked. Where that takes long, false:
 * the partition rests until it is over, and is read again from here. kafkajs asks a broker again only when all batches
 * of its last answer are handled, so all other partitions would wait, too.
 */
async function isFree({ ahead, isPaused, log }: HandleDeps, payload: EachBatchPayload): Promise<boolean> {
  const { topic, partition } = payload.batch
  const earlier = ahead.earlier({ topic, partition })
  if (earlier === null) return true
  const timer = new AbortController()
  // Of hundreds of partitions that wait, each is found out by a fetch: the others must not wait for each of them again.
  const leftMs = patienceMs - (performance.now() - earlier.since)
  const late = sleep(Math.max(0, leftMs), false, { signal: timer.signal }).catch(() => false)
  const isOver = await Promise.race([earlier.over.then(() => true), late])
  timer.abort()
  // A paused topic rests as a whole, and goes on as a whole.
  if (isOver || isPaused(topic)) return isOver
  log.info({ topic, partition }, 'partition_waits')
  const resume = payload.pause()
  void earlier.over.then(() => {
    if (!isPaused(topic)) resume()
  })
  return false
}

/** kafkajs reads on behind the part while it is being stored: where that fails, false, and it is read again. */
async function storeOrSeek(deps: HandleDeps, payload: EachBatchPayload, part: Batch): Promise<boolean> {
  const { topic, partition } = part
  let isStored = false
  try {
    isStored = await storePart(deps, payload, part)
  } finally {
    if (!isStored && !payload.isStale()) deps.consumer.seek({ topic, partition, offset: String(part.fetchedOffset) })
  }
  if (isStored && payload.isRunning()) deps.commits.note({ topic, partition }, part.nextOffset)
  return isStored
}

type BatchProcessed = {
  topic: string
  partition: number
  fetchedOffset: string
  lastOffset: string
  highWatermark: string
}

/**
 * Moves the position past a batch of nothing but aborted records and transaction markers. kafkajs does not
 * hand such a batch out; without this, the next one would begin behind the position for ever.
 */
export async function passOver(
  deps: Pick<HandleDeps, 'cluster' | 'store' | 'reader' | 'log' | 'onLost'>,
  { topic, partition, fetchedOffset, lastOffset, highWatermark }: BatchProcessed,
): Promise<void> {
  const batch: Batch = {
    cluster: deps.cluster,
    topic,
    partition,
    // Not its first offset: compaction may have left nothing between the two.
    fetchedOffset: BigInt(fetchedOffset),
    nextOffset: BigInt(lastOffset) + 1n,
    highWatermark: BigInt(highWatermark),
    lastEpoch: null,
    records: [],
  }
  const outcome = await deps.store(batch)
  // Else a log that begins with more such batches than a fetch holds were read from its beginning for ever.
  if (outcome.kind === 'hole')
    await storeBehindLoss(deps, batch, { ...outcome, store: (options) => deps.store(batch, options) })
}

/** False where what follows must not be stored now: it is read again, here or by somebody else. */
async function storePart(deps: HandleDeps, payload: EachBatchPayload, batch: Batch): Promise<boolean> {
  const { consumer, log, store, onStored } = deps
  const { topic, partition } = batch
  let isUncut = false
  const storing = (options: StoreOptions = {}) =>
    untilStored(() => store(batch, { isUncut, ...options }), batch, payload, log)
  let outcome = await storing()
  if (outcome?.kind === 'another-leader') {
    const cutOffset = await deps.onAnotherLeader(batch, outcome)
    if (cutOffset !== null) {
      deps.positions.stored(batch, cutOffset)
      consumer.seek({ topic, partition, offset: String(cutOffset) })
      return false
    }
    isUncut = true
    outcome = await storing()
  }
  if (outcome?.kind === 'recreated') {
    const { seenOffset } = outcome
    const bounds = await boundsOf(deps, batch)
    if (bounds === undefined || seenOffset <= bounds.log_end_offset) {
      // The topic was not created again. The batch is old, and another ingester has stored later records.
      consumer.seek({ topic, partition, offset: String(seenOffset) })
      return false
    }
    await deps.onRecreated(batch, outcome, bounds.log_start_offset)
    outcome = await storing()
  }
  if (outcome?.kind === 'hole') {
    // The fetch began before the seek, retention has deleted what the position still waits for, or the database has
    // forgotten what it had stored: then it may have forgotten groups and routes, too.
    deps.onBehind()
    outcome = await storeBehindLoss(deps, batch, { ...outcome, store: storing })
  }
  // Null: the consumer stops or has lost the partition. The partition's next reader starts at the position.
  if (outcome === null || outcome.kind === 'recreated' || outcome.kind === 'another-leader') return false
  if (outcome.kind === 'hole') {
    consumer.seek({ topic, partition, offset: String(outcome.expectedOffset) })
    return false
  }
  deps.positions.stored(batch, batch.nextOffset)
  if (outcome.stored > 0) {
    const wereEarly = outcome.early * 2 >= outcome.stored
    if (wereEarly) deps.early.add(partitionKey(batch))
    else deps.early.delete(partitionKey(batch))
  }
  onStored(batch, outcome)
  return true
}

/** Stores the batch where retention has deleted what the position still waited for, and tells of that. */
async function storeBehindLoss<O extends StoreOutcome | null>(
  { reader, log, onLost }: Pick<HandleDeps, 'reader' | 'log' | 'onLost'>,
  batch: Batch,
  { expectedOffset, store }: { expectedOffset: bigint; store: (options: { lowOffset: bigint }) => Promise<O> },
): Promise<O> {
  const { topic, partition } = batch
  const lowOffset = (await boundsOf({ reader }, batch))?.log_start_offset ?? 0n
  const outcome = await store({ lowOffset })
  // At position 0 no record was ever read: the deleted records are older than the ingestion of the topic.
  if (outcome?.kind === 'stored' && lowOffset > expectedOffset && expectedOffset > 0n) {
    log.error({ topic, partition, expectedOffset, lowOffset }, 'records_lost_to_retention')
    onLost(batch, Number(lowOffset - expectedOffset))
  }
  return outcome
}

async function boundsOf(
  { reader }: Pick<HandleDeps, 'reader'>,
  { topic, partition }: Batch,
): Promise<LogBounds | undefined> {
  const bounds = await reader.fetchLogBounds([topic])
  return bounds.find((of) => of.partition === partition)
}

/** What kafkajs sets, but its types do not say. */
type FetchedBatch = KafkaBatch & {
  fetchedOffset: string
  /** Markers of transactions, too. */
  rawMessages: readonly { batchContext?: { partitionLeaderEpoch: number } }[]
}

/** `left`: stands for the batch from which on the records are left for a later fetch. */
function toBatch(
  fetched: KafkaBatch,
  { cluster, maxValueBytes }: Pick<HandleDeps, 'cluster' | 'maxValueBytes'>,
  left: KafkaMessage | undefined,
): FetchedPart<KafkaMessage> {
  const { topic, partition, messages, fetchedOffset, rawMessages } = fetched as FetchedBatch
  return {
    cluster,
    topic,
    partition,
    fetchedOffset: BigInt(fetchedOffset),
    nextOffset: left ? startOf(left, fetchedOffset) : BigInt(fetched.lastOffset()) + 1n,
    highWatermark: BigInt(fetched.highWatermark),
    // Records before Kafka 0.11 have none.
    lastEpoch: rawMessages.at(-1)?.batchContext?.partitionLeaderEpoch ?? null,
    messages: left ? messages.slice(0, messages.indexOf(left)) : messages,
    recordsOf: (messages) => fetchedRecords(messages, { cluster, topic, partition, maxValueBytes }),
  }
}

/** A fetch may begin in the middle of a batch. */
function startOf(batch: KafkaMessage, fetchedOffset: string): bigint {
  const first = BigInt(batch.undecodable!.firstOffset)
  return first > BigInt(fetchedOffset) ? first : BigInt(fetchedOffset)
}
