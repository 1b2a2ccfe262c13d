// dlq_groups, dlq_group_topics and the summary: the list of error groups that have messages, and how many there are of
// each kind.
//
// By time the list goes along the index of dlq_groups and looks each group's counts up, so a page costs the same however
// many groups there are. By a count, among the groups of a topic or a consumer group, and for the totals, the counts of
// all groups are added up once. What can be told from dlq_group_topics alone is tested first (opinionHints).

import { type Status, statuses } from '../../domain/retry/message-state.ts'
import { exactTime } from '../exact-time.ts'
import { deltasOfGroups, groupLines, lines } from '../reading/summary.ts'
import type { Fragment, Sql } from '../sql.ts'
import { countInScope, type TopicScope, topicInScope } from '../topic-scope.ts'
import { byUrgency, type Group, type GroupState, groupColumns, opinionOf, urgencyOf } from './groups.ts'
import { regressedGroups } from './regressed.ts'

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
  const asked = { filter, scope }
  const byTime = sort === 'last_seen' || sort === 'first_seen'
  const { withCounts, counted } = !byTime || isFew(filter) ? addedUp(sql, asked) : lookedUp(sql, asked)
  const said = sql`cross join lateral (${opinionOf(sql, { scope, dlqTopic: filter.dlqTopic })}) said`
  const tests = sql`g.forgotten_at is null and ${groupTests(sql, asked)} and ${opinionHints(sql, asked)}`
  // A limited caller's times come from the opinions.
  if (byTime && scope !== null) {
    const time = seenColumn(sql, scope, sort)
    const behind =
      after === null ? sql`true` : sql`(${time}, g.id) < (${after[0]}::text::timestamptz, ${after[1]}::uuid)`
    return sql<(Group & { place: string })[]>`
      with ${withCounts}
      select ${groupColumns(sql, scope)}, ${exactTime(sql, time)} as place
      from dlq.dlq_groups g ${counted} ${said}
      where ${tests} and ${opinionTests(sql, asked)} and ${behind}
      order by ${time} desc, g.id desc
      limit ${limit}`
  }
  const value = byTime ? sql`g.${sql(`${sort}_at`)}` : sql`counted.${sql(sort)}`
  const type = byTime ? sql`timestamptz` : sql`float8`
  const behind = after === null ? sql`true` : sql`(${value}, g.id) < (${after[0]}::text::${type}, ${after[1]}::uuid)`
  // Sorted, and cut where no opinion decides, before the opinions are looked up: for a page of groups and not for all.
  return sql<(Group & { place: string })[]>`
    with ${withCounts}
    select ${groupColumns(sql, scope)}, ${byTime ? exactTime(sql, sql`sorted_by`) : sql`sorted_by::text`} as place
    from (
      select g.*, ${value} as sorted_by
      from dlq.dlq_groups g ${counted}
      where ${tests} and ${behind}
      order by ${value} desc, g.id desc
      ${hasOpinionTests(asked) ? sql`` : sql`limit ${limit}`}
    ) g ${said}
    where ${opinionTests(sql, asked)}
    order by sorted_by desc, id desc
    limit ${limit}`
}

/** Few groups belong to one topic, or to one consumer group. Without their ids, all groups would be looked through. */
function isFew({ dlqTopic, consumerGroup, ids }: GroupFilter): boolean {
  return dlqTopic !== undefined || consumerGroup !== undefined || ids !== undefined
}

/** Only dlq_summary knows topics and consumer groups; dlq_summary_groups has one line for each group. */
function isOfAllTopics({ filter: { dlqTopic, consumerGroup }, scope }: Asked): boolean {
  return scope === null && dlqTopic === undefined && consumerGroup === undefined
}

/** As lookedUp, where the groups are few: their counts are added up first. */
function addedUp(sql: Sql, asked: Asked) {
  return {
    withCounts: sql`counted as materialized (${countsByGroup(sql, asked)})`,
    counted: sql`join counted on counted.group_id = g.id`,
  }
}

