// Reads the state of the whole fleet from the tables, so that every API reports the same.

import { type IngestLag, listIngestLag } from 'dlq-core/queries/ingest/topic-partitions.ts'
import {
  type LaggingReader,
  listLaggingReaders,
  listUnreadTopics,
  type UnreadTopic,
} from 'dlq-core/queries/readers/unread.ts'
import { limitTime, oldestOfFleet } from 'dlq-core/queries/reading/fleet-ages.ts'
import { type FleetStatus, readFleetStatus } from 'dlq-core/queries/reading/status.ts'
import {
  type ConsumerCounts,
  countByConsumer,
  getSummaryState,
  type SummaryState,
} from 'dlq-core/queries/reading/summary.ts'
import { countDue, type DueTopic, listDueTopics } from 'dlq-core/queries/retry/due-topics.ts'
import { countTopicPauses, type Pausable } from 'dlq-core/queries/retry/topic-pauses.ts'
import { maxLabels } from 'dlq-core/runtime/bounded-labels.ts'
import type { Database, Transaction } from 'dlq-core/runtime/database/database.ts'
import { isTooSlow } from 'dlq-core/runtime/database/database-errors.ts'

export type FleetReading = {
  summary: SummaryState
  /** Null until the messages have been counted for the first time. Held messages count under their DLQ topic. */
  counts: readonly ConsumerCounts[] | null
  /** By status and topic: since when its oldest message has waited. */
  oldest: Readonly<Record<'PENDING' | 'DEAD', ReadonlyMap<string, Date>>>
  due: readonly (DueTopic & { due: number })[]
  lags: readonly IngestLag[]
  status: FleetStatus
  pauses: readonly { what: Pausable; topics: number }[]
  unread: readonly UnreadTopic[]
  readerLags: readonly LaggingReader[]
}

/** At most this many due messages are counted, evenly over the topics. */
const dueCounted = 20_000
/** At most this many topics are examined: those due for longest. */
const topicsLookedInto = maxLabels
/** Ages that take longer to find are left out. */
const defaultMaxAgesMs = 5000
const maxConsumers = 20_000
/** Of what was sent and is not read. */
const lookedInto = { partitions: 2000, perPartition: 1000 }

/** Reads it over one connection, whose statements are sent together, so that it takes nothing from requests. */
export async function readFleet(
  sql: Database,
  { maxAgesMs = defaultMaxAgesMs }: { maxAgesMs?: number } = {},
): Promise<FleetReading> {
  return sql.begin('read only', async (sql) => {
    const [summary, { counts }, dueTopics, lags, status, pauses, unread, readerLags] = await Promise.all([
      getSummaryState(sql),
      countByConsumer(sql, { scope: null, limit: maxConsumers, heldApart: true }),
      listDueTopics(sql),
      listIngestLag(sql),
      readFleetStatus(sql, { scope: null }),
      countTopicPauses(sql),
      listUnreadTopics(sql, lookedInto),
      listLaggingReaders(sql, { limit: maxConsumers }),
    ])
    const due = dueTopics.toSorted((a, b) => a.due_at.getTime() - b.due_at.getTime()).slice(0, topicsLookedInto)
    const dueCounts = await countDue(sql, {
      topics: due.map(({ original_topic }) => original_topic),
      limit: Math.ceil(dueCounted / Math.max(1, due.length)),
    })
    const oldest = await readAges(sql, maxAgesMs)
    const countOf = new Map(dueCounts.map(({ topic, due }) => [topic, due]))
    return {
      summary,
      counts: summary.counted_at === null ? null : counts,
      oldest,
      due: due.map((topic) => ({ ...topic, due: countOf.get(topic.original_topic) ?? 0 })),
      lags,
      status,
      pauses,
      unread,
      readerLags,
    }
  })
}

/**
 * The ages of the topics that wait longest; none where a flood of held messages makes that slow, so that all the other
 * gauges stay. The last statements of the transaction, because the time limit stays in force.
 */
async function readAges(sql: Transaction, maxAgesMs: number): Promise<FleetReading['oldest']> {
  try {
    return await sql.savepoint(async (sql) => {
      await limitTime(sql, maxAgesMs)
      const [PENDING, DEAD] = await Promise.all([
        oldestOfFleet(sql, { status: 'PENDING', limit: maxLabels }),
        oldestOfFleet(sql, { status: 'DEAD', limit: maxLabels }),
      ])
      return { PENDING, DEAD }
    })
  } catch (error) {
    if (!isTooSlow(error)) throw error
    return { PENDING: new Map(), DEAD: new Map() }
  }
}
