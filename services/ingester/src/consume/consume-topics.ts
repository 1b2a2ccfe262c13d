// Consumes one list of topics until it is told to stop or the consumer gives up. kafkajs cannot
// change a running consumer's topics and does not restart after every fault, so a consumer here is
// something that is built, runs, ends, and is built again by its caller.

import { partitionKey } from 'dlq-core/domain/record/record-place.ts'
import { listPositions } from 'dlq-core/queries/ingest/positions.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { DecodePool } from 'dlq-core/runtime/fetching/decode-budget.ts'
import { askTogether } from 'dlq-core/runtime/kafka/refusals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Consumer, Kafka } from 'kafkajs'
import { missingAcl } from '../read/missing-acl.ts'
import { createPositionWatch, followPositions, type PositionWatch } from '../read/watch-positions.ts'
import { followPauses, type PausedTopics } from '../watch/follow-pauses.ts'
import { assignToReaders } from './assign-partitions.ts'
import { createOffsetCommits } from './commit-offsets.ts'
import { findStrangers, hostsOfStrangers } from './group-members.ts'
import { type HandleDeps, handleBatch, passOver } from './handle-batch.ts'
import { createStoreAhead } from './store-ahead.ts'
import { watchForStall } from './watch-for-stall.ts'

export type ConsumeDeps = Omit<HandleDeps, 'consumer' | 'positions' | 'ahead' | 'commits' | 'early' | 'isPaused'> & {
  kafka: Kafka
  reader: Pick<TopicReader, 'fetchLogBounds' | 'fetchPartitions' | 'fetchRecords'>
  sql: Database
  groupId: string
  /** Tells the members of one deployment from those of another. */
  ingesterId: string
  topics: readonly string[]
  /** Bounds what its fetches decompress. */
  pool: DecodePool
  /** Ends this consumer: the service stops, or the topics have changed. */
  signal: AbortSignal
  /** The consumer met a fault, which kafkajs may or may not mend by itself. Called again while it lasts. */
  onFault: () => void
  /** A broker has answered a fetch. */
  onFetched: () => void
  /** kafkajs gave the consumer up; it may start it again. */
  onCrash: (error: Error) => void
  /** Kafka has given it its partitions: those of each topic. */
  onAssigned: (assignment: Record<string, number[]>) => void
  /** Why it reads nothing: Kafka refuses it, or members of another deployment are in the group and have all partitions. */
  onCannotRead: (why: string) => void
}

/**
 * As short as brokers allow by default (group.min.session.timeout.ms): that long the partitions of an
 * ingester that was killed wait, and all partitions after a broker's restart, which remembers members
 * that are no more. A session lost for nothing costs only a rebalance.
 */
const sessionTimeoutMs = 6000
const rebalanceTimeoutMs = 30_000
/**
 * The largest answer of a broker, over all its partitions or from one of them: the more rows a transaction has, the less
 * each one costs. Its memory is given back when they are stored.
 */
const maxFetchBytes = 3.5 * 1024 * 1024
/**
 * Of batches that are read or stored, and what is made of them: three of full size, so that PostgreSQL and this process
 * wait for each other seldom.
 */
const maxBytesUnderWay = 13.5 * 1024 * 1024
/** One part of full size (parts-of-batch.ts), which waits for a locked row, does not take the room of the others. */
const maxLateBytes = 6.5 * 1024 * 1024
/** By its heartbeat a member learns that the group waits for it: so long all of them may stand still. */
const heartbeatIntervalMs = 1000
/** A leader that is frozen, or cut off from the others, does not say so itself: the other brokers are asked this often. */
const metadataMaxAgeMs = 3000

