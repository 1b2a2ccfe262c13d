// Consumes one list of topics until it is told to stop or the consumer gives up. kafkajs cannot
// change a running consumer's topics and does not restart after every fault, so a consumer here is
// something that is built, runs, ends, and is built again by its caller.

import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import { listPositions } from 'dlq-core/queries/ingest/positions.ts'
import type { LogBounds } from 'dlq-core/queries/ingest/topic-partitions.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { DecodePool } from 'dlq-core/runtime/fetching/decode-budget.ts'
import { noRoomNow } from 'dlq-core/runtime/fetching/kafka-codecs.ts'
import { askTogether } from 'dlq-core/runtime/kafka/refusals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { Consumer, EachBatchPayload, Kafka, Batch as KafkaBatch, KafkaMessage } from 'kafkajs'
import type { Batch, StoreOutcome } from '../store/store-batch.ts'
import { followPauses, type PausedTopics } from '../watch/follow-pauses.ts'
import { missingAcl } from './missing-acl.ts'
import { partsOfBatch } from './parts-of-batch.ts'
import { untilStored } from './until-stored.ts'
import { withinBounds } from './value-bounds.ts'
import { watchForStall } from './watch-for-stall.ts'
import { createPositionWatch, followPositions, type PositionWatch } from './watch-positions.ts'

export type ConsumeDeps = {
  kafka: Kafka
  reader: Pick<TopicReader, 'fetchLogBounds' | 'fetchRecords'>
  sql: Database
  log: Log
  cluster: string
  groupId: string
  topics: readonly string[]
  /** Bounds what its fetches decompress. */
  pool: DecodePool
  maxValueBytes: number
  /** Ends this consumer: the service stops, or the topics have changed. */
  signal: AbortSignal
  store: (batch: Batch, options?: { lowOffset: bigint }) => Promise<StoreOutcome>
  /** The consumer met a fault, which kafkajs may or may not mend by itself. Called again while it lasts. */
  onFault: () => void
  /** A broker has answered a fetch. */
  onFetched: () => void
  /** kafkajs gave the consumer up; it may start it again. */
  onCrash: (error: Error) => void
  /** Kafka has given it its partitions: those of each topic. */
  onAssigned: (assignment: Record<string, number[]>) => void
  /** The topic was deleted and created again, so its offsets begin again. */
  onRecreated: (batch: Batch, seenOffset: bigint, lowOffset: bigint) => Promise<void>
  onStored: (batch: Batch, outcome: StoreOutcome & { kind: 'stored' }) => void
  /** The database has forgotten what it had stored. */
  onBehind: () => void
  /** Retention has deleted records before they were read; control records may be among them. */
  onLost: (batch: Batch, count: number) => void
}

/**
 * As short as brokers allow by default (group.min.session.timeout.ms): that long the partitions of an
 * ingester that was killed wait, and all partitions after a broker's restart, which remembers members
 * that are no more. A session lost for nothing costs only a rebalance.
 */
const sessionTimeoutMs = 6000
const rebalanceTimeoutMs = 30_000
/** The largest answer of a broker, over all its partitions. kafkajs decodes all of it before it hands on any record. */
const maxFetchBytes = 4 * 1024 * 1024
/** By its heartbeat a member learns that the group waits for it: so long all of them may stand still. */
const heartbeatIntervalMs = 1000
/** A leader that is frozen, or cut off from the others, does not say so itself: the other brokers are asked this often. */
const metadataMaxAgeMs = 3000

