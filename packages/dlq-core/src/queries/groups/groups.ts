// dlq_groups and dlq_group_topics: reads error groups, and writes the state, owner and note that people give them.

import { lines } from '../reading/summary.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope, topicInScope } from '../topic-scope.ts'
import { isRegressed, regressedGroups } from './regressed.ts'

export const groupStates = ['open', 'snoozed', 'ignored', 'resolved'] as const
export type GroupState = (typeof groupStates)[number]

/** What people have said about an error group for one of its DLQ topics. */
export type GroupOpinion = {
  /** The DLQ topic; the original topic of messages that were never on one. */
  dlq_topic: string
  /** As somebody set it; a snooze that is over is open. */
  state: GroupState
  snoozed_until: Date | null
  state_changed_at: Date | null
  /** A message arrived after somebody had set the group to resolved. */
  regressed: boolean
  owner: string | null
  note: string | null
}

/** A group with what people have said about it, for the topics in the scope together: the state that needs most, any owner, any note. */
export type Group = Omit<GroupOpinion, 'dlq_topic'> & {
  id: string
  version: number
  title: string
  error_class: string | null
  location: string | null
  message: string
  first_seen_at: Date
  last_seen_at: Date
  dlq_topics: string[]
}

/** The states in the order in which they ask for somebody's attention. */
export const byUrgency = ['open', 'snoozed', 'resolved', 'ignored'] as const

type Seen = { scope: TopicScope; dlqTopic?: string | undefined }

/** The rows of dlq_group_topics, as `t`, that belong to the group `g` and may be seen. */
function topicRows(sql: Sql, { scope, dlqTopic }: Seen) {
  return sql`
    t.group_id = g.id and ${topicInScope(sql, scope, 't.dlq_topic')}
    ${dlqTopic === undefined ? sql`` : sql`and t.dlq_topic = ${dlqTopic}`}`
}

/** The place in byUrgency of the state of a row `t`, from 1. */
export function urgencyOf(sql: Sql) {
  return sql`
    case t.state when 'open' then 1
                 when 'snoozed' then case when t.snoozed_until <= now() then 1 else 2 end
                 when 'resolved' then 3 else 4 end`
}

/** The columns of a GroupOpinion, of a row `t`, but for `regressed`. */
function opinionColumns(sql: Sql) {
  return sql`
    t.dlq_topic,
    case when t.state = 'snoozed' and t.snoozed_until <= now() then 'open' else t.state end as state,
    case when t.state = 'snoozed' and t.snoozed_until > now() then t.snoozed_until end as snoozed_until,
    t.state_changed_at, t.owner, t.note`
}

/** What is said for the topics in the scope together: one row, as a lateral join of the group `g`. */
export function opinionOf(sql: Sql, seen: Seen) {
  const urgency = sql.array([...byUrgency])
  return sql`
    select
      (${urgency}::text[])[coalesce(min(urgency), 1)] as state,
      -- Of a snooze only where no topic is open.
      case when min(urgency) = 2 then min(snoozed_until) end as snoozed_until,
      max(state_changed_at) as state_changed_at,
      coalesce(bool_or(is_resolved), false) and exists (${regressedGroups(sql, topicRows(sql, seen))}) as regressed,
      (array_agg(owner order by dlq_topic) filter (where owner is not null))[1] as owner,
      (array_agg(note order by dlq_topic) filter (where note is not null))[1] as note,
      min(first_seen_at) as first_seen_at,
      max(coalesce(last_seen_at, first_seen_at)) as last_seen_at,
      coalesce((array_agg(dlq_topic order by dlq_topic))[1:20], '{}') as dlq_topics
    from (
      select ${opinionColumns(sql)}, ${urgencyOf(sql)} as urgency, t.first_seen_at, t.last_seen_at,
             t.state = 'resolved' as is_resolved
      from dlq.dlq_group_topics t where ${topicRows(sql, seen)}
    ) opinions`
}