/** A part of a list: `counted` joins each group `g` that has messages, as the filter wants it. */
function lookedUp(sql: Sql, asked: Asked) {
  if (isOfAllTopics(asked))
    return {
      withCounts: sql`
        deltas as materialized (
          select group_id, sum(pending) as pending, sum(retrying) as retrying, sum(resolved) as resolved, sum(dead) as dead
          from (${deltasOfGroups(sql)}) delta group by group_id
        )`,
      counted: sql`
        cross join lateral (
          select from (
            select own.pending, own.retrying, own.resolved, own.dead from dlq.dlq_summary_groups own where own.group_id = g.id
            union all
            select deltas.pending, deltas.retrying, deltas.resolved, deltas.dead from deltas where deltas.group_id = g.id
          ) line
          having ${hasMessages(sql, asked)}
        ) counted`,
    }
  return {
    withCounts: sql`
      deltas as materialized (
        select dlq_topic, original_topic, consumer_group, group_id, status, sum(change) as count
        from dlq.dlq_summary_deltas line
        where group_id is not null and ${lineTests(sql, asked)}
        group by dlq_topic, original_topic, consumer_group, group_id, status
      )`,
    counted: sql`
      cross join lateral (
        select from (
          select line.status, line.count from dlq.dlq_summary line
          where line.group_id = g.id and ${lineTests(sql, asked)}
          union all
          select deltas.status, deltas.count from deltas where deltas.group_id = g.id
        ) own
        having ${hasMessages(sql, asked)}
      ) counted`,
  }
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
  const areAll = Object.values(rest).every((value) => value === undefined)
  const tests = sql`
    ${topicTests(sql, { filter: rest, scope })} ${areAll ? sql`` : sql`and t.group_id = any(array(select id from chosen))`}`
  const [row] = await sql<[GroupTotals]>`
    with counted as materialized (${countsByGroup(sql, { filter: rest, scope })}),
    chosen as materialized (
      select g.id, g.first_seen_at from counted join dlq.dlq_groups g on g.id = counted.group_id
      where g.forgotten_at is null and ${groupTests(sql, { filter: rest, scope })}
    ),
    said as materialized (
      select t.group_id, min(${urgencyOf(sql)}) as urgency,
             -- The owner for the first topic is the group's.
             min(t.dlq_topic) filter (where t.owner is not null) as owned_in,
             min(t.dlq_topic) filter (where t.owner = ${owner}) as mine_in,
             min(t.first_seen_at) as first_seen_at
      from dlq.dlq_group_topics t
      where ${tests}
      group by t.group_id
    ),
    regressed as materialized (${regressedGroups(sql, tests)}),
    groups as (
      select (${urgency}::text[])[coalesce(said.urgency, 1)] as state, regressed.group_id is not null as regressed,
             said.owned_in is not null as is_owned, coalesce(said.owned_in = said.mine_in, false) as is_mine,
             ${scope === null ? sql`g.first_seen_at` : sql`coalesce(said.first_seen_at, g.first_seen_at)`} as first_seen_at
      from chosen g
      left join said on said.group_id = g.id
      left join regressed on regressed.group_id = g.id
    )
    select (count(*) filter (where state = 'open'))::int as open,
           (count(*) filter (where state = 'open' and is_mine))::int as mine,
           (count(*) filter (where state = 'open' and not is_owned and first_seen_at >= ${newSince}))::int as new,
           (count(*) filter (where regressed))::int as regressed,
           (count(*) filter (where state = 'snoozed'))::int as snoozed,
           (count(*) filter (where state = 'ignored'))::int as ignored,
           (count(*) filter (where state = 'resolved'))::int as resolved
    from groups`
  return row
}

/** A query: the messages of each group that has some. */
function countsByGroup(sql: Sql, asked: Asked) {
  const { ids } = asked.filter
  if (isOfAllTopics(asked))
    return sql`
      select group_id, sum(dead)::float8 as dead, sum(pending)::float8 as pending,
             sum(pending + retrying + resolved + dead)::float8 as total
      from ${groupLines(sql)}
      where ${ids === undefined ? sql`true` : sql`group_id = any(${sql.array([...ids])}::uuid[])`}
      group by group_id
      having ${hasMessages(sql, asked)}`
  return sql`
    select group_id,
           coalesce(sum(count) filter (where status = 'DEAD'), 0)::float8 as dead,
           coalesce(sum(count) filter (where status = 'PENDING'), 0)::float8 as pending,
           sum(count)::float8 as total
    from ${lines(sql, { withGroups: true })}
    where group_id is not null and ${lineTests(sql, asked)}
    group by group_id
    having ${hasMessages(sql, asked)}`
}

const columnOf = { PENDING: 'pending', RETRYING: 'retrying', RESOLVED: 'resolved', DEAD: 'dead' } as const