/** Runs a consumer until `signal` aborts. @throws {DlqError} CONSUMER_CRASHED where kafkajs will not restart it */
export async function consumeTopics(deps: ConsumeDeps): Promise<void> {
  const { kafka, groupId, topics, signal, log } = deps
  const consumer = kafka.consumer({
    groupId,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: rebalanceTimeoutMs,
    heartbeatInterval: heartbeatIntervalMs,
    metadataMaxAge: metadataMaxAgeMs,
    maxWaitTimeInMs: 500,
    maxBytes: maxFetchBytes,
    allowAutoTopicCreation: false,
  })
  const ended = new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      log.warn({ error: payload.error, restart: payload.restart }, 'consumer_crashed')
      if (payload.restart) void nameMissingAcl(deps, payload.error)
      deps.onCrash(payload.error)
      deps.onFault()
      if (!payload.restart)
        reject(
          new DlqError('CONSUMER_CRASHED', `the consumer ended: ${payload.error.message}`, { cause: payload.error }),
        )
    })
  })
  watchForFailedFetches(consumer, deps)
  // The listener runs in the context of the fetch.
  consumer.on(consumer.events.FETCH_START, ({ payload: { nodeId } }) => deps.pool.begin(nodeId))
  const watchdog = watchForStall(consumer)
  const positions = createPositionWatch({ ...deps, consumer })
  const watching = new AbortController()
  // Awaited below; until then a crash during connect() must not count as unhandled.
  ended.catch(() => {})
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    log.info({ groupId, memberId: payload.memberId, assignment: payload.memberAssignment }, 'partitions_assigned')
    deps.onAssigned(payload.memberAssignment)
    positions.forget()
    seekToPositions(deps, { consumer, watch: positions }, payload.memberAssignment).catch((error) =>
      log.warn({ error }, 'seek_failed'),
    )
  })
  let pauses: PausedTopics | null = null
  let passed: Promise<void> = Promise.resolve()
  consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => {
    if (payload.batchSize > 0) return
    // Where it fails, the next batch finds the hole and reads this one again.
    passed = passed.then(() => passOver(deps, payload)).catch((error) => log.info({ error }, 'pass_over_failed'))
  })
  try {
    await consumer.connect()
    await consumer.subscribe({ topics: [...topics], fromBeginning: true })
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      // Two transactions at a time store them (join-stores.ts).
      partitionsConsumedConcurrently: 16,
      eachBatch: (payload) =>
        eachBatch(
          {
            ...deps,
            store: (...args) => passed.then(() => deps.store(...args)),
            isPaused: (topic) => pauses?.has(topic) ?? false,
            positions,
          },
          consumer,
          payload,
        ),
    })
    pauses = await followPauses({ ...deps, consumer })
    const following = followPositions(positions, { log, signal: watching.signal })
    try {
      await Promise.race([ended, watchdog.stalled])
    } finally {
      watching.abort()
      await following
    }
  } catch (error) {
    await nameMissingAcl(deps, error)
    throw error
  } finally {
    await pauses?.stop()
    watchdog.stop()
    deps.pool.clear()
    await consumer.disconnect()
  }
}

async function nameMissingAcl(deps: ConsumeDeps, error: unknown): Promise<void> {
  const missing = await missingAcl(error, deps)
  if (missing !== null) deps.log.error({ missing }, 'acl_missing')
}

/** kafkajs tells of fetches that succeed; one that failed shows when the broker is asked once more. */
function watchForFailedFetches(consumer: Consumer, { onFault, onFetched }: ConsumeDeps): void {
  const asked = new Set<number>()
  consumer.on(consumer.events.FETCH_START, ({ payload: { nodeId } }) => {
    if (asked.has(nodeId)) onFault()
    asked.add(nodeId)
  })
  consumer.on(consumer.events.FETCH, ({ payload }) => {
    asked.delete(payload.nodeId)
    onFetched()
  })
}

/**
 * The rows' own positions decide where to read on, not the committed offsets. This is a shortcut only:
 * a fetch may start before the seek, and storeBatch finds that out.
 */
async function seekToPositions(
  deps: ConsumeDeps,
  { consumer, watch }: { consumer: Consumer; watch: PositionWatch },
  assignment: Record<string, number[]>,
): Promise<void> {
  const { reader, sql, cluster, log } = deps
  const topics = Object.keys(assignment).filter((topic) => deps.topics.includes(topic))
  const positions = new Map(
    (await listPositions(sql, { cluster, topics })).map((row) => [`${row.topic}:${row.partition}`, row.next_offset]),
  )
  for (const { topic, partition, log_start_offset, log_end_offset } of await askTogether(
    topics,
    reader.fetchLogBounds,
    log,
  )) {
    if (!assignment[topic]!.includes(partition)) continue
    const position = positions.get(`${topic}:${partition}`) ?? 0n
    // A position beyond the end means that the topic was created again; kafkajs would silently start anywhere.
    const isInLog = position > log_start_offset && position <= log_end_offset
    consumer.seek({ topic, partition, offset: String(isInLog ? position : log_start_offset) })
    if (isInLog) watch.stored({ topic, partition }, position)
  }
}

type BatchProcessed = {
  topic: string
  partition: number
  firstOffset: string | null
  lastOffset: string
  highWatermark: string
}

/**
 * Moves the position past a batch of nothing but aborted records and transaction markers. kafkajs does not
 * hand such a batch out; without this, the next one would begin behind the position for ever.
 */
async function passOver(
  { cluster, store }: ConsumeDeps,
  { topic, partition, firstOffset, lastOffset, highWatermark }: BatchProcessed,
): Promise<void> {
  // No first offset: compaction has left nothing at or after the offset asked for, which then is the last one.
  const fetchedOffset = BigInt(firstOffset ?? lastOffset)
  await store({
    cluster,
    topic,
    partition,
    fetchedOffset,
    nextOffset: BigInt(lastOffset) + 1n,
    highWatermark: BigInt(highWatermark),
    records: [],
  })
}

type BatchDeps = ConsumeDeps & { isPaused: (topic: string) => boolean; positions: PositionWatch }

