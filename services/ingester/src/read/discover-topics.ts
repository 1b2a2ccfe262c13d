// Finds the DLQ topics in Kafka and records them in the database, so that every ingester consumes the same list.

import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import {
  type FoundTopic,
  listTopics,
  recordTopics,
  type SharedTopic,
  type StartedOver,
} from 'dlq-core/queries/ingest/topics.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Admin } from 'kafkajs'

export type DiscoverDeps = {
  admin: Admin
  reader: TopicReader
  sql: Database
  cluster: string
  patterns: readonly string[]
}

/** Looks at Kafka once. Returns the list that all ingesters share, and the partitions of topics that were recreated. */
export async function discoverTopics({
  admin,
  reader,
  sql,
  cluster,
  patterns,
}: DiscoverDeps): Promise<{ topics: SharedTopic[]; startedOver: StartedOver[] }> {
  const names = (await admin.listTopics()).filter((topic) => matchesTopicGlobs(patterns, topic))
  const startedOver = await recordTopics(sql, { cluster, found: await describe(admin, reader, names) })
  return { topics: await listTopics(sql, { cluster }), startedOver }
}

async function describe(admin: Admin, reader: TopicReader, topics: string[]): Promise<FoundTopic[]> {
  // With an empty list kafkajs would ask for every topic of the cluster.
  if (topics.length === 0) return []
  const [metadata, topicIds] = await Promise.all([admin.fetchTopicMetadata({ topics }), reader.fetchTopicIds(topics)])
  return metadata.topics.map(({ name, partitions }) => ({
    topic: name,
    topic_id: topicIds.get(name) ?? null,
    partitions: partitions.length,
  }))
}