/** On the counts of one group. */
function hasMessages(sql: Sql, asked: Asked) {
  const { withStatus } = asked.filter
  if (isOfAllTopics(asked)) {
    const counts = (withStatus ?? statuses).map((status) => sql`line.${sql(columnOf[status])}`)
    return sql`sum(${counts.reduce((all, one) => sql`${all} + ${one}`)}) > 0`
  }
  return withStatus === undefined
    ? sql`sum(count) > 0`
    : sql`sum(count) filter (where status = any(${sql.array([...withStatus])}::text[])) > 0`
}

/** On a `line` of the summary. */
function lineTests(sql: Sql, { filter: { dlqTopic, consumerGroup, ids }, scope }: Asked) {
  return sql`
    ${countInScope(sql, scope, 'line')}
    ${
      // Either column has an index, which "coalesce" has not.
      dlqTopic === undefined
        ? sql``
        : sql`and (line.dlq_topic = ${dlqTopic} or (line.dlq_topic is null and line.original_topic = ${dlqTopic}))`
    }
    ${consumerGroup === undefined ? sql`` : sql`and line.consumer_group = ${consumerGroup}`}
    ${ids === undefined ? sql`` : sql`and line.group_id = any(${sql.array([...ids])}::uuid[])`}`
}

/** On the group `g` itself. */
function groupTests(sql: Sql, { filter: { likePattern, errorClass, ids, firstSeenFrom }, scope }: Asked) {
  return sql`
    ${ids === undefined ? sql`true` : sql`g.id = any(${sql.array([...ids])}::uuid[])`}
    ${likePattern === undefined ? sql`` : sql`and g.title ilike ${likePattern}`}
    ${errorClass === undefined ? sql`` : sql`and g.error_class = ${errorClass}`}
    ${firstSeenFrom === undefined || scope !== null ? sql`` : sql`and g.first_seen_at >= ${firstSeenFrom}`}`
}

/**
 * What the filter wants of the opinions on a group `g`, as far as single rows of dlq_group_topics tell: all of it, unless
 * hasOpinionTests. Without this, a list of a few such groups would look through what is said about all of them.
 */
function opinionHints(sql: Sql, asked: Asked) {
  const { state, regressed, owner } = asked.filter
  const exists = (test: Fragment) => sql`
    exists (select from dlq.dlq_group_topics t where t.group_id = g.id and ${test} and ${topicTests(sql, asked)})`
  const hints = [
    ...(regressed ? [sql`g.id = any(array(${regressedGroups(sql, topicTests(sql, asked))}))`] : []),
    // A group of which nothing is said is open.
    ...(state && !state.includes('open') ? [exists(sql`t.state = any(${sql.array([...state])}::text[])`)] : []),
    ...(owner === null ? [sql`not ${exists(sql`t.owner is not null`)}`] : []),
    ...(owner ? [exists(sql`t.owner = ${owner}`)] : []),
  ]
  return hints.reduce((all, hint) => sql`${all} and ${hint}`, sql`true`)
}

/** Whether it takes all opinions on a group together to tell if the filter wants it. */
function hasOpinionTests({ filter: { state, owner, firstSeenFrom }, scope }: Asked): boolean {
  return state !== undefined || typeof owner === 'string' || (firstSeenFrom !== undefined && scope !== null)
}

/** On a row `t` of dlq_group_topics. */
function topicTests(sql: Sql, { filter: { dlqTopic }, scope }: Asked) {
  return sql`
    ${topicInScope(sql, scope, 't.dlq_topic')} ${dlqTopic === undefined ? sql`` : sql`and t.dlq_topic = ${dlqTopic}`}`
}

/** On what people have said about the group. */
function opinionTests(sql: Sql, { filter: { state, owner, firstSeenFrom }, scope }: Asked) {
  return sql`
    ${state === undefined ? sql`true` : sql`said.state = any(${sql.array([...state])}::text[])`}
    ${typeof owner === 'string' ? sql`and said.owner = ${owner}` : sql``}
    ${firstSeenFrom === undefined || scope === null ? sql`` : sql`and ${seenColumn(sql, scope, 'first_seen')} >= ${firstSeenFrom}`}`
}

/** As it is shown: who may see only some topics neither learns nor is sorted by when others had the failure. */
function seenColumn(sql: Sql, scope: TopicScope, sort: 'last_seen' | 'first_seen') {
  const column = sql(`${sort}_at`)
  return scope === null ? sql`g.${column}` : sql`coalesce(said.${column}, g.${column})`
}