async function eachBatch(deps: BatchDeps, consumer: Consumer, payload: EachBatchPayload): Promise<void> {
  const { resolveOffset, commitOffsetsIfNecessary, uncommittedOffsets } = payload
  const { topic, partition, messages, fetchedOffset } = payload.batch as FetchedBatch
  const left = messages.find(({ undecodable }) => undecodable?.reason === noRoomNow)
  if (left && left === messages[0])
    return consumer.seek({ topic, partition, offset: String(startOf(left, fetchedOffset)) })
  for (const part of partsOfBatch(toBatch(payload.batch, deps, left))) {
    // It is read again, from the position, when the pause is over.
    if (deps.isPaused(topic)) return consumer.seek({ topic, partition, offset: String(part.fetchedOffset) })
    if (!(await storePart(deps, consumer, payload, part))) return
    // kafkajs throws a TypeError, and ends the consumer, where the topic is not ours any more.
    if (payload.isStale() || !payload.isRunning()) return
    resolveOffset(String(part.nextOffset - 1n))
  }
  await commitOffsetsIfNecessary(uncommittedOffsets())
  if (left) consumer.seek({ topic, partition, offset: String(startOf(left, fetchedOffset)) })
}

/** False where what follows must not be stored now: it is read again, here or by somebody else. */
async function storePart(
  deps: BatchDeps,
  consumer: Consumer,
  payload: EachBatchPayload,
  batch: Batch,
): Promise<boolean> {
  const { log, store, onStored } = deps
  const { topic, partition } = batch
  let outcome = await untilStored(() => store(batch), payload, log)
  if (outcome?.kind === 'recreated') {
    const { seenOffset } = outcome
    const bounds = await boundsOf(deps, batch)
    if (bounds === undefined || seenOffset <= bounds.log_end_offset) {
      // The topic was not created again. The batch is old, and another ingester has stored later records.
      consumer.seek({ topic, partition, offset: String(seenOffset) })
      return false
    }
    await deps.onRecreated(batch, seenOffset, bounds.log_start_offset)
    outcome = await untilStored(() => store(batch), payload, log)
  }
  if (outcome?.kind === 'hole') {
    // The fetch began before the seek, retention has deleted what the position still waits for, or the database has
    // forgotten what it had stored: then it may have forgotten groups and routes, too.
    deps.onBehind()
    const lowOffset = (await boundsOf(deps, batch))?.log_start_offset ?? 0n
    const { expectedOffset } = outcome
    outcome = await untilStored(() => store(batch, { lowOffset }), payload, log)
    // At position 0 no record was ever read: the deleted records are older than the ingestion of the topic.
    if (outcome?.kind === 'stored' && lowOffset > expectedOffset && expectedOffset > 0n) {
      log.error({ topic, partition, expectedOffset, lowOffset }, 'records_lost_to_retention')
      deps.onLost(batch, Number(lowOffset - expectedOffset))
    }
  }
  // Null: the consumer stops or has lost the partition. The partition's next reader starts at the position.
  if (outcome === null || outcome.kind === 'recreated') return false
  if (outcome.kind === 'hole') {
    consumer.seek({ topic, partition, offset: String(outcome.expectedOffset) })
    return false
  }
  deps.positions.stored(batch, batch.nextOffset)
  onStored(batch, outcome)
  return true
}

async function boundsOf({ reader }: ConsumeDeps, { topic, partition }: Batch): Promise<LogBounds | undefined> {
  const bounds = await reader.fetchLogBounds([topic])
  return bounds.find((of) => of.partition === partition)
}

/** kafkajs sets fetchedOffset, but its types do not say so. */
type FetchedBatch = KafkaBatch & { fetchedOffset: string }

/** `left`: stands for the batch from which on the records are left for a later fetch. */
function toBatch(
  fetched: KafkaBatch,
  { cluster, maxValueBytes }: Pick<ConsumeDeps, 'cluster' | 'maxValueBytes'>,
  left: KafkaMessage | undefined,
): Batch {
  const { topic, partition, messages, fetchedOffset } = fetched as FetchedBatch
  return {
    cluster,
    topic,
    partition,
    fetchedOffset: BigInt(fetchedOffset),
    nextOffset: left ? startOf(left, fetchedOffset) : BigInt(fetched.lastOffset()) + 1n,
    highWatermark: BigInt(fetched.highWatermark),
    records: (left ? messages.slice(0, messages.indexOf(left)) : messages).map((message) =>
      withinBounds(toRecord(message, { cluster, topic, partition }), maxValueBytes),
    ),
  }
}

/** A fetch may begin in the middle of a batch. */
function startOf(batch: KafkaMessage, fetchedOffset: string): bigint {
  const first = BigInt(batch.undecodable!.firstOffset)
  return first > BigInt(fetchedOffset) ? first : BigInt(fetchedOffset)
}

function toRecord(
  message: KafkaMessage,
  place: { cluster: string; topic: string; partition: number },
): DeadLetterRecord {
  const { offset, timestamp, timestampType, key, value, headerPairs, undecodable } = message
  return {
    ...place,
    offset: BigInt(offset),
    timestamp: BigInt(timestamp),
    timestampType,
    key,
    value,
    headers: headerPairs,
    ...(undecodable && { undecodable: undecodable.reason }),
  }
}
