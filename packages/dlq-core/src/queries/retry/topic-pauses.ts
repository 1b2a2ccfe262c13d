// dlq_topic_pauses: the topics that somebody on call has paused. A pause whose time is over counts for nothing.

import type { Sql } from '../sql.ts'
import { type TopicScope, topicInScope } from '../topic-scope.ts'

export const pausables = ['retries', 'ingestion'] as const
export type Pausable = (typeof pausables)[number]

export type TopicPause = {
  topic: string
  what: Pausable
  paused_by: string
  reason: string
  since: Date
  /** Null: until somebody resumes it. */
  until: Date | null
}

/** A condition on a row of dlq_topic_pauses. */
export function isInForce(sql: Sql) {
  return sql`(until is null or until > now())`
}

/** The first thousand pauses in force of topics in the scope, those that began first first; `topics` absent: of all. */
export async function listTopicPauses(
  sql: Sql,
  { scope, topics }: { scope: TopicScope; topics?: readonly string[] },
): Promise<TopicPause[]> {
  return sql<TopicPause[]>`
    select topic, what, paused_by, reason, since, until from dlq.dlq_topic_pauses
    where ${isInForce(sql)} and ${topicInScope(sql, scope, 'topic')}
      ${topics === undefined ? sql`` : sql`and topic = any(${sql.array([...topics])}::text[])`}
    order by since, topic, what limit 1000`
}

/** How many topics are paused, by what is paused. */
export async function countTopicPauses(sql: Sql): Promise<{ what: Pausable; topics: number }[]> {
  return sql<{ what: Pausable; topics: number }[]>`
    select what, count(*)::int as topics from dlq.dlq_topic_pauses where ${isInForce(sql)} group by what`
}

/** The DLQ topics that no ingester reads at present. */
export async function listPausedIngestion(sql: Sql): Promise<string[]> {
  const rows = await sql<{ topic: string }[]>`
    select topic from dlq.dlq_topic_pauses where what = 'ingestion' and ${isInForce(sql)} order by topic`
  return rows.map(({ topic }) => topic)
}

/** Pauses the topic, or changes its pause. Returns the pause before, where one was in force. */
export async function pauseTopic(
  sql: Sql,
  { topic, what, by, reason, until }: Pick<TopicPause, 'topic' | 'what' | 'reason' | 'until'> & { by: string },
): Promise<TopicPause | null> {
  const before = await holdPause(sql, { topic, what })
  await sql`
    insert into dlq.dlq_topic_pauses (topic, what, paused_by, reason, until)
    values (${topic}, ${what}, ${by}, ${reason}, ${until}::timestamptz)
    on conflict (topic, what) do update set
      paused_by = excluded.paused_by, reason = excluded.reason, until = excluded.until,
      since = case when ${before !== null} then dlq_topic_pauses.since else now() end`
  return before
}

/** Ends the pause. Returns it; null where none was in force. */
export async function resumeTopic(
  sql: Sql,
  { topic, what }: Pick<TopicPause, 'topic' | 'what'>,
): Promise<TopicPause | null> {
  const before = await holdPause(sql, { topic, what })
  await sql`delete from dlq.dlq_topic_pauses where topic = ${topic} and what = ${what}`
  return before
}

async function holdPause(sql: Sql, { topic, what }: Pick<TopicPause, 'topic' | 'what'>): Promise<TopicPause | null> {
  const [row] = await sql<TopicPause[]>`
    select topic, what, paused_by, reason, since, until from dlq.dlq_topic_pauses
    where topic = ${topic} and what = ${what} and ${isInForce(sql)} for update`
  return row ?? null
}

/** Deletes the pauses whose time is over. Returns them. */
export async function forgetEndedPauses(sql: Sql): Promise<Pick<TopicPause, 'topic' | 'what'>[]> {
  return sql<Pick<TopicPause, 'topic' | 'what'>[]>`
    delete from dlq.dlq_topic_pauses where until <= now() returning topic, what`
}
