// Keeps true in the database what Kafka holds of the DLQ topics: how far their logs go, what retention
// will delete first, and when. So the API, which never talks to Kafka, can say how far behind ingestion is.

import {
  type LogBounds,
  listIngestLag,
  listUnread,
  type Place,
  recordLogBounds,
  recordTopicSettings,
  type TopicSettings,
  takeTopicsToLookAt,
  type UnreadRecord,
} from 'dlq-core/queries/topic-partitions.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import kafkajs, { type Admin } from 'kafkajs'
import type { IngesterMetrics } from './ingester-metrics.ts'

export type WatchDeps = {
  admin: Pick<Admin, 'fetchLogBounds' | 'describeConfigs' | 'fetchRecords'>
  sql: Database
  log: Log
  metrics: Pick<IngesterMetrics, 'lag'>
  now: () => number
}

/** How old what is written down may become. */
export const lookEveryMs = 15_000
const topicsPerLook = 200
/** A producer may write any time. One beyond this says nothing, and with a retention added leaves every calendar. */
const latestTimestamp = Date.UTC(9000, 0)
const settingsEveryMs = 5 * 60_000
/** Each costs one fetch of one batch. */
const unreadPerLook = 20
/** Kafka returns at least one batch, however small the bound is. */
const oneBatch = 1

/** A pass that looks at the topics whose turn it is; several ingesters share them. */
export function createLogWatch({ admin, sql, log, metrics, now }: WatchDeps) {
  /** When this process asked for a topic's settings last. */
  const askedSettingsAt = new Map<string, number>()

  async function lookAtSettings(cluster: string, topics: readonly string[]): Promise<void> {
    const due = topics.filter((topic) => now() - (askedSettingsAt.get(topic) ?? -Infinity) >= settingsEveryMs)
    if (askedSettingsAt.size > 10_000) askedSettingsAt.clear()
    for (const topic of due) askedSettingsAt.set(topic, now())
    const settings = await askTogether(due, (topics) => describeTopics(admin, topics), log)
    await recordTopicSettings(sql, { cluster, settings })
  }

  return async function watchLogs(cluster: string): Promise<{ more: boolean }> {
    const topics = await takeTopicsToLookAt(sql, { cluster, everyMs: lookEveryMs, limit: topicsPerLook })
    const bounds = await askTogether(topics, (topics) => fetchBounds(admin, topics), log)
    if (bounds.length > 0) {
      const waiting = await listUnread(sql, { cluster, bounds, limit: unreadPerLook })
      await recordLogBounds(sql, { cluster, bounds, unread: await readUnread(admin, waiting, log) })
    }
    await lookAtSettings(cluster, topics)
    const more = topics.length === topicsPerLook
    if (!more) metrics.lag(await listIngestLag(sql))
    return { more }
  }
}

/**
 * Asks for all topics at once; where Kafka refuses (one of them was deleted, or is forbidden), for halves of
 * them, and leaves out the one it refuses alone.
 */
async function askTogether<T>(
  topics: readonly string[],
  ask: (topics: readonly string[]) => Promise<T[]>,
  log: Log,
): Promise<T[]> {
  if (topics.length === 0) return []
  try {
    return await ask(topics)
  } catch (error) {
    if (!(error instanceof kafkajs.KafkaJSProtocolError)) throw error
    if (topics.length === 1) {
      log.debug({ topic: topics[0], error }, 'look_failed')
      return []
    }
  }
  const middle = topics.length >> 1
  return [
    ...(await askTogether(topics.slice(0, middle), ask, log)),
    ...(await askTogether(topics.slice(middle), ask, log)),
  ]
}

async function fetchBounds(admin: WatchDeps['admin'], topics: readonly string[]): Promise<LogBounds[]> {
  const bounds = await admin.fetchLogBounds({ topics })
  return bounds.map(({ topic, partition, low, high }) => ({
    topic,
    partition,
    logStart: BigInt(low),
    logEnd: BigInt(high),
  }))
}

async function describeTopics(admin: WatchDeps['admin'], topics: readonly string[]): Promise<TopicSettings[]> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({
      type: kafkajs.ConfigResourceTypes.TOPIC,
      name,
      configNames: ['retention.ms', 'retention.bytes', 'cleanup.policy'],
    })),
  })
  return resources.map(({ resourceName, configEntries }) => {
    const values = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]))
    const number = (name: string) => (values.get(name) ? BigInt(values.get(name)!) : null)
    return {
      topic: resourceName,
      retentionMs: number('retention.ms'),
      retentionBytes: number('retention.bytes'),
      cleanupPolicy: values.get('cleanup.policy') ?? null,
    }
  })
}

/** The first record at or after each place; a place without one, or whose topic is gone, has none. */
async function readUnread(admin: WatchDeps['admin'], places: readonly Place[], log: Log): Promise<UnreadRecord[]> {
  const found: UnreadRecord[] = []
  for (const { topic, partition, offset } of places) {
    try {
      const { messages } = await admin.fetchRecords({ topic, partition, offset: String(offset), maxBytes: oneBatch })
      const first = messages.find((message) => BigInt(message.offset) >= offset)
      const timestamp = Number(first?.timestamp)
      if (first && timestamp >= 0 && timestamp <= latestTimestamp) {
        found.push({ topic, partition, offset: BigInt(first.offset), timestamp })
      }
    } catch (error) {
      log.debug({ topic, partition, offset, error }, 'look_failed')
    }
  }
  return found
}
