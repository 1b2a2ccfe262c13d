// Begins the ingestion of topics that subscriptions name: where it begins is asked of Kafka, and stored together with
// the topic, so that a crash leaves either both or nothing.

import { type Subscription, startOf, type TopicDecision } from 'dlq-core/domain/discovery/subscription.ts'
import { activeAmong, takeOn } from 'dlq-core/queries/discovery/take-on.ts'
import type { LogBounds } from 'dlq-core/queries/ingest/topic-partitions.ts'
import type { FoundTopic } from 'dlq-core/queries/ingest/topics.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { askTogether } from 'dlq-core/runtime/kafka/refusals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'

export type TakeOnDeps = {
  sql: Database
  reader: Pick<TopicReader, 'fetchLogBounds' | 'fetchOffsetsSince'>
  log: Log
  cluster: string
  decide: (topic: string) => TopicDecision<Subscription>
}

/** Returns the topics that may be consumed: without those whose beginning is not known yet. */
export async function takeOnTopics(deps: TakeOnDeps, found: readonly FoundTopic[]): Promise<FoundTopic[]> {
  const { sql, cluster, log, decide } = deps
  const subscribed = found.flatMap((topic) => {
    const { by } = decide(topic.topic)
    return by === null ? [] : [{ topic, by }]
  })
  if (subscribed.length === 0) return [...found]
  const active = await activeAmong(sql, { cluster, topics: subscribed.map(({ topic }) => topic.topic) })
  const waiting = new Set<string>()
  for (const { topic, by } of subscribed) {
    if (active.has(topic.topic)) continue
    const places = await readStart(deps, topic, by)
    if (places === null) {
      waiting.add(topic.topic)
      log.warn({ topic: topic.topic, subscription: by.id }, 'subscription_waits')
      continue
    }
    const isFirst = await sql.begin((sql) =>
      takeOn(sql, { cluster, found: topic, places, subscribedAt: by.created_at }),
    )
    if (isFirst) log.info({ topic: topic.topic, subscription: by.id, places }, 'subscription_begun')
  }
  return found.filter(({ topic }) => !waiting.has(topic))
}

/** Null where Kafka does not say. */
async function readStart({ reader, log }: TakeOnDeps, { topic, partitions }: FoundTopic, by: Subscription) {
  const since = (time: Date) => askTogether([topic], (topics) => reader.fetchOffsetsSince(topics, time.getTime()), log)
  // The end is asked for last: what came meanwhile is from before the subscription too.
  const young = await since(by.created_at)
  const chosen = by.start_at === null ? [] : await since(by.start_at)
  const bounds: LogBounds[] = await askTogether([topic], reader.fetchLogBounds, log)
  if (bounds.length < partitions || young.length < bounds.length) return null
  if (by.start_at !== null && chosen.length < bounds.length) return null
  const offsetOf = (of: typeof young, partition: number) =>
    of.find((one) => one.partition === partition)?.offset ?? null
  return bounds.map((log) =>
    startOf(by, {
      ...log,
      since_offset: offsetOf(young, log.partition),
      start_offset: offsetOf(chosen, log.partition),
    }),
  )
}
