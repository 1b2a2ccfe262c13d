// dlq_summary and dlq_summary_deltas: how many messages there are of each kind, exactly, at any size. A
// read is one statement over both tables, so it counts what its snapshot sees, however much is folded
// meanwhile. Nothing but the triggers writes counts.

import type { Status } from '../message.ts'
import type { Sql } from './sql.ts'
import { inScope, type TopicScope } from './topic-scope.ts'

/** The lines of both tables, to be added up. */
function lines(sql: Sql) {
  return sql`(
    select dlq_topic, original_topic, consumer_group, group_id, status, count from dlq.dlq_summary
    union all
    select dlq_topic, original_topic, consumer_group, group_id, status, change from dlq.dlq_summary_deltas
  ) line`
}

export type Count = {
  dlq_topic: string | null
  original_topic: string
  consumer_group: string | null
  group_id: string | null
  status: Status
  count: number
}

/** Every count that is not 0. */
export async function listCounts(sql: Sql): Promise<Count[]> {
  return sql<Count[]>`
    select dlq_topic, original_topic, consumer_group, group_id, status, sum(count)::float8 as count
    from ${lines(sql)}
    group by dlq_topic, original_topic, consumer_group, group_id, status
    having sum(count) <> 0`
}

export type ConsumerCount = {
  original_topic: string
  consumer_group: string | null
  /** What people call the DLQ topic, where somebody has said so. */
  display_name: string | null
  dead: number
}

/** The DEAD messages of every original topic and consumer group that has messages at all. */
export async function countDeadByConsumer(sql: Sql, { scope }: { scope: TopicScope }): Promise<ConsumerCount[]> {
  return sql<ConsumerCount[]>`
    select original_topic, consumer_group, min(known.display_name) as display_name,
           coalesce(sum(count) filter (where status = 'DEAD'), 0)::float8 as dead
    from ${lines(sql)}
    left join (select topic, min(display_name) as display_name from dlq.dlq_topics group by topic) known
      on known.topic = line.dlq_topic
    where ${inScope(sql, scope)}
    group by original_topic, consumer_group
    having sum(count) > 0
    order by original_topic collate "C", consumer_group collate "C"`
}

export type TopicCounts = Record<Status, number> & { original_topic: string; consumer_group: string | null }

/** The counts by status of every original topic and consumer group that has messages; at most `limit`, most waiting and DEAD first. */
export async function countByConsumer(
  sql: Sql,
  { scope, limit }: { scope: TopicScope; limit: number },
): Promise<TopicCounts[]> {
  return sql<TopicCounts[]>`
    select original_topic, consumer_group,
           coalesce(sum(count) filter (where status = 'PENDING'), 0)::float8 as "PENDING",
           coalesce(sum(count) filter (where status = 'RETRYING'), 0)::float8 as "RETRYING",
           coalesce(sum(count) filter (where status = 'RESOLVED'), 0)::float8 as "RESOLVED",
           coalesce(sum(count) filter (where status = 'DEAD'), 0)::float8 as "DEAD"
    from ${lines(sql)}
    where ${inScope(sql, scope)}
    group by original_topic, consumer_group
    having sum(count) > 0
    order by sum(count) filter (where status <> 'RESOLVED') desc nulls last, original_topic collate "C", consumer_group collate "C"
    limit ${limit}`
}

export type SummaryState = {
  /** Null until the rows that were there before the summary have been counted: no count is right before. */
  counted_at: Date | null
  /** By how much the counts were wrong at the last full count. */
  drift: number
  /** Deltas that wait to be folded; a read has to add them up. */
  deltas: number
}

export async function getSummaryState(sql: Sql): Promise<SummaryState> {
  const [row] = await sql<[SummaryState]>`
    select counted_at, drift::float8 as drift, (select count(*)::int from dlq.dlq_summary_deltas) as deltas
    from dlq.dlq_summary_state`
  return row
}

/** Folds up to `limit` deltas. Returns how many; null where another instance is at it. */
export async function foldSummary(sql: Sql, { limit }: { limit: number }): Promise<number | null> {
  const [row] = await sql<[{ folded: number | null }]>`select dlq.fold_summary(${limit}::int) as folded`
  return row.folded
}

/**
 * Counts all messages, and puts right what the summary is wrong by; nobody has to stop meanwhile. Returns by
 * how much it was wrong: 0, unless rows changed without triggers; null where another instance is at it. Takes
 * as long as reading the whole table, so for inside a transaction that may.
 */
export async function reconcileSummary(sql: Sql): Promise<number | null> {
  await sql`set local statement_timeout = 0`
  const [row] = await sql<[{ drift: number | null }]>`select dlq.reconcile_summary()::float8 as drift`
  return row.drift
}
