// dlq_events and dlq_event_watch: what somebody should hear of.

import { type Event, type EventType, eventId, type NewEvent } from '../../domain/notifications/event.ts'
import { exactTime, type TimePlace } from '../exact-time.ts'
import { type Sql, toJson } from '../sql.ts'
import { type TopicScope, topicInScope } from '../topic-scope.ts'
import { type Forgetting, keptSince } from './kept-since.ts'

/** Takes the look that is due, for one retrier. Returns up to when the last one looked; null where none is due. */
export async function takeEventLook(sql: Sql, { everyMs }: { everyMs: number }): Promise<Date | null> {
  const [row] = await sql<{ looked_at: Date }[]>`
    update dlq.dlq_event_watch set look_due_at = clock_timestamp() + ${everyMs}::float8 * interval '1 ms'
    where look_due_at <= clock_timestamp()
    returning looked_at`
  return row?.looked_at ?? null
}

/** Up to `at` everything is noted; up to the present, where the clock of `at` is ahead of the database's. */
export async function noteEventLook(sql: Sql, at: Date): Promise<void> {
  await sql`update dlq.dlq_event_watch set looked_at = greatest(looked_at, least(${at}, clock_timestamp()))`
}

function columns(sql: Sql) {
  return sql`
    e.id, e.type, e.subject, e.severity, e.title, e.original_topic, e.dlq_topic, e.group_id, e.run_id, e.owner,
    e.data::text as data, e.at, e.ended_at`
}

type Row = Omit<Event, 'data'> & { data: string }
const toEvent = ({ data, ...row }: Row): Event => ({ ...row, data: JSON.parse(data) as Event['data'] })

/** An event with when it happened, as text that is the same for whoever notices it. */
export type Happened = NewEvent & { when: string }

/** Notes what happened once. Returns the events that are new. */
export async function noteEvents(sql: Sql, events: readonly Happened[]): Promise<Event[]> {
  return insertEvents(
    sql,
    events.map(({ when, ...event }) => ({ ...event, id: eventId(event, when), is_condition: false })),
  )
}

async function insertEvents(
  sql: Sql,
  events: readonly (NewEvent & { id: string; is_condition: boolean })[],
): Promise<Event[]> {
  if (events.length === 0) return []
  const rows = await sql<Row[]>`
    insert into dlq.dlq_events as e (
      id, type, subject, severity, title, original_topic, dlq_topic, group_id, run_id, owner, data, is_condition)
    select id, type, subject, severity, title, original_topic, dlq_topic, group_id, run_id, owner, coalesce(data, '{}'), is_condition
    from json_to_recordset(${toJson(events)}::json) as new (
      id uuid, type text, subject text, severity text, title text, original_topic text, dlq_topic text, group_id uuid,
      run_id uuid, owner text, data json, is_condition boolean)
    on conflict do nothing
    returning ${columns(sql)}`
  return rows.map(toEvent)
}

/**
 * Makes the open conditions of these types equal to those given: new ones begin, those that are missing end. Of one that
 * lasts, severity, title and owner are kept up to date.
 */
export async function noteConditions(
  sql: Sql,
  { types, conditions }: { types: readonly EventType[]; conditions: readonly NewEvent[] },
): Promise<{ begun: Event[]; ended: Event[] }> {
  const ended = await sql<Row[]>`
    update dlq.dlq_events e set ended_at = clock_timestamp()
    where e.is_condition and e.ended_at is null and e.type = any(${sql.array([...types])}::text[])
      and not exists (
        select from json_to_recordset(${toJson(conditions)}::json) as now (type text, subject text)
        where now.type = e.type and now.subject = e.subject)
    returning ${columns(sql)}`
  await sql`
    update dlq.dlq_events e set
      severity = now.severity, title = now.title, owner = now.owner, data = coalesce(now.data, '{}')
    from json_to_recordset(${toJson(conditions)}::json)
      as now (type text, subject text, severity text, title text, owner text, data json)
    where e.is_condition and e.ended_at is null and e.type = now.type and e.subject = now.subject
      and (e.severity, e.title, e.owner) is distinct from (now.severity, now.title, now.owner)`
  const begun = await insertEvents(
    sql,
    conditions.map((event) => ({ ...event, id: crypto.randomUUID(), is_condition: true })),
  )
  return { begun, ended: ended.map(toEvent) }
}

export async function readEvents(sql: Sql, ids: readonly string[]): Promise<Event[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from dlq.dlq_events e where e.id = any(${sql.array([...ids])}::uuid[]) order by e.at, e.id`
  return rows.map(toEvent)
}

/** The conditions that last: all of them, because one that is not known to last would begin again. */
export async function listOpenConditions(sql: Sql): Promise<Event[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from dlq.dlq_events e where e.is_condition and e.ended_at is null order by e.at, e.id`
  return rows.map(toEvent)
}

/**
 * The newest events first, behind `after`. Who may see only some topics sees those of these topics, and none without a
 * topic.
 */
export async function listEvents(
  sql: Sql,
  {
    type,
    open,
    before,
    after = null,
    limit,
    scope,
  }: {
    type: string | null
    open: boolean
    before: Date | null
    after?: TimePlace | null
    limit: number
    scope: TopicScope
  },
): Promise<(Event & { place: string })[]> {
  const inScope =
    scope === null
      ? sql`true`
      : sql`((e.original_topic is not null and ${topicInScope(sql, scope, 'e.original_topic')})
             or (e.dlq_topic is not null and ${topicInScope(sql, scope, 'e.dlq_topic')}))`
  const rows = await sql<(Row & { place: string })[]>`
    select ${columns(sql)}, ${exactTime(sql, sql`e.at`)} as place from dlq.dlq_events e
    where ${inScope}
      ${type === null ? sql`` : sql`and e.type = ${type}`}
      ${open ? sql`and e.is_condition and e.ended_at is null` : sql``}
      ${before === null ? sql`` : sql`and e.at < ${before}`}
      ${after === null ? sql`` : sql`and (e.at, e.id) < (${after.at}::text::timestamptz, ${after.id}::uuid)`}
    order by e.at desc, e.id desc limit ${limit}`
  return rows.map(({ place, ...row }) => ({ ...toEvent(row), place }))
}

/**
 * Conditions that last stay, and those that are over for as long after their end. So does that a group has come back, which
 * would be noted once more, until somebody changes its state or it forgets its texts. Returns how many events it deleted.
 */
export async function forgetEvents(sql: Sql, { keptMs, now, limit }: Forgetting): Promise<number> {
  const since = keptSince(sql, { keptMs, now })
  const result = await sql`
    delete from dlq.dlq_events where id in (
      select id from dlq.dlq_events e
      where at < ${since} and (not is_condition or ended_at < ${since})
        and not (type = 'group.regressed' and exists (
          select from dlq.dlq_group_topics t join dlq.dlq_groups g on g.id = t.group_id and g.forgotten_at is null
          where t.dlq_topic = e.dlq_topic and t.group_id = e.group_id and t.state = 'resolved' and t.state_changed_at < e.at))
      order by at limit ${limit})`
  return result.count
}
