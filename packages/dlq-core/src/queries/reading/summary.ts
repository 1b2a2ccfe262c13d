// How many messages there are of each kind, exactly, at any size: dlq_summary, or dlq_summary_totals where error
// groups do not matter, and dlq_summary_deltas. A read is one statement over the deltas and one of the others, so
// it counts what its snapshot sees, however much is folded meanwhile. Nothing but the triggers writes counts.

import type { Status } from '../message.ts'
import { likePattern, type MessageFilter } from '../message-filter.ts'
import type { TopicCondition } from './message-topic.ts'
import type { Sql } from './sql.ts'
import { inScope, type TopicScope } from './topic-scope.ts'

/** Lines to be added up. `withGroups`: each with its group_id, of which there may be many thousands. */
export function lines(sql: Sql, { withGroups = false }: { withGroups?: boolean } = {}) {
  const table = sql(withGroups ? 'dlq.dlq_summary' : 'dlq.dlq_summary_totals')
  const groupId = withGroups ? sql`group_id,` : sql``
  return sql`(
    select dlq_topic, original_topic, consumer_group, ${groupId} status, count from ${table}
    union all
    select dlq_topic, original_topic, consumer_group, ${groupId} status, change from dlq.dlq_summary_deltas
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
    from ${lines(sql, { withGroups: true })}
    group by dlq_topic, original_topic, consumer_group, group_id, status
    having sum(count) <> 0`
}

export type StatusCount = { original_topic: string; status: Status; count: number }

