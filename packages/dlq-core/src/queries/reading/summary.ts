// The exact number of messages of each kind, for a table of any size: dlq_summary, dlq_summary_totals where error groups
// do not matter, or dlq_summary_groups where nothing else does; and dlq_summary_deltas. A read is one statement over the
// deltas and one of the other tables, so it counts one snapshot, even while deltas are folded. Only the triggers write
// counts.

import { likePattern, type MessageFilter } from '../../domain/message/message-filter.ts'
import type { MessageTopics } from '../../domain/retry/effective-policy.ts'
import type { Status } from '../../domain/retry/message-state.ts'
import { isClosed } from '../routes/closed-routes.ts'
import type { Sql } from '../sql.ts'
import type { TopicCondition } from '../topic-condition.ts'
import { countInScope, type TopicScope } from '../topic-scope.ts'

/** The lines to add up. `withGroups`: each with its group_id, which may be many thousands of lines. */
export function lines(sql: Sql, { withGroups = false }: { withGroups?: boolean } = {}) {
  const table = sql(withGroups ? 'dlq.dlq_summary' : 'dlq.dlq_summary_totals')
  const groupId = withGroups ? sql`group_id,` : sql``
  return sql`(
    select dlq_topic, original_topic, consumer_group, ${groupId} status, count from ${table}
    union all
    select dlq_topic, original_topic, consumer_group, ${groupId} status, change from dlq.dlq_summary_deltas
  ) line`
}

/** The lines to add up where only error groups matter: each with its messages by status. */
export function groupLines(sql: Sql) {
  return sql`(
    select group_id, pending, retrying, resolved, dead from dlq.dlq_summary_groups
    union all
    ${deltasOfGroups(sql)}
  ) line`
}

/** The deltas as such lines. */
export function deltasOfGroups(sql: Sql) {
  return sql`
    select group_id,
           case status when 'PENDING' then change else 0 end as pending, case status when 'RETRYING' then change else 0 end as retrying,
           case status when 'RESOLVED' then change else 0 end as resolved, case status when 'DEAD' then change else 0 end as dead
    from dlq.dlq_summary_deltas where group_id is not null`
}

export type StatusCount = { original_topic: string; status: Status; count: number }

/** The specification's overview: the number of messages of each original topic in each status, without zeros. */
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
  dlq_topics: string[]
  dead: number
}

