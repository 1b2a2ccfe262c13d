// dlq_groups, dlq_group_topics and the summary: the list of error groups that have messages, and how many there are of
// each kind.
//
// By time the list goes along the index of dlq_groups and looks each group's counts up, so a page costs the same however
// many groups there are. By a count, and for the totals, the counts of all groups are added up once.

import type { Status } from '../../domain/retry/message-state.ts'
import { lines } from '../reading/summary.ts'
import type { Sql } from '../sql.ts'
import { countInScope, type TopicScope, topicInScope } from '../topic-scope.ts'
import { byUrgency, type Group, type GroupState, groupColumns, opinionColumns, opinionOf } from './groups.ts'

export const groupSorts = ['last_seen', 'first_seen', 'dead', 'pending', 'total'] as const
export type GroupSort = (typeof groupSorts)[number]

export type GroupFilter = {
  state?: readonly GroupState[] | undefined
  dlqTopic?: string | undefined
  /** Of the title, as LIKE has it. */
  likePattern?: string | undefined
  regressed?: true | undefined
  /** Null: groups without an owner. */
  owner?: string | null | undefined
  /** Groups with a message in one of these statuses. */
  withStatus?: readonly Status[] | undefined
  errorClass?: string | undefined
  consumerGroup?: string | undefined
  firstSeenFrom?: Date | undefined
  ids?: readonly string[] | undefined
}

/** A group's place in the list: its time as text, to the microsecond, or its count; and its id. */
export type GroupPlace = readonly [value: string, id: string]

type Asked = { filter: GroupFilter; scope: TopicScope }

/** The groups behind `after`, the greatest first, without those that have no message in the scope, or none of the filter's. */
export async function listGroups(
  sql: Sql,
  {
    filter,
    scope,
    sort = 'last_seen',
    after,
    limit,
  }: Asked & { sort?: GroupSort; after: GroupPlace | null; limit: number },
): Promise<(Group & { place: string })[]> {
  const byTime = sort === 'last_seen' || sort === 'first_seen'
  const said = sql`cross join lateral (${opinionOf(sql, { scope, dlqTopic: filter.dlqTopic })}) said`
  const tests = sql`g.forgotten_at is null and ${groupTests(sql, filter)}`
  if (!byTime) {
    const behind = after === null ? sql`true` : sql`(sorted_by, id) < (${after[0]}::text::float8, ${after[1]}::uuid)`
    // Sorted before the opinions are looked up, which are needed for a page of groups and not for all.
    return sql<(Group & { place: string })[]>`
      with counted as materialized (${countsByGroup(sql, { filter, scope })})
      select ${groupColumns(sql, scope)}, sorted_by::text as place
      from (
        select g.*, counted.${sql(sort)} as sorted_by
        from counted join dlq.dlq_groups g on g.id = counted.group_id
        where ${tests}
        order by counted.${sql(sort)} desc, g.id desc
      ) g ${said}
      where ${opinionTests(sql, { filter, scope })} and ${behind}
      order by sorted_by desc, id desc
      limit ${limit}`
  }
  const time = seenColumn(sql, scope, sort)
  const behind = after === null ? sql`true` : sql`(${time}, g.id) < (${after[0]}::text::timestamptz, ${after[1]}::uuid)`
  return sql<(Group & { place: string })[]>`
    with deltas as materialized (
      select dlq_topic, original_topic, consumer_group, group_id, status, sum(change) as count
      from dlq.dlq_summary_deltas line
      where group_id is not null and ${lineTests(sql, { filter, scope })}
      group by dlq_topic, original_topic, consumer_group, group_id, status
    )
    select ${groupColumns(sql, scope)}, (${time} at time zone 'UTC')::text || '+00' as place
    from dlq.dlq_groups g
    cross join lateral (
      select from (
        select line.status, line.count from dlq.dlq_summary line
        where line.group_id = g.id and ${lineTests(sql, { filter, scope })}
        union all
        select deltas.status, deltas.count from deltas where deltas.group_id = g.id
      ) own
      having ${hasMessages(sql, filter)}
    ) counted
    ${said}
    where ${tests} and ${amongFew(sql, { filter, scope })} and ${opinionTests(sql, { filter, scope })} and ${behind}
    order by ${time} desc, g.id desc
    limit ${limit}`
}

/** Few groups belong to one topic, or to one consumer group. Without their ids, all groups would be looked through. */
function amongFew(sql: Sql, { filter, scope }: Asked) {
  if (filter.dlqTopic === undefined && filter.consumerGroup === undefined) return sql`true`
  return sql`g.id = any(array(
    select distinct group_id from ${lines(sql, { withGroups: true })}
    where group_id is not null and ${lineTests(sql, { filter, scope })}))`
}

export type GroupTotals = {
  open: number
  /** Open, and owned by the one who asks. */
  mine: number
  /** Open, without an owner, and first seen after `newSince`. */
  new: number
  regressed: number
  snoozed: number
  ignored: number
  resolved: number
}

