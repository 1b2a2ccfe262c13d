// Records in the database what Kafka holds of the DLQ topics: where their logs begin and end, what retention deletes
// next, and when. So the API, which never talks to Kafka, can say how far behind ingestion is.

import type { RecordPlace } from 'dlq-core/domain/record/record-place.ts'
import {
  listIngestLag,
  listUnread,
  recordLogBounds,
  recordTopicSettings,
  takeTopicsToLookAt,
  type UnreadRecord,
} from 'dlq-core/queries/ingest/topic-partitions.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { askTogether } from 'dlq-core/runtime/kafka/refusals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { Admin } from 'kafkajs'
import type { IngesterMetrics } from '../ingester-metrics.ts'
import { describeTopics } from './describe-topics.ts'

export type WatchDeps = {
  admin: Pick<Admin, 'describeConfigs'>
  reader: Pick<TopicReader, 'fetchLogBounds' | 'fetchRecords'>
  sql: Database
  log: Log
  metrics: Pick<IngesterMetrics, 'lag'>
  now: () => number
}

/** How old the recorded values may become. */
export const lookEveryMs = 15_000
const topicsPerLook = 200
/** A producer may write any timestamp. A later one means nothing, and would overflow when a retention is added. */
const latestTimestamp = Date.UTC(9000, 0)
const settingsEveryMs = 5 * 60_000
/** Each costs one fetch of one batch. */
const unreadPerLook = 20
/** Kafka returns at least one batch, however small the bound is. */
const oneBatch = 1

/** A pass that looks at the topics that are due for it. Several ingesters share the topics. */
export function createLogWatch({ admin, reader, sql, log, metrics, now }: WatchDeps) {
  /** When this process last asked for a topic's settings. */
  const askedSettingsAt = new Map<string, number>()

  async function lookAtSettings(cluster: string, topics: readonly string[]): Promise<void> {
    const due = topics.filter((topic) => now() - (askedSettingsAt.get(topic) ?? -Infinity) >= settingsEveryMs)
    if (askedSettingsAt.size > 10_000) askedSettingsAt.clear()
    for (const topic of due) askedSettingsAt.set(topic, now())
    const settings = await askTogether(due, (topics) => describeTopics(admin, topics), log)
    const described = new Set(settings.map(({ topic }) => topic))
    const missing = due.find((topic) => !described.has(topic))
    // Without its retention, nobody is warned before a record of the topic is deleted.
    if (missing !== undefined) log.warn({ missing: `DescribeConfigs on Topic ${missing}` }, 'acl_missing')
    await recordTopicSettings(sql, { cluster, settings })
  }

  return async function watchLogs(cluster: string): Promise<{ more: boolean }> {
    const topics = await takeTopicsToLookAt(sql, { cluster, everyMs: lookEveryMs, limit: topicsPerLook })
    const bounds = await askTogether(topics, reader.fetchLogBounds, log)
    if (bounds.length > 0) {
      const waiting = await listUnread(sql, { cluster, bounds, limit: unreadPerLook })
      await recordLogBounds(sql, { cluster, bounds, unread: await readUnread(reader, waiting, log) })
    }
    await lookAtSettings(cluster, topics)
    const more = topics.length === topicsPerLook
    if (!more) metrics.lag(await listIngestLag(sql))
    return { more }
  }
}

/** The first record at or after each place; a place without one, or whose topic is gone, has none. */
async function readUnread(
  reader: WatchDeps['reader'],
  places: readonly RecordPlace[],
  log: Log,
): Promise<UnreadRecord[]> {
  const found: UnreadRecord[] = []
  for (const { topic, partition, offset } of places) {
    try {
      const fetched = await reader.fetchRecords({ topic, partition, offset, maxBytes: oneBatch })
      const messages = fetched.kind === 'records' ? fetched.messages : []
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
