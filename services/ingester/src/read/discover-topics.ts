// Finds the DLQ topics in Kafka and records them in the database, so that every ingester consumes the same list; and the
// topics that look like DLQ topics and are not ingested.

import { candidateNames } from 'dlq-core/domain/discovery/candidate-name.ts'
import { type Subscription, topicDecider } from 'dlq-core/domain/discovery/subscription.ts'
import { recordCandidates } from 'dlq-core/queries/discovery/candidates.ts'
import { listSubscriptions } from 'dlq-core/queries/discovery/subscriptions.ts'
import {
  type FoundTopic,
  listTopics,
  recordTopics,
  type SharedTopic,
  type StartedOver,
} from 'dlq-core/queries/ingest/topics.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { Admin } from 'kafkajs'
import { takeOnTopics } from '../discovery/take-on-topics.ts'

export type DiscoverDeps = {
  admin: Admin
  reader: TopicReader
  sql: Database
  log: Log
  cluster: string
  patterns: readonly string[]
  /** Our own topic, which no subscription makes a DLQ topic. */
  ledgerTopic: string
}

export type Discovered = {
  /** The list that all ingesters share. */
  topics: SharedTopic[]
  /** The partitions of topics that were recreated. */
  startedOver: StartedOver[]
  subscriptions: Subscription[]
  /** All topics that Kafka lists. */
  listed: ReadonlySet<string>
}

/** Looks at Kafka once. */
export async function discoverTopics(deps: DiscoverDeps): Promise<Discovered> {
  const { admin, reader, sql, cluster, patterns, ledgerTopic } = deps
  const subscriptions = await listSubscriptions(sql)
  const all = await admin.listTopics()
  const decide = topicDecider({ rows: subscriptions, patterns, cluster })
  const decided = all.filter((topic) => topic !== ledgerTopic).map((topic) => ({ topic, ...decide(topic) }))
  const names = decided.filter(({ isIngested }) => isIngested).map(({ topic }) => topic)
  const found = await takeOnTopics({ ...deps, decide }, await describe(admin, reader, names))
  const startedOver = await recordTopics(sql, { cluster, found })
  // A topic that somebody has told to leave alone is no news.
  const free = new Set(decided.flatMap(({ topic, isIngested, by }) => (isIngested || by !== null ? [] : [topic])))
  const candidates = candidateNames(all).filter(({ topic }) => free.has(topic))
  await recordCandidates(sql, { cluster, found: candidates })
  return { topics: await listTopics(sql, { cluster }), startedOver, subscriptions, listed: new Set(all) }
}

/** The cluster was replaced: it has no topics any more, and nothing in them waits to be read. */
export async function leaveCluster(sql: Database, cluster: string): Promise<void> {
  await recordTopics(sql, { cluster, found: [] })
  await recordCandidates(sql, { cluster, found: [] })
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
