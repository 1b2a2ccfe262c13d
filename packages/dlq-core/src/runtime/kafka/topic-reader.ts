// Questions about topics that kafkajs's admin cannot answer, over connections of their own: the admin's
// cluster has target topics, and fails where one of them is deleted.

import type { Kafka } from 'kafkajs'
import type { LogBounds } from '../../queries/ingest/topic-partitions.ts'
import { createCluster } from './kafkajs-internals.ts'
import { type EpochEnd, type EpochPlace, fetchEpochEnd } from './questions/fetch-epoch-end.ts'
import {
  fetchLogBounds,
  fetchOffsetsSince,
  fetchPartitions,
  type Led,
  type OffsetSince,
} from './questions/fetch-log-bounds.ts'
import { type FetchedRecords, type FetchPlace, fetchRecords } from './questions/fetch-records.ts'
import { fetchTopicIds } from './questions/fetch-topic-ids.ts'

export type TopicReader = {
  fetchRecords(place: FetchPlace): Promise<FetchedRecords>
  fetchPartitions(topics: readonly string[]): Promise<Led[]>
  fetchLogBounds(topics: readonly string[]): Promise<LogBounds[]>
  fetchOffsetsSince(topics: readonly string[], timestamp: number): Promise<OffsetSince[]>
  fetchTopicIds(topics: readonly string[]): Promise<Map<string, string>>
  fetchEpochEnd(place: EpochPlace): Promise<EpochEnd | null>
  disconnect(): Promise<void>
}

/** Connects at the first request. Its creator disconnects it. */
export function createTopicReader(kafka: Kafka): TopicReader {
  const cluster = createCluster(kafka)
  return {
    fetchRecords: (place) => fetchRecords(cluster, place),
    fetchPartitions: (topics) => fetchPartitions(cluster, topics),
    fetchLogBounds: (topics) => fetchLogBounds(cluster, topics),
    fetchOffsetsSince: (topics, timestamp) => fetchOffsetsSince(cluster, topics, timestamp),
    fetchTopicIds: (topics) => fetchTopicIds(cluster, topics),
    fetchEpochEnd: (place) => fetchEpochEnd(cluster, place),
    disconnect: () => cluster.disconnect(),
  }
}