/** How many groups of the filter there are of each kind, whatever state, owner and time the filter names. */
export async function countGroups(
  sql: Sql,
  { filter, scope, owner, newSince }: Asked & { owner: string; newSince: Date },
): Promise<GroupTotals> {
  const urgency = sql.array([...byUrgency])
  const { state: _state, owner: _owner, regressed: _regressed, firstSeenFrom: _from, ...rest } = filter
  const [row] = await sql<[GroupTotals]>`
    with counted as materialized (${countsByGroup(sql, { filter: rest, scope })}),
    said as materialized (
      select group_id, min(array_position(${urgency}::text[], state)) as urgency, bool_or(regressed) as regressed,
             (array_agg(owner order by dlq_topic) filter (where owner is not null))[1] as owner,
             min(first_seen_at) as first_seen_at
      from (
        select t.group_id, t.first_seen_at, ${opinionColumns(sql)}
        from dlq.dlq_group_topics t
        where ${topicInScope(sql, scope, 't.dlq_topic')}
          ${rest.dlqTopic === undefined ? sql`` : sql`and t.dlq_topic = ${rest.dlqTopic}`}
      ) opinions
      group by group_id
    ),
    groups as (
      select (${urgency}::text[])[coalesce(said.urgency, 1)] as state, coalesce(said.regressed, false) as regressed, said.owner,
             ${scope === null ? sql`g.first_seen_at` : sql`coalesce(said.first_seen_at, g.first_seen_at)`} as first_seen_at
      from counted join dlq.dlq_groups g on g.id = counted.group_id
      left join said on said.group_id = g.id
      where g.forgotten_at is null and ${groupTests(sql, rest)}
    )
    select (count(*) filter (where state = 'open'))::int as open,
           (count(*) filter (where state = 'open' and owner = ${owner}))::int as mine,
           (count(*) filter (where state = 'open' and owner is null and first_seen_at >= ${newSince}))::int as new,
           (count(*) filter (where regressed))::int as regressed,
           (count(*) filter (where state = 'snoozed'))::int as snoozed,
           (count(*) filter (where state = 'ignored'))::int as ignored,
           (count(*) filter (where state = 'resolved'))::int as resolved
    from groups`
  return row
}

/** A query: the messages of each group that has some. */
function countsByGroup(sql: Sql, { filter, scope }: Asked) {
  return sql`
    select group_id,
           coalesce(sum(count) filter (where status = 'DEAD'), 0)::float8 as dead,
           coalesce(sum(count) filter (where status = 'PENDING'), 0)::float8 as pending,
           sum(count)::float8 as total
    from ${lines(sql, { withGroups: true })}
    where group_id is not null and ${lineTests(sql, { filter, scope })}
    group by group_id
    having ${hasMessages(sql, filter)}`
}

/** On the counts of one group. */
function hasMessages(sql: Sql, { withStatus }: GroupFilter) {
  return withStatus === undefined
    ? sql`sum(count) > 0`
    : sql`sum(count) filter (where status = any(${sql.array([...withStatus])}::text[])) > 0`
}

/** On a `line` of the summary. */
function lineTests(sql: Sql, { filter: { dlqTopic, consumerGroup, ids }, scope }: Asked) {
  return sql`
    ${countInScope(sql, scope, 'line')}
    ${dlqTopic === undefined ? sql`` : sql`and coalesce(line.dlq_topic, line.original_topic) = ${dlqTopic}`}
    ${consumerGroup === undefined ? sql`` : sql`and line.consumer_group = ${consumerGroup}`}
    ${ids === undefined ? sql`` : sql`and line.group_id = any(${sql.array([...ids])}::uuid[])`}`
}

/** On the group `g` itself. */
function groupTests(sql: Sql, { likePattern, errorClass, ids }: GroupFilter) {
  return sql`
    ${ids === undefined ? sql`true` : sql`g.id = any(${sql.array([...ids])}::uuid[])`}
    ${likePattern === undefined ? sql`` : sql`and g.title ilike ${likePattern}`}
    ${errorClass === undefined ? sql`` : sql`and g.error_class = ${errorClass}`}`
}

/** On what people have said about the group. */
function opinionTests(sql: Sql, { filter: { state, regressed, owner, firstSeenFrom }, scope }: Asked) {
  return sql`
    ${state === undefined ? sql`true` : sql`said.state = any(${sql.array([...state])}::text[])`}
    ${regressed === undefined ? sql`` : sql`and said.regressed`}
    ${owner === undefined ? sql`` : owner === null ? sql`and said.owner is null` : sql`and said.owner = ${owner}`}
    ${firstSeenFrom === undefined ? sql`` : sql`and ${seenColumn(sql, scope, 'first_seen')} >= ${firstSeenFrom}`}`
}

/** As it is shown: who may see only some topics neither learns nor is sorted by when others had the failure. */
function seenColumn(sql: Sql, scope: TopicScope, sort: 'last_seen' | 'first_seen') {
  const column = sql(`${sort}_at`)
  return scope === null ? sql`g.${column}` : sql`coalesce(said.${column}, g.${column})`
}