/** Runs a consumer until `signal` aborts. @throws {DlqError} CONSUMER_CRASHED where kafkajs will not restart it */
export async function consumeTopics(deps: ConsumeDeps): Promise<void> {
  const { kafka, groupId, topics, signal, log } = deps
  // The list may have changed since the caller read it, and an event that is over is not heard of.
  if (signal.aborted) return
  const over = new AbortController()
  const consumer = kafka.consumer({
    groupId,
    partitionAssigners: [assignToReaders({ ...deps, findStrangers: (members) => findStrangers(deps.sql, members) })],
    // Positions are those of one cluster.
    clusterId: deps.cluster,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: rebalanceTimeoutMs,
    heartbeatInterval: heartbeatIntervalMs,
    metadataMaxAge: metadataMaxAgeMs,
    maxWaitTimeInMs: 500,
    maxBytes: maxFetchBytes,
    maxBytesPerPartition: maxFetchBytes,
    allowAutoTopicCreation: false,
  })
  const ended = new Promise<void>((resolve, reject) => {
    // Else `signal`, which may outlive thousands of consumers, would keep each of them.
    signal.addEventListener('abort', () => resolve(), { once: true, signal: over.signal })
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      log.warn({ error: payload.error, restart: payload.restart }, 'consumer_crashed')
      if (payload.restart) void nameMissingAcl(deps, payload.error)
      deps.onFault()
      deps.onCrash(payload.error)
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
  const ahead = createStoreAhead({ maxBytes: maxBytesUnderWay, maxLateBytes })
  const commits = createOffsetCommits({
    commit: (offsets) => consumer.commitOffsets(offsets),
    onFault: (error) => log.debug({ error }, 'commit_failed'),
  })
  const early = new Set<string>()
  // Awaited below; until then a crash during connect() must not count as unhandled.
  ended.catch(() => {})
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    log.info({ groupId, memberId: payload.memberId, assignment: payload.memberAssignment }, 'partitions_assigned')
    deps.onAssigned(payload.memberAssignment)
    positions.forget()
    ahead.forget()
    commits.forget()
    early.clear()
    seekToPositions(deps, { consumer, watch: positions }, payload.memberAssignment).catch((error) =>
      log.warn({ error }, 'seek_failed'),
    )
    void nameStrangers(deps, consumer, payload.memberAssignment)
  })
  let pauses: PausedTopics | null = null
  let isClosing = false
  consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => {
    if (payload.batchSize > 0) return
    // Where it fails, the next batch finds the hole and reads this one again.
    ahead.begin(payload, 0, () => passOver(deps, payload)).catch((error) => log.info({ error }, 'pass_over_failed'))
  })
  try {
    await consumer.connect()
    await consumer.subscribe({ topics: [...topics], fromBeginning: true })
    const paused = await followPauses({ ...deps, consumer })
    pauses = paused
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      // Three transactions at a time store them (join-stores.ts).
      partitionsConsumedConcurrently: 16,
      eachBatch: (payload) =>
        handleBatch(
          { ...deps, consumer, positions, ahead, commits, early, isPaused: paused.has },
          { ...payload, isRunning: () => payload.isRunning() && !isClosing },
        ),
    })
    const following = followPositions(positions, { log, signal: over.signal })
    try {
      await Promise.race([ended, watchdog.stalled])
    } finally {
      over.abort()
      await following
    }
  } catch (error) {
    await nameMissingAcl(deps, error)
    throw error
  } finally {
    over.abort()
    isClosing = true
    await pauses?.stop()
    watchdog.stop()
    await ahead.idle()
    await commits.stop()
    deps.pool.clear()
    await consumer.disconnect()
  }
}

async function nameStrangers(
  deps: ConsumeDeps,
  consumer: Consumer,
  assignment: Record<string, number[]>,
): Promise<void> {
  const { groupId, log, onCannotRead } = deps
  const hosts = await hostsOfStrangers(deps, consumer)
  if (hosts.length === 0) return
  log.error({ groupId, hosts }, 'group_shared')
  if (Object.keys(assignment).length > 0) return
  const place = `in the consumer group ${groupId}, from ${hosts.join(', ')}`
  onCannotRead(`another deployment reads ${place}: set kafka.consumer_group to a name of this deployment's own`)
}

async function nameMissingAcl(deps: ConsumeDeps, error: unknown): Promise<void> {
  const missing = await missingAcl(error, deps)
  if (missing === null) return
  deps.log.error({ missing }, 'acl_missing')
  deps.onCannotRead(`cannot read: Kafka does not allow ${missing}`)
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
    (await listPositions(sql, { cluster, topics })).map((row) => [partitionKey(row), row.next_offset]),
  )
  for (const { topic, partition, log_start_offset, log_end_offset } of await askTogether(
    topics,
    reader.fetchLogBounds,
    log,
  )) {
    if (!assignment[topic]!.includes(partition)) continue
    const position = positions.get(partitionKey({ topic, partition })) ?? 0n
    // A position beyond the end means that the topic was created again; kafkajs would silently start anywhere.
    const isInLog = position > log_start_offset && position <= log_end_offset
    consumer.seek({ topic, partition, offset: String(isInLog ? position : log_start_offset) })
    if (isInLog) watch.stored({ topic, partition }, position)
  }
}
