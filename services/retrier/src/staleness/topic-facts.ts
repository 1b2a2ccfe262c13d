// What a scan has to know of an original topic before it reads: whether it is still the same, which partitions it has,
// what they retain, and whether compaction takes records away.

import type { LogBounds } from 'dlq-core/queries/ingest/topic-partitions.ts'
import type { Cursor } from 'dlq-core/queries/staleness/cursors.ts'
import { refusalOf } from 'dlq-core/runtime/kafka/refusals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import kafkajs, { type Admin } from 'kafkajs'
import { readTopicLimits } from '../targets/topic-limits.ts'

export type TopicFacts =
  | { kind: 'gone' | 'not_allowed' }
  | { kind: 'known'; id: string | null; bounds: ReadonlyMap<number, LogBounds>; isCompacted: boolean | null }

export type FactsDeps = { admin: Admin; reader: Pick<TopicReader, 'fetchLogBounds' | 'fetchTopicIds'> }

/** @throws where Kafka does not answer */
export async function lookAtTopic({ admin, reader }: FactsDeps, topic: string): Promise<TopicFacts> {
  try {
    const [bounds, ids, limits] = await Promise.all([
      reader.fetchLogBounds([topic]),
      reader.fetchTopicIds([topic]),
      readTopicLimits(admin, [topic]),
    ])
    return {
      ...{ kind: 'known', id: ids.get(topic) ?? null, isCompacted: limits.get(topic)?.needsKey ?? null },
      bounds: new Map(bounds.map((of) => [of.partition, of])),
    }
  } catch (error) {
    if (refusalOf(error) !== null) return { kind: 'not_allowed' }
    const isGone = error instanceof kafkajs.KafkaJSProtocolError && error.type === 'UNKNOWN_TOPIC_OR_PARTITION'
    if (isGone) return { kind: 'gone' }
    throw error
  }
}

/** Whether the topic's records may be read. Who may write to it learns all the rest of it, too. @throws where Kafka does not answer */
export async function mayRead(
  { reader }: { reader: Pick<TopicReader, 'fetchRecords'> },
  topic: string,
  { bounds }: Extract<TopicFacts, { kind: 'known' }>,
): Promise<boolean> {
  const [first] = bounds.values()
  if (first === undefined) return true
  try {
    await reader.fetchRecords({ topic, partition: first.partition, offset: first.log_start_offset, maxBytes: 1 })
    return true
  } catch (error) {
    if (refusalOf(error) === null) throw error
    return false
  }
}

/** Producers learn of new partitions within metadata.max.age.ms, five minutes by default. */
const settleMs = 10 * 60_000

/** The cursor as it is under these facts, and whether the topic is another than before. */
export function followTopic(
  cursor: Cursor,
  { id, partitions, end, now }: { id: string | null; partitions: number; end: bigint; now: Date },
): { cursor: Cursor; isRecreated: boolean } {
  const isRecreated = cursor.topic_id !== null && id !== null && cursor.topic_id !== id
  const isOther = isRecreated || cursor.topic_partitions !== partitions
  const counted_at = isOther || cursor.counted_at === null ? now : cursor.counted_at
  const isSettling = now.getTime() - counted_at.getTime() < settleMs
  return {
    isRecreated,
    cursor: {
      ...cursor,
      ...{ topic_id: id ?? cursor.topic_id, topic_partitions: partitions, counted_at },
      counted_from: isOther || isSettling ? end : cursor.counted_from,
      ...(isRecreated && { position: null, recreated_at: now }),
    },
  }
}

const byKey = kafkajs.Partitioners.DefaultPartitioner()

/**
 * Whether newer records of the key stand in another partition: the topic has grown since this one was written, or may
 * have, and Java's default partitioner puts the key elsewhere now.
 */
export function hasMoved(
  { topic_partitions: count, counted_from: from, partition }: Cursor,
  of: { offset: bigint; key: Buffer },
) {
  if (count === null || (from !== null && of.offset >= from)) return false
  const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({
    ...{ partitionId, leader: 0, partitionErrorCode: 0, replicas: [], isr: [] },
  }))
  return byKey({ topic: '', partitionMetadata, message: { key: of.key, value: null } }) !== partition
}
