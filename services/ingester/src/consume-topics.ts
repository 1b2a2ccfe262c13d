// Consumes one list of topics until it is told to stop or the consumer gives up. kafkajs cannot
// change a running consumer's topics and does not restart after every fault, so a consumer here is
// something that is built, runs, ends, and is built again by its caller.

import { DlqError } from 'dlq-core/runtime/errors.ts'
import { listPositions } from 'dlq-core/queries/positions.ts'
import type { DeadLetterRecord } from 'dlq-core/record.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { Batch as KafkaBatch, Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs'
import { lowOffsets } from './low-offsets.ts'
import type { Batch, StoreOutcome } from './store-batch.ts'
import { untilStored } from './until-stored.ts'

export type ConsumeDeps = {
  kafka: Kafka
  sql: Database
  log: Log
  cluster: string
  groupId: string
  topics: readonly string[]
  /** Ends this consumer: the service stops, or the topics have changed. */
  signal: AbortSignal
  store: (batch: Batch, options?: { lowOffset: bigint }) => Promise<StoreOutcome>
  onStored: (batch: Batch, outcome: StoreOutcome & { kind: 'stored' }) => void
}

/** Sessions are short, so that a killed ingester's partitions move on soon. */
const sessionTimeoutMs = 10_000
const rebalanceTimeoutMs = 30_000
const heartbeatIntervalMs = 2000

/** Runs a consumer until `signal` aborts. @throws {DlqError} CONSUMER_CRASHED where kafkajs will not restart it */
export async function consumeTopics(deps: ConsumeDeps): Promise<void> {
  const { kafka, groupId, topics, signal, log } = deps
  const consumer = kafka.consumer({
    groupId,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: rebalanceTimeoutMs,
    heartbeatInterval: heartbeatIntervalMs,
    maxWaitTimeInMs: 500,
    allowAutoTopicCreation: false,
  })
  const ended = new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      log.warn({ error: payload.error, restart: payload.restart }, 'consumer_crashed')
      if (!payload.restart) reject(new DlqError('CONSUMER_CRASHED', `the consumer ended: ${payload.error.message}`, { cause: payload.error }))
    })
  })
  // Awaited below; until then a crash during connect() must not count as unhandled.
  ended.catch(() => {})
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    log.info({ groupId, memberId: payload.memberId, assignment: payload.memberAssignment }, 'partitions_assigned')
    seekToPositions(deps, consumer, payload.memberAssignment).catch((error) => log.warn({ error }, 'seek_failed'))
  })
  try {
    await consumer.connect()
    await consumer.subscribe({ topics: [...topics], fromBeginning: true })
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 2,
      eachBatch: (payload) => eachBatch(deps, consumer, payload),
    })
    await ended
  } finally {
    await consumer.disconnect()
  }
}

/**
 * The rows' own positions decide where to read on, not the committed offsets. This is a shortcut only:
 * a fetch may start before the seek, and storeBatch finds that out.
 */
async function seekToPositions(deps: ConsumeDeps, consumer: Consumer, assignment: Record<string, number[]>): Promise<void> {
  const { kafka, sql, cluster } = deps
  const topics = Object.keys(assignment).filter((topic) => deps.topics.includes(topic))
  const positions = new Map((await listPositions(sql, { cluster, topics })).map((row) => [`${row.topic}:${row.partition}`, row.nextOffset]))
  for (const topic of topics) {
    const low = await lowOffsets(kafka, topic)
    for (const partition of assignment[topic]!) {
      const position = positions.get(`${topic}:${partition}`) ?? 0n
      const first = low.get(partition) ?? 0n
      consumer.seek({ topic, partition, offset: String(position > first ? position : first) })
    }
  }
}

async function eachBatch(deps: ConsumeDeps, consumer: Consumer, payload: EachBatchPayload): Promise<void> {
  const { kafka, log, store, onStored } = deps
  const { batch: fetched, resolveOffset, commitOffsetsIfNecessary, uncommittedOffsets } = payload
  const { topic, partition } = fetched
  const batch = toBatch(fetched, deps.cluster)
  let outcome = await untilStored(() => store(batch), payload, log)
  if (outcome?.kind === 'hole') {
    // Either the fetch began before the seek, or retention has deleted what the position still waits for.
    const lowOffset = (await lowOffsets(kafka, topic)).get(partition) ?? 0n
    const { expectedOffset } = outcome
    outcome = await untilStored(() => store(batch, { lowOffset }), payload, log)
    if (outcome?.kind === 'stored') log.error({ topic, partition, expectedOffset, lowOffset }, 'records_lost_to_retention')
  }
  // Null: the consumer stops or has lost the partition; whoever reads it next starts at the position.
  if (outcome === null) return
  if (outcome.kind === 'hole') {
    consumer.seek({ topic, partition, offset: String(outcome.expectedOffset) })
    return
  }
  onStored(batch, outcome)
  resolveOffset(fetched.lastOffset())
  await commitOffsetsIfNecessary(uncommittedOffsets())
}

function toBatch(fetched: KafkaBatch, cluster: string): Batch {
  // kafkajs sets fetchedOffset, but its types do not say so.
  const { topic, partition, messages, fetchedOffset } = fetched as KafkaBatch & { fetchedOffset: string }
  return {
    cluster,
    topic,
    partition,
    fetchedOffset: BigInt(fetchedOffset),
    nextOffset: BigInt(fetched.lastOffset()) + 1n,
    records: messages.map((message) => toRecord(message, { cluster, topic, partition })),
  }
}

function toRecord(message: KafkaMessage, place: { cluster: string; topic: string; partition: number }): DeadLetterRecord {
  const { offset, timestamp, key, value, headerPairs } = message
  return { ...place, offset: BigInt(offset), timestamp: BigInt(timestamp), key, value, headers: headerPairs ?? [] }
}
