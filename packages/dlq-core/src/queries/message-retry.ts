// dlq_messages: asking for retries, and taking back what programs claimed by SQL and never settled. What
// retriers claim they hold by their slot: batches.ts.

import type { Sql } from './sql.ts'
import { inScope, type TopicScope } from './topic-scope.ts'

/**
 * Ends leases that ran out, of programs that claimed by SQL. The attempt counts as failed: it may be the
 * message that kills whoever handles it. Returns how many.
 */
export async function releaseExpiredLeases(sql: Sql, { limit }: { limit: number }): Promise<number> {
  const [row] = await sql<[{ expired: number }]>`select dlq.expire_leases(null, ${limit}::int) as expired`
  return row.expired
}

export type TopicColumn = 'dlq_topic' | 'original_topic'

/**
 * Marks the next chunk of a topic's messages due, in the order of ids after `afterId`. Only ids up to
 * `untilId` are touched: what comes in meanwhile was not asked for. Returns the chunk's last id, null at the end.
 */
export async function requestRetryOfTopic(
  sql: Sql,
  {
    column,
    topic,
    scope,
    afterId,
    untilId,
    limit,
  }: { column: TopicColumn; topic: string; scope: TopicScope; afterId: string; untilId: string; limit: number },
): Promise<{ lastId: string | null; marked: number }> {
  const [row] = await sql<{ last_id: string | null; marked: number }[]>`
    with chunk as materialized (
      select id, retry_count < max_retries as has_budget from dlq.dlq_messages
      where ${sql(column)} = ${topic} and status = 'PENDING' and id > ${afterId} and id <= ${untilId} and ${inScope(sql, scope)}
      order by id
      limit ${limit}
    ),
    eligible as materialized (
      -- Asked again under the lock: a retrier may have claimed the row since.
      select m.id from dlq.dlq_messages m join chunk using (id)
      where chunk.has_budget and m.status = 'PENDING' and m.retry_count < m.max_retries
      order by m.id
      for update of m
    ),
    marked as (
      update dlq.dlq_messages m set next_retry_at = now(), retry_requested = true from eligible where m.id = eligible.id returning 1
    )
    select (select max(id::text)::uuid from chunk) as last_id, (select count(*)::int from marked) as marked`
  return { lastId: row!.last_id, marked: row!.marked }
}

/** The greatest id stored: a bound for what exists now. */
export async function greatestMessageId(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`select id from dlq.dlq_messages order by id desc limit 1`
  return row?.id ?? null
}

/** Tells the retriers that something is due. A hint only; they poll as well. */
export async function notifyDue(sql: Sql): Promise<void> {
  await sql`notify dlq_due`
}