/** The number of DEAD messages of every original topic and consumer group that has any messages. */
export async function countDeadByConsumer(sql: Sql, { scope }: { scope: TopicScope }): Promise<ConsumerCount[]> {
  return sql<ConsumerCount[]>`
    select original_topic, consumer_group,
           coalesce(array_agg(distinct dlq_topic) filter (where dlq_topic is not null), '{}') as dlq_topics,
           coalesce(sum(count) filter (where status = 'DEAD'), 0)::float8 as dead
    from ${lines(sql)}
    where ${countInScope(sql, scope, 'line')}
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

/**
 * The counts by status of each original topic and consumer group; at most `limit`, most waiting and DEAD ones first.
 * `totals`: of all of them, of the same snapshot. `heldApart`: messages that their route holds count under the name of
 * their DLQ topic, and not under the topic that they claim.
 */
export async function countByConsumer(
  sql: Sql,
  { scope, limit, heldApart = false }: { scope: TopicScope; limit: number; heldApart?: boolean },
): Promise<{ counts: ConsumerCounts[]; totals: StatusCounts }> {
  const rows = await sql<(ConsumerCounts & { totals: StatusCounts[Status][] })[]>`
    select original_topic, consumer_group, "PENDING", "RETRYING", "RESOLVED", "DEAD",
           array[sum("PENDING") over (), sum("RETRYING") over (), sum("RESOLVED") over (), sum("DEAD") over ()] as totals
    from (
      select original_topic, consumer_group, ${byStatus(sql)}
      from ${heldApart ? believedLines(sql) : lines(sql)}
      where ${countInScope(sql, scope, 'line')}
      group by original_topic, consumer_group
      having sum(count) > 0
    ) counted
    order by "PENDING" + "RETRYING" + "DEAD" desc, original_topic collate "C", consumer_group collate "C"
    limit ${limit}`
  const [PENDING = 0, RETRYING = 0, RESOLVED = 0, DEAD = 0] = rows[0]?.totals ?? []
  return {
    counts: rows.map(({ totals: _, ...counts }) => counts),
    totals: { PENDING, RETRYING, RESOLVED, DEAD },
  }
}

/** The lines, with the DLQ topic instead of an original topic that it may not speak for. */
export function believedLines(sql: Sql) {
  return sql`(
    select dlq_topic, case when ${isClosed(sql, 'line')} then dlq_topic else original_topic end as original_topic,
           consumer_group, status, count
    from (
      select dlq_topic, original_topic, consumer_group, status, sum(count) as count from ${lines(sql)}
      group by dlq_topic, original_topic, consumer_group, status
    ) line
  ) line`
}

export type ConsumerGroupCounts = StatusCounts & { consumer_group: string | null; original_topics: string[] }

/** The counts by status of each consumer group, with its original topics; at most `limit`, in the same order. */
export async function countByConsumerGroup(
  sql: Sql,
  { scope, limit }: { scope: TopicScope; limit: number },
): Promise<ConsumerGroupCounts[]> {
  return sql<ConsumerGroupCounts[]>`
    select consumer_group, ${byStatus(sql)}, array_agg(distinct original_topic order by original_topic) as original_topics
    from (
      select consumer_group, original_topic, status, sum(count) as count
      from ${lines(sql)}
      where ${countInScope(sql, scope, 'line')}
      group by consumer_group, original_topic, status
      having sum(count) > 0
    ) counted
    group by consumer_group
    order by sum(count) filter (where status <> 'RESOLVED') desc nulls last, consumer_group collate "C"
    limit ${limit}`
}

type Values = { column: 'dlq_topic' | 'original_topic' | 'group_id'; values: readonly string[]; scope: TopicScope }

/** The counts by status for each of these values of the column. Values that no message has are missing. */
export async function countByValue(sql: Sql, { column, values, scope }: Values): Promise<Map<string, StatusCounts>> {
  if (column === 'group_id' && scope === null) return countByGroup(sql, values)
  const list = sql.array([...values])
  const rows = await sql<({ value: string } & StatusCounts)[]>`
    select ${sql(column)} as value, ${byStatus(sql)}
    from ${lines(sql, { withGroups: column === 'group_id' })}
    where ${sql(column)} = any(${column === 'group_id' ? sql`${list}::uuid[]` : sql`${list}::text[]`}) and ${countInScope(sql, scope, 'line')}
    group by ${sql(column)}`
  return new Map(rows.map(({ value, ...counts }) => [value, counts]))
}

/** Over all topics. */
async function countByGroup(sql: Sql, ids: readonly string[]): Promise<Map<string, StatusCounts>> {
  const rows = await sql<({ value: string } & StatusCounts)[]>`
    select group_id as value, sum(pending)::float8 as "PENDING", sum(retrying)::float8 as "RETRYING",
           sum(resolved)::float8 as "RESOLVED", sum(dead)::float8 as "DEAD"
    from ${groupLines(sql)}
    where group_id = any(${sql.array([...ids])}::uuid[])
    group by group_id`
  return new Map(rows.map(({ value, ...counts }) => [value, counts]))
}

export type TopicPair = MessageTopics & { pending: number }

/**
 * The pairs of original topic and DLQ topic that messages have, in the order of their names, with their PENDING ones; all
 * of them unless there is a limit. `emptied`: also pairs that had messages lately.
 */
export async function listTopicPairs(
  sql: Sql,
  {
    scope = null,
    limit = null,
    emptied = false,
  }: { scope?: TopicScope; limit?: number | null; emptied?: boolean } = {},
): Promise<TopicPair[]> {
  return sql<TopicPair[]>`
    select original_topic, dlq_topic, coalesce(sum(count) filter (where status = 'PENDING'), 0)::float8 as pending
    from ${lines(sql)}
    where ${countInScope(sql, scope, 'line')}
    group by original_topic, dlq_topic
    ${emptied ? sql`` : sql`having sum(count) > 0`}
    order by original_topic, dlq_topic
    limit ${limit}::int`
}

/** The original topics of each DLQ topic, or the DLQ topics of each original topic, the one with most messages first. */
export async function listCounterparts(
  sql: Sql,
  { column, topics, scope }: { column: 'dlq_topic' | 'original_topic'; topics: readonly string[]; scope: TopicScope },
): Promise<Map<string, string[]>> {
  const other = sql(column === 'dlq_topic' ? 'original_topic' : 'dlq_topic')
  const rows = await sql<{ topic: string; counterpart: string }[]>`
    select ${sql(column)} as topic, ${other} as counterpart
    from ${lines(sql)}
    where ${sql(column)} = any(${sql.array([...topics])}::text[]) and ${other} is not null and ${countInScope(sql, scope, 'line')}
    group by ${sql(column)}, ${other}
    having sum(count) > 0
    order by sum(count) desc, ${other} collate "C"`
  const found = Map.groupBy(rows, ({ topic }) => topic)
  return new Map([...found].map(([topic, pairs]) => [topic, pairs.map(({ counterpart }) => counterpart)]))
}

const counted: readonly (keyof MessageFilter)[] = ['status', 'topic', 'consumer_group', 'group_id', 'archived']

/** How many messages a filter finds. Null where the summary lacks a field of it, or its first count has not ended. */
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
      where ${countInScope(sql, scope, 'line')}
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
  /** When all rows were last counted. Null before the first full count has ended; no count is right until then. */
  counted_at: Date | null
  /** By how much the counts were wrong at the last full count. */
  drift: number
  /** The number of deltas that are not folded yet. Each read adds them up. */
  deltas: number
}

export async function getSummaryState(sql: Sql): Promise<SummaryState> {
  const [row] = await sql<[SummaryState]>`
    select counted_at, drift::float8 as drift, (select count(*)::int from dlq.dlq_summary_deltas) as deltas
    from dlq.dlq_summary_state`
  return row
}

/** Folds up to `limit` deltas. Returns how many, or null where another process is folding. */
export async function foldSummary(sql: Sql, { limit }: { limit: number }): Promise<number | null> {
  const [row] = await sql<[{ folded: number | null }]>`select dlq.fold_summary(${limit}::int) as folded`
  return row.folded
}

/**
 * Counts all messages and corrects the summary, while everything else goes on. Returns by how much the summary was
 * wrong: 0, unless rows changed without triggers. Null where another process is counting. It reads the whole table, so
 * the caller's transaction must be allowed to take that long.
 */
export async function reconcileSummary(sql: Sql): Promise<number | null> {
  await sql`set local statement_timeout = 0`
  const [row] = await sql<[{ drift: number | null }]>`select dlq.reconcile_summary()::float8 as drift`
  return row.drift
}
