// dlq_messages and dlq_attempts: recent activity, and the messages that have waited longest. Each count is bounded, so
// that in a flood it means "at least" and stays fast.

import type { Sql } from '../sql.ts'
import { messageInScope, passesRoute, type TopicScope, topicInScope } from '../topic-scope.ts'

/** At most this number of rows of the last minutes is counted. */
const maxCounted = 100_000
/** Attempts of applications name no topic, so for a limited caller their messages are looked up. */
const maxLookedUp = 10_000

export type Activity = {
  /** Over the last minute. */
  ingested: number
  /** Of the last five minutes. */
  published: number
  resolved: number
  failed: number
  /** How many of the published ones have failed again so far. */
  failed_again: number
}

/** How many messages were stored and retried recently. A count of 100,000 means at least 100,000. */
export async function countActivity(sql: Sql, { scope }: { scope: TopicScope }): Promise<Activity> {
  const lately = sql`settled_at > now() - interval '5 minutes'`
  const ofApplications = sql`
    union all
    select outcome, failed_again_at
    from (select message_id, outcome, failed_again_at from dlq.dlq_attempts
          where ${lately} and target_topic is null order by settled_at desc limit ${maxLookedUp}) a
    cross join lateral (
      select from dlq.dlq_messages m where m.id = a.message_id and ${messageInScope(sql, scope, 'm.')} limit 1
    ) m`
  const [row] = await sql<[Activity]>`
    select
      (select count(*)::int from (
         select from dlq.dlq_messages
         where created_at > now() - interval '1 minute' and ${messageInScope(sql, scope)} limit ${maxCounted}) new) as ingested,
      (count(*) filter (where outcome = 'published'))::int as published,
      (count(*) filter (where outcome = 'resolved'))::int as resolved,
      (count(*) filter (where outcome = 'failed'))::int as failed,
      (count(*) filter (where outcome = 'published' and failed_again_at is not null))::int as failed_again
    from (
      (select outcome, failed_again_at from dlq.dlq_attempts
       where ${lately} and ${topicInScope(sql, scope, 'target_topic')} limit ${maxCounted})
      ${scope === null ? sql`` : ofApplications}
    ) lately`
  return row
}

/** Only so many of a topic's messages are looked through for the first one in the scope. */
const maxLookedThrough = 10_000

/**
 * Since when the oldest PENDING, or DEAD, message of each topic, in the scope, has waited. Topics without one are missing,
 * and topics whose first ten thousand are all outside the scope, those aside that their route holds.
 */
export async function oldestWaiting(
  sql: Sql,
  { status, topics, scope }: { status: 'PENDING' | 'DEAD'; topics: readonly string[]; scope: TopicScope },
): Promise<Map<string, Date>> {
  const rows = await sql<{ topic: string; since: Date }[]>`
    select topic, oldest.since
    from unnest(${sql.array([...topics])}::text[]) as asked (topic)
    cross join lateral (
      -- An id begins with its record's time, so this is the first entry of (original_topic, status, id).
      select least(m.created_at, m.record_timestamp) as since
      from (
        select m.id, m.created_at, m.record_timestamp, m.original_topic, m.dlq_topic,
               m.held_by_route, m.record_source
        from dlq.dlq_messages m
        where m.original_topic = asked.topic and m.status = ${status} and ${passesRoute(sql, scope)}
        order by m.id
        limit ${scope === null ? 1 : maxLookedThrough}
      ) m
      where ${messageInScope(sql, scope, 'm.')}
      order by m.id
      limit 1
    ) oldest`
  return new Map(rows.map(({ topic, since }) => [topic, since]))
}
