// Finds the DLQ topics in Kafka and writes them down, so that every ingester consumes the same list.

import {
  type FoundTopic,
  listTopics,
  recordTopics,
  type SharedTopic,
  type StartedOver,
} from 'dlq-core/queries/topics.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { matchesTopicGlobs } from 'dlq-core/topic-names.ts'
import type { Admin } from 'kafkajs'

export type DiscoverDeps = { admin: Admin; sql: Database; cluster: string; patterns: readonly string[] }

/** One look at Kafka. Returns the list that all ingesters share, and the partitions of topics that were made anew. */
export async function discoverTopics({
  admin,
  sql,
  cluster,
  patterns,
}: DiscoverDeps): Promise<{ topics: SharedTopic[]; startedOver: StartedOver[] }> {
  const names = (await admin.listTopics()).filter((topic) => matchesTopicGlobs(patterns, topic))
  const startedOver = await recordTopics(sql, { cluster, found: await describe(admin, names) })
  return { topics: await listTopics(sql, { cluster }), startedOver }
}

async function describe(admin: Admin, topics: string[]): Promise<FoundTopic[]> {
  // An empty list would ask kafkajs for every topic of the cluster.
  if (topics.length === 0) return []
  const [metadata, topicIds] = await Promise.all([
    admin.fetchTopicMetadata({ topics }),
    admin.fetchTopicIds({ topics }),
  ])
  return metadata.topics.map(({ name, partitions }) => ({
    topic: name,
    topicId: topicIds.get(name) ?? null,
    partitions: partitions.length,
  }))
}