/** How many messages each original topic has in each status, those that there are: the specification's overview. */
export async function countByTopicAndStatus(sql: Sql): Promise<StatusCount[]> {
  return sql<StatusCount[]>`
    select original_topic, status, sum(count)::float8 as count
    from ${lines(sql)}
    group by original_topic, status
    having sum(count) > 0
    order by original_topic, status`
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

export type StatusCounts = Record<Status, number>

/** The four sums, as columns. */
function byStatus(sql: Sql) {
  return sql`
    coalesce(sum(count) filter (where status = 'PENDING'), 0)::float8 as "PENDING",
    coalesce(sum(count) filter (where status = 'RETRYING'), 0)::float8 as "RETRYING",
    coalesce(sum(count) filter (where status = 'RESOLVED'), 0)::float8 as "RESOLVED",
    coalesce(sum(count) filter (where status = 'DEAD'), 0)::float8 as "DEAD"`
}

export type ConsumerCounts = StatusCounts & { original_topic: string; consumer_group: string | null }

/** The counts by status of every original topic and consumer group that has messages; at most `limit`, most waiting and DEAD first. */
export async function countByConsumer(
  sql: Sql,
  { scope, limit }: { scope: TopicScope; limit: number },
): Promise<ConsumerCounts[]> {
  return sql<ConsumerCounts[]>`
    select original_topic, consumer_group, ${byStatus(sql)}
    from ${lines(sql)}
    where ${inScope(sql, scope)}
    group by original_topic, consumer_group
    having sum(count) > 0
    order by sum(count) filter (where status <> 'RESOLVED') desc nulls last, original_topic collate "C", consumer_group collate "C"
    limit ${limit}`
}

export type ConsumerGroupCounts = StatusCounts & { consumer_group: string | null; original_topics: string[] }

/** The counts by status of every consumer group, with its original topics; at most `limit`, most waiting and DEAD first. */
export async function countByConsumerGroup(
  sql: Sql,
  { scope, limit }: { scope: TopicScope; limit: number },
): Promise<ConsumerGroupCounts[]> {
  return sql<ConsumerGroupCounts[]>`
    select consumer_group, ${byStatus(sql)}, array_agg(distinct original_topic order by original_topic) as original_topics
    from (
      select consumer_group, original_topic, status, sum(count) as count
      from ${lines(sql)}
      where ${inScope(sql, scope)}
      group by consumer_group, original_topic, status
      having sum(count) > 0
    ) counted
    group by consumer_group
    order by sum(count) filter (where status <> 'RESOLVED') desc nulls last, consumer_group collate "C"
    limit ${limit}`
}

/** The counts by status of what has each of the values in the column; those that nothing has are missing. */
export async function countByValue(
  sql: Sql,
  {
    column,
    values,
    scope,
  }: { column: 'dlq_topic' | 'original_topic' | 'group_id'; values: readonly string[]; scope: TopicScope },
): Promise<Map<string, StatusCounts>> {
  const list = sql.array([...values])
  const rows = await sql<({ value: string } & StatusCounts)[]>`
    select ${sql(column)} as value, ${byStatus(sql)}
    from ${lines(sql, { withGroups: column === 'group_id' })}
    where ${sql(column)} = any(${column === 'group_id' ? sql`${list}::uuid[]` : sql`${list}::text[]`}) and ${inScope(sql, scope)}
    group by ${sql(column)}`
  return new Map(rows.map(({ value, ...counts }) => [value, counts]))
}

export type TopicPair = { original_topic: string; dlq_topic: string | null }

/** The topics that messages came from with those they were read from, in the order of their names. */
export async function listTopicPairs(
  sql: Sql,
  { scope, limit }: { scope: TopicScope; limit: number },
): Promise<TopicPair[]> {
  return sql<TopicPair[]>`
    select original_topic, dlq_topic
    from ${lines(sql)}
    where ${inScope(sql, scope)}
    group by original_topic, dlq_topic
    having sum(count) > 0
    order by original_topic, dlq_topic
    limit ${limit}`
}

/** The original topics behind `after` that there are messages of, in the order of their names. */
export async function listOriginalTopics(
  sql: Sql,
  { scope, after, limit }: { scope: TopicScope; after: string | null; limit: number },
): Promise<string[]> {
  const rows = await sql<{ topic: string }[]>`
    select original_topic as topic
    from ${lines(sql)}
    where original_topic > ${after ?? ''} and ${inScope(sql, scope)}
    group by original_topic
    having sum(count) > 0
    order by original_topic
    limit ${limit}`
  return rows.map(({ topic }) => topic)
}

/** Per topic, its other topics, the one with the most messages first: original topics of a DLQ topic, DLQ topics of an original topic. */
export async function listCounterparts(
  sql: Sql,
  { column, topics, scope }: { column: 'dlq_topic' | 'original_topic'; topics: readonly string[]; scope: TopicScope },
): Promise<Map<string, string[]>> {
  const other = sql(column === 'dlq_topic' ? 'original_topic' : 'dlq_topic')
  const rows = await sql<{ topic: string; counterpart: string }[]>`
    select ${sql(column)} as topic, ${other} as counterpart
    from ${lines(sql)}
    where ${sql(column)} = any(${sql.array([...topics])}::text[]) and ${other} is not null and ${inScope(sql, scope)}
    group by ${sql(column)}, ${other}
    having sum(count) > 0
    order by sum(count) desc, ${other} collate "C"`
  const found = Map.groupBy(rows, ({ topic }) => topic)
  return new Map([...found].map(([topic, pairs]) => [topic, pairs.map(({ counterpart }) => counterpart)]))
}

const counted: readonly (keyof MessageFilter)[] = ['status', 'topic', 'consumer_group', 'group_id', 'archived']

/** How many messages a filter means; null where it names what is not counted, or the first count has not ended. */
export async function countByFilter(
  sql: Sql,
  { filter, topic, scope }: { filter: MessageFilter; topic: TopicCondition | null; scope: TopicScope },
): Promise<number | null> {
  const named = Object.entries(filter).filter(([, value]) => value !== undefined)
  if (filter.archived || !named.every(([name]) => (counted as readonly string[]).includes(name))) return null
  const { status, consumer_group, group_id } = filter
  const [row] = await sql<[{ total: number | null }]>`
    select case when (select counted_at from dlq.dlq_summary_state) is not null then (
      select coalesce(sum(count), 0)::float8
      from ${lines(sql, { withGroups: group_id !== undefined })}
      where ${inScope(sql, scope)}
        ${status === undefined ? sql`` : sql`and status = any(${sql.array([...status])}::text[])`}
        ${consumer_group === undefined ? sql`` : sql`and consumer_group = ${consumer_group}`}
        ${group_id === undefined ? sql`` : sql`and group_id = ${group_id}`}
        ${topic === null ? sql`` : sql`and ${ofTopic(sql, topic)}`}
    ) end as total`
  return row.total
}

function ofTopic(sql: Sql, { column, names, glob }: TopicCondition) {
  return names
    ? sql`${sql(column)} = any(${sql.array([...names])}::text[])`
    : sql`${sql(column)} like ${likePattern(glob!)}`
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
