// dlq_messages and dlq_attempts: what has happened lately, and what has waited for longest. Each look is
// bounded, so that a flood makes it say "at least" and not slow.

import type { Sql } from './sql.ts'
import { inScope, type TopicScope, topicInScope } from './topic-scope.ts'

/** So many rows of the last minutes are counted at most. */
const maxCounted = 100_000

export type Activity = {
  /** Over the last minute. */
  ingested: number
  /** Of the last five minutes. */
  published: number
  resolved: number
  failed: number
  /** Of the published ones: how many have come back already. */
  failed_again: number
}

/** What was ingested and retried lately; a count of 100,000 means at least so many. */
export async function countActivity(sql: Sql, { scope }: { scope: TopicScope }): Promise<Activity> {
  const [row] = await sql<[Activity]>`
    select
      (select count(*)::int from (
         select from dlq.dlq_messages
         where created_at > now() - interval '1 minute' and ${inScope(sql, scope)} limit ${maxCounted}) new) as ingested,
      (count(*) filter (where outcome = 'published'))::int as published,
      (count(*) filter (where outcome = 'resolved'))::int as resolved,
      (count(*) filter (where outcome = 'failed'))::int as failed,
      (count(*) filter (where outcome = 'published' and failed_again_at is not null))::int as failed_again
    from (
      select outcome, failed_again_at from dlq.dlq_attempts
      where settled_at > now() - interval '5 minutes' and ${topicInScope(sql, scope, 'target_topic')} limit ${maxCounted}
    ) lately`
  return row
}

/** Since when the oldest PENDING message of each topic has waited; topics that have none are missing. */
export async function oldestPending(sql: Sql, topics: readonly string[]): Promise<Map<string, Date>> {
  const rows = await sql<{ topic: string; since: Date }[]>`
    select topic, oldest.since
    from unnest(${sql.array([...topics])}::text[]) as asked (topic)
    cross join lateral (
      -- A record's time lies in its id, so this is the first entry of (original_topic, status, id).
      select least(m.created_at, coalesce(m.record_timestamp, m.created_at)) as since
      from dlq.dlq_messages m
      where m.original_topic = asked.topic and m.status = 'PENDING'
      order by m.id
      limit 1
    ) oldest`
  return new Map(rows.map(({ topic, since }) => [topic, since]))
}
