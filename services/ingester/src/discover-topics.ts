// Finds the DLQ topics in Kafka and writes them down, so that every ingester consumes the same list.

import { type FoundTopic, listTopics, recordTopics } from 'dlq-core/queries/topics.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { matchesTopicGlobs } from 'dlq-core/topic-names.ts'
import type { Admin } from 'kafkajs'

export type DiscoverDeps = { admin: Admin; sql: Database; cluster: string; patterns: readonly string[] }

/** One look at Kafka. Returns the list that all ingesters share. */
export async function discoverTopics({ admin, sql, cluster, patterns }: DiscoverDeps): Promise<string[]> {
  const names = (await admin.listTopics()).filter((topic) => matchesTopicGlobs(patterns, topic))
  await recordTopics(sql, { cluster, found: await countPartitions(admin, names) })
  return listTopics(sql, { cluster })
}

async function countPartitions(admin: Admin, topics: string[]): Promise<FoundTopic[]> {
  // An empty list would ask kafkajs for every topic of the cluster.
  if (topics.length === 0) return []
  const metadata = await admin.fetchTopicMetadata({ topics })
  return metadata.topics.map(({ name, partitions }) => ({ topic: name, partitions: partitions.length }))
}