export function groupColumns(sql: Sql, scope: TopicScope) {
  // Who may see only some topics is told since when these have had the failure, not since when others have. A topic knows
  // when it had it last, the group only when that was stored.
  const seenAt = sql`
    ${scope === null ? sql`least(g.first_seen_at, said.first_seen_at)` : sql`coalesce(said.first_seen_at, g.first_seen_at)`} as first_seen_at,
    coalesce(said.last_seen_at, g.last_seen_at) as last_seen_at`
  // The first message of the group may be another team's. Its words make the group only where no place does: then they are
  // those of every message of it.
  const message =
    scope === null
      ? sql`g.message`
      : sql`
        case when g.location is null or not exists (
          select from dlq.dlq_group_topics other
          where other.group_id = g.id and (${topicInScope(sql, scope, 'other.dlq_topic')}) is not true
        ) then g.message else '' end as message`
  return sql`
    g.id, g.version, g.title, g.error_class, g.location, ${message}, ${seenAt},
    said.state, said.snoozed_until, said.state_changed_at, said.regressed, said.owner, said.note, said.dlq_topics`
}

/** Only groups with a message in the scope. */
function groupInScope(sql: Sql, scope: TopicScope) {
  if (scope === null) return sql`true`
  return sql`exists (select from dlq.dlq_group_topics t where t.group_id = g.id and ${topicInScope(sql, scope, 't.dlq_topic')})
          or exists (select from dlq.dlq_messages m where m.group_id = g.id and ${messageInScope(sql, scope, 'm.')})`
}

/** `hold`: locks the group until the transaction ends. */
export async function getGroup(
  sql: Sql,
  { id, scope, hold = false }: { id: string; scope: TopicScope; hold?: boolean },
): Promise<Group | null> {
  const [row] = await sql<Group[]>`
    select ${groupColumns(sql, scope)} from dlq.dlq_groups g
    cross join lateral (${opinionOf(sql, { scope })}) said
    where g.id = ${id} and (${groupInScope(sql, scope)})
    ${hold ? sql`for update of g` : sql``}`
  return row ?? null
}

/** What is said about the group for each topic in the scope, in the order of their names; at most `limit`. */
export async function listOpinions(
  sql: Sql,
  { id, scope, dlqTopic, limit }: Seen & { id: string; limit: number },
): Promise<GroupOpinion[]> {
  return sql<GroupOpinion[]>`
    select ${opinionColumns(sql)}, ${isRegressed(sql)} as regressed
    from dlq.dlq_groups g join dlq.dlq_group_topics t on ${topicRows(sql, { scope, dlqTopic })}
    where g.id = ${id}
    order by t.dlq_topic
    limit ${limit}`
}

/**
 * Makes the rows of topics in the scope that have messages of the group and no row: those of the overflow group, which
 * takes what a topic has too many groups for.
 */
export async function addGroupTopics(sql: Sql, { id, scope }: { id: string; scope: TopicScope }): Promise<void> {
  await sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id)
    select dlq_topic, ${id}::uuid
    from (
      select coalesce(dlq_topic, original_topic) as dlq_topic from ${lines(sql, { withGroups: true })}
      where group_id = ${id} group by 1 having sum(count) > 0
    ) t
    where ${topicInScope(sql, scope, 't.dlq_topic')}
    order by dlq_topic
    on conflict (dlq_topic, group_id) do nothing`
}

/** Writes what people say about a group that is held, for these topics. A state that is said again counts from now, too. */
export async function changeGroup(
  sql: Sql,
  {
    id,
    dlqTopics,
    state,
    snoozedUntil,
    owner,
    note,
  }: {
    id: string
    dlqTopics: readonly string[]
    state: GroupState | undefined
    snoozedUntil: Date | null
    owner: string | null | undefined
    note: string | null | undefined
  },
): Promise<void> {
  // Who resolves a group that is resolved does so for what has come since.
  const changedAt = sql`
    case when state = ${state ?? null} and state <> 'resolved' and snoozed_until is not distinct from ${snoozedUntil}
      then state_changed_at else now() end`
  await sql`
    update dlq.dlq_group_topics set
      ${state === undefined ? sql`` : sql`state = ${state}, snoozed_until = ${snoozedUntil}, state_changed_at = ${changedAt},`}
      ${owner === undefined ? sql`` : sql`owner = ${owner},`}
      ${note === undefined ? sql`` : sql`note = ${note},`}
      group_id = group_id
    where group_id = ${id} and dlq_topic = any(${sql.array([...dlqTopics])}::text[])`
}
