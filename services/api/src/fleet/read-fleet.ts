// Reads the state of the whole fleet from the tables, so that every API reports the same.

import { type IngestLag, listIngestLag } from 'dlq-core/queries/ingest/topic-partitions.ts'
import { listReaderLags, listUnread, type ReaderLag, type UnreadTopic } from 'dlq-core/queries/readers/unread.ts'
import { oldestWaiting } from 'dlq-core/queries/reading/activity.ts'
import { type FleetStatus, readFleetStatus } from 'dlq-core/queries/reading/status.ts'
import {
  type ConsumerCounts,
  countByConsumer,
  getSummaryState,
  type SummaryState,
} from 'dlq-core/queries/reading/summary.ts'
import { countDue, type DueTopic, listDueTopics } from 'dlq-core/queries/retry/due-topics.ts'
import { maxLabels } from 'dlq-core/runtime/bounded-labels.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'

export type FleetReading = {
  summary: SummaryState
  /** Null until the messages have been counted for the first time. */
  counts: readonly ConsumerCounts[] | null
  /** By status and original topic: since when its oldest message has waited. */
  oldest: Readonly<Record<'PENDING' | 'DEAD', ReadonlyMap<string, Date>>>
  due: readonly (DueTopic & { due: number })[]
  lags: readonly IngestLag[]
  status: FleetStatus
  unread: readonly UnreadTopic[]
  readerLags: readonly ReaderLag[]
}

/** At most this many due messages are counted, evenly over the topics. */
const dueCounted = 20_000
/** At most this many topics are examined: those due for longest, and those with the most waiting messages. */
const topicsLookedInto = maxLabels
const maxConsumers = 20_000
/** Of what was sent and is not read. */
const lookedInto = { partitions: 2000, perPartition: 1000 }

/** Reads it over one connection, whose statements are sent together, so that it takes nothing from requests. */
export async function readFleet(sql: Database): Promise<FleetReading> {
  return sql.begin('read only', async (sql) => {
    const [summary, { counts }, dueTopics, lags, status, unread, readerLags] = await Promise.all([
      getSummaryState(sql),
      countByConsumer(sql, { scope: null, limit: maxConsumers }),
      listDueTopics(sql),
      listIngestLag(sql),
      readFleetStatus(sql, { scope: null }),
      listUnread(sql, lookedInto),
      listReaderLags(sql, { limit: maxConsumers }),
    ])
    const topicsWith = (status: 'PENDING' | 'DEAD') =>
      [...new Set(counts.filter((count) => count[status] > 0).map(({ original_topic }) => original_topic))].slice(
        0,
        topicsLookedInto,
      )
    const due = dueTopics.toSorted((a, b) => a.due_at.getTime() - b.due_at.getTime()).slice(0, topicsLookedInto)
    const [pending, dead, dueCounts] = await Promise.all([
      oldestWaiting(sql, { status: 'PENDING', topics: topicsWith('PENDING'), scope: null }),
      oldestWaiting(sql, { status: 'DEAD', topics: topicsWith('DEAD'), scope: null }),
      countDue(sql, {
        topics: due.map(({ original_topic }) => original_topic),
        limit: Math.ceil(dueCounted / Math.max(1, due.length)),
      }),
    ])
    const countOf = new Map(dueCounts.map(({ topic, due }) => [topic, due]))
    return {
      summary,
      counts: summary.counted_at === null ? null : counts,
      oldest: { PENDING: pending, DEAD: dead },
      due: due.map((topic) => ({ ...topic, due: countOf.get(topic.original_topic) ?? 0 })),
      lags,
      status,
      unread,
      readerLags,
    }
  })
}
