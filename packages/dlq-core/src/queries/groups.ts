// dlq_groups and dlq_group_topics: the error groups, and which DLQ topics have them.

import type { Fingerprint } from '../error-fingerprint.ts'
import { type Sql, toJson } from './sql.ts'
import { inScope, type TopicScope, topicInScope } from './topic-scope.ts'

/** Makes the groups that are missing. Their rows' other columns belong to people and are left alone. */
export async function createGroups(sql: Sql, groups: readonly Fingerprint[]): Promise<void> {
  if (groups.length === 0) return
  await sql`
    insert into dlq.dlq_groups (id, version, error_class, location, message, title)
    select id, version, "errorClass", location, message, title
    from json_to_recordset(${toJson(groups)}::json)
      as found (id uuid, version int, "errorClass" text, location text, message text, title text)
    order by id
    on conflict (id) do nothing`
}

export type GroupOfTopic = { dlq_topic: string; group_id: string }

/**
 * Adds groups to their topics, as long as a topic has fewer than `maxPerTopic`. Returns those that the
 * topics have now. Two ingesters at once may exceed the bound by what they add in that moment.
 */
export async function admitGroups(
  sql: Sql,
  { groups, maxPerTopic }: { groups: readonly GroupOfTopic[]; maxPerTopic: number },
): Promise<GroupOfTopic[]> {
  if (groups.length === 0) return []
  const wanted = toJson(groups)
  await sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id)
    select dlq_topic, group_id
    from (
      select w.dlq_topic, w.group_id,
             row_number() over (partition by w.dlq_topic order by w.group_id)
               + (select count(*) from dlq.dlq_group_topics t where t.dlq_topic = w.dlq_topic) as number
      from json_to_recordset(${wanted}::json) as w (dlq_topic text, group_id uuid)
      where not exists (select from dlq.dlq_group_topics t where t.dlq_topic = w.dlq_topic and t.group_id = w.group_id)
    ) new_ones
    where number <= ${maxPerTopic}
    order by dlq_topic, group_id
    on conflict (dlq_topic, group_id) do nothing`
  return sql<GroupOfTopic[]>`
    select t.dlq_topic, t.group_id
    from dlq.dlq_group_topics t
    join json_to_recordset(${wanted}::json) as w (dlq_topic text, group_id uuid) using (dlq_topic, group_id)`
}

/** Moves the groups' last_seen_at, each at most every `everyMs`: the rows are shared by all ingesters. */
export async function touchGroups(
  sql: Sql,
  { ids, everyMs }: { ids: readonly string[]; everyMs: number },
): Promise<void> {
  if (ids.length === 0) return
  await sql`
    with stale as materialized (
      -- Rows that another ingester is touching are as good as touched.
      select id from dlq.dlq_groups
      where id = any(${sql.array([...ids])}::uuid[]) and last_seen_at < now() - ${everyMs}::int * interval '1 ms'
      order by id
      for update skip locked
    )
    update dlq.dlq_groups g set last_seen_at = now() from stale where g.id = stale.id`
}

export const groupStates = ['open', 'snoozed', 'ignored', 'resolved'] as const
export type GroupState = (typeof groupStates)[number]

export type Group = {
  id: string
  version: number
  title: string
  error_class: string | null
  location: string | null
  message: string
  first_seen_at: Date
  last_seen_at: Date
  /** As somebody set it; a snooze that is over is open. */
  state: GroupState
  snoozed_until: Date | null
  state_changed_at: Date | null
  /** Something came in after somebody had set it to resolved. */
  regressed: boolean
  owner: string | null
  note: string | null
  dlq_topics: string[]
}

function groupColumns(sql: Sql, scope: TopicScope) {
  // last_seen_at is moved once a minute at most, so the newest messages are asked as well.
  return sql`
    g.id, g.version, g.title, g.error_class, g.location, g.message, g.first_seen_at, g.last_seen_at,
    case when g.state = 'snoozed' and g.snoozed_until <= now() then 'open' else g.state end as state,
    case when g.state = 'snoozed' and g.snoozed_until > now() then g.snoozed_until end as snoozed_until,
    g.state_changed_at,
    g.state = 'resolved' and g.state_changed_at is not null and (
      g.last_seen_at > g.state_changed_at
      or exists (
        select from unnest(array['PENDING', 'RETRYING', 'RESOLVED', 'DEAD']) s (status)
        cross join lateral (
          select m.created_at from dlq.dlq_messages m
          where m.group_id = any(array[g.id]) and m.status = any(array[s.status]) and m.group_id is not null
          order by m.group_id desc, m.status desc, m.id desc limit 1
        ) newest
        where newest.created_at > g.state_changed_at)) as regressed,
    g.owner, g.note,
    array(select t.dlq_topic from dlq.dlq_group_topics t
          where t.group_id = g.id and ${topicInScope(sql, scope, 't.dlq_topic')}
          order by t.dlq_topic limit 20) as dlq_topics`
}

/** Only groups that some message in the scope has. */
function groupInScope(sql: Sql, scope: TopicScope) {
  if (scope === null) return sql`true`
  return sql`exists (select from dlq.dlq_group_topics t where t.group_id = g.id and ${topicInScope(sql, scope, 't.dlq_topic')})
          or exists (select from dlq.dlq_messages m where m.group_id = g.id and ${inScope(sql, scope, 'm.')})`
}

export type GroupFilter = { state?: readonly GroupState[]; dlqTopic?: string; q?: string }
/** A group's place in the list: its last_seen_at as text, to the microsecond, and its id. */
export type GroupPlace = readonly [lastSeenAt: string, id: string]

/** The groups behind `after`, those seen last first. `likePattern`: of the title, as LIKE has it. */
export async function listGroups(
  sql: Sql,
  {
    state,
    dlqTopic,
    likePattern,
    scope,
    after,
    limit,
  }: Omit<GroupFilter, 'q'> & { likePattern?: string; scope: TopicScope; after: GroupPlace | null; limit: number },
): Promise<(Group & { place: string })[]> {
  return sql<(Group & { place: string })[]>`
    select ${groupColumns(sql, scope)}, (g.last_seen_at at time zone 'UTC')::text || '+00' as place
    from dlq.dlq_groups g
    where (${groupInScope(sql, scope)})
      ${state === undefined ? sql`` : sql`and case when g.state = 'snoozed' and g.snoozed_until <= now() then 'open' else g.state end = any(${sql.array([...state])}::text[])`}
      ${likePattern === undefined ? sql`` : sql`and g.title ilike ${likePattern}`}
      ${dlqTopic === undefined ? sql`` : sql`and exists (select from dlq.dlq_group_topics t where t.dlq_topic = ${dlqTopic} and t.group_id = g.id)`}
      ${after === null ? sql`` : sql`and (g.last_seen_at, g.id) < (${after[0]}::text::timestamptz, ${after[1]}::uuid)`}
    order by g.last_seen_at desc, g.id desc
    limit ${limit}`
}

/** `hold`: locks the group until the transaction ends. */
export async function getGroup(
  sql: Sql,
  { id, scope, hold = false }: { id: string; scope: TopicScope; hold?: boolean },
): Promise<Group | null> {
  const [row] = await sql<Group[]>`
    select ${groupColumns(sql, scope)} from dlq.dlq_groups g
    where g.id = ${id} and (${groupInScope(sql, scope)})
    ${hold ? sql`for update of g` : sql``}`
  return row ?? null
}

/** Writes what people say about a group that is held. A state that is said again counts from now, too. */
export async function changeGroup(
  sql: Sql,
  {
    id,
    state,
    snoozedUntil,
    owner,
    note,
  }: {
    id: string
    state: GroupState | undefined
    snoozedUntil: Date | null
    owner: string | null | undefined
    note: string | null | undefined
  },
): Promise<void> {
  await sql`
    update dlq.dlq_groups set
      ${state === undefined ? sql`` : sql`state = ${state}, snoozed_until = ${snoozedUntil}, state_changed_at = now(),`}
      ${owner === undefined ? sql`` : sql`owner = ${owner},`}
      ${note === undefined ? sql`` : sql`note = ${note},`}
      id = id
    where id = ${id}`
}
