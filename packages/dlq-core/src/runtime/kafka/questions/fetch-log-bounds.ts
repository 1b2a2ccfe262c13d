// Where the logs of many topics begin and end, in two requests per broker; kafkajs asks topic by topic, and
// makes each one a target topic (fetch-records.ts says why that must not be).

import { partitionKey } from '../../../domain/record/record-place.ts'
import type { LogBounds } from '../../../queries/ingest/topic-partitions.ts'
import {
  anyBroker,
  brokerOf,
  type Cluster,
  earliest,
  isolationLevel,
  LeaderlessPartition,
  latest,
  metadataOf,
} from '../kafkajs-internals.ts'
import { askAgain } from './ask-leader.ts'

/** `leader`: -1 while the partition has none. */
export type Led = { topic: string; partition: number; leader: number }

/**
 * Every partition of the topics, in one request to any broker.
 *
 * @throws KafkaJSProtocolError where Kafka refuses one of the topics (deleted, forbidden)
 */
export async function fetchPartitions(cluster: Cluster, topics: readonly string[]): Promise<Led[]> {
  // An empty list would ask for all topics of the cluster.
  if (topics.length === 0) return []
  const topicMetadata = await metadataOf(await anyBroker(cluster), topics)
  return topicMetadata.flatMap(({ topic, partitionMetadata }) =>
    partitionMetadata.map(({ partitionId, leader }) => ({ topic, partition: partitionId, leader })),
  )
}

/**
 * Of every partition of the topics: the first offset that is retained, and the one after the last record,
 * committed or not. Asks again where a partition's leader moves or goes away.
 *
 * @throws KafkaJSProtocolError where Kafka refuses one of the topics (deleted, forbidden), or a partition has no leader
 * @throws KafkaJSNumberOfRetriesExceeded where a leader is away for longer than the client is patient
 */
export async function fetchLogBounds(cluster: Cluster, topics: readonly string[]): Promise<LogBounds[]> {
  const led = await askAgain(cluster, () => askLeaders(cluster, topics, [earliest, latest]))
  return led.map(({ topic, partition, offsets: [start, end] }) => ({
    ...{ topic, partition, log_start_offset: start!, log_end_offset: end! },
  }))
}

export type OffsetSince = { topic: string; partition: number; offset: bigint | null }

/**
 * Of every partition of the topics: the first offset whose record has this timestamp (milliseconds since 1970) or a
 * later one; null where no record has. Throws as `fetchLogBounds` does.
 */
export async function fetchOffsetsSince(
  cluster: Cluster,
  topics: readonly string[],
  timestamp: number,
): Promise<OffsetSince[]> {
  const led = await askAgain(cluster, () => askLeaders(cluster, topics, [timestamp]))
  return led.map(({ topic, partition, offsets: [offset] }) => ({
    ...{ topic, partition, offset: offset! < 0n ? null : offset! },
  }))
}

type Answered = Led & { offsets: bigint[] }

async function askLeaders(
  cluster: Cluster,
  topics: readonly string[],
  timestamps: readonly number[],
): Promise<Answered[]> {
  const partitions = await fetchPartitions(cluster, topics)
  const unled = partitions.find(({ leader }) => leader < 0)
  if (unled !== undefined) throw new LeaderlessPartition(unled)
  const byLeader = Map.groupBy(partitions, ({ leader }) => leader)
  const answers = await Promise.all(
    Array.from(byLeader, ([leader, led]) => askLeader(cluster, leader, { led, timestamps })),
  )
  return answers.flat()
}

async function askLeader(
  cluster: Cluster,
  leader: number,
  { led, timestamps }: { led: readonly Led[]; timestamps: readonly number[] },
): Promise<Answered[]> {
  const broker = await brokerOf(cluster, leader)
  const byTopic = Map.groupBy(led, ({ topic }) => topic)
  const ask = async (timestamp: number) => {
    const { responses } = await broker.listOffsets({
      isolationLevel: isolationLevel.READ_UNCOMMITTED,
      topics: Array.from(byTopic, ([topic, places]) => ({
        topic,
        partitions: places.map(({ partition }) => ({ partition, timestamp })),
      })),
    })
    return new Map(
      responses.flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, offset }) => [partitionKey({ topic, partition }), BigInt(String(offset))]),
      ),
    )
  }
  const answers = await Promise.all(timestamps.map(ask))
  return led.map((place) => ({
    ...place,
    offsets: answers.map((answer) => answer.get(partitionKey(place))!),
  }))
}
