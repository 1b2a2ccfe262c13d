// What there is to say of the fleet as a whole: from the tables, so every API says the same.

import { oldestPending } from 'dlq-core/queries/activity.ts'
import { countDue, type DueCount } from 'dlq-core/queries/due-topics.ts'
import { type FleetStatus, readFleetStatus } from 'dlq-core/queries/status.ts'
import { type ConsumerCounts, countByConsumer, getSummaryState, type SummaryState } from 'dlq-core/queries/summary.ts'
import { type IngestLag, listIngestLag } from 'dlq-core/queries/topic-partitions.ts'
import type { Database } from 'dlq-core/runtime/database.ts'

export type FleetReading = {
  summary: SummaryState
  /** Null until the messages have been counted for the first time. */
  counts: readonly ConsumerCounts[] | null
  /** By original topic: since when its oldest PENDING message has waited. */
  oldestPending: ReadonlyMap<string, Date>
  due: readonly DueCount[]
  lags: readonly IngestLag[]
  status: FleetStatus
}

const maxConsumers = 20_000
/** So many topics are looked into, those with most that waits. */
const topicsLookedInto = 2000
/** So many due messages are counted, evenly over the topics; of each of them at least some. */
const dueCounted = { ofAll: 20_000, atLeast: 20 }

/** Its two slow questions are asked at once; a scrape takes no more than three connections. */
export async function readFleet(sql: Database): Promise<FleetReading> {
  const counts = await countByConsumer(sql, { scope: null, limit: maxConsumers })
  const waiting = counts.filter(({ PENDING }) => PENDING > 0).map(({ original_topic }) => original_topic)
  const topics = [...new Set(waiting)].slice(0, topicsLookedInto)
  const limit = Math.max(dueCounted.atLeast, Math.floor(dueCounted.ofAll / Math.max(1, topics.length)))
  const [oldest, due, [summary, lags, status]] = await Promise.all([
    oldestPending(sql, topics),
    countDue(sql, { topics, limit }),
    sql.begin('read only', (sql) =>
      Promise.all([getSummaryState(sql), listIngestLag(sql), readFleetStatus(sql, { scope: null })]),
    ),
  ])
  return { summary, counts: summary.counted_at === null ? null : counts, oldestPending: oldest, due, lags, status }
}
