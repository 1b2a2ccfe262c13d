// dlq_messages: the original topics that have due messages, and the notification that wakes retriers for them.

import { looseIndexScan } from '../loose-index-scan.ts'
import { type Sql, toArray } from '../sql.ts'
import { sqlText, sqlWords, toQuery } from '../sql-text.ts'

export type DueTopic = {
  original_topic: string
  /** The DLQ topic of the message that has been due for longest. */
  dlq_topic: string | null
  /** Since when that message has been due. */
  due_at: Date
}

/** The condition of idx_dlq_messages_due on a row m: it is retried once its time comes. */
export const waiting = sqlWords(`m.status = 'PENDING' and m.next_retry_at is not null and m.run_id is null`)

/** Of each topic, the message that waits for longest. */
const oldest = { columns: ['dlq_topic', 'next_retry_at'], firstBy: ['next_retry_at', 'id'] }
const oldestOfAll = looseIndexScan({ where: waiting, ...oldest })
/** Of each topic between two others, and of each behind the last one. */
const oldestBetween = looseIndexScan({
  where: sqlText`${waiting} and m.original_topic > gap.after and m.original_topic < gap.before`,
  ...oldest,
})
const oldestBehind = looseIndexScan({ where: sqlText`${waiting} and m.original_topic > gap.after`, ...oldest })

/**
 * The topics with due messages.
 *
 * @param known topics to leave out, which cost nothing then. An entry of the index stays for a moment after its message
 *   was claimed, and the first due message of a topic is found behind all of these.
 */
export async function listDueTopics(sql: Sql, known: readonly string[] = []): Promise<DueTopic[]> {
  const found = known.length === 0 ? toQuery(sql, oldestOfAll) : oldestInGaps(sql, known)
  return sql<DueTopic[]>`
    select original_topic, dlq_topic, next_retry_at as due_at from (${found}) oldest where next_retry_at <= now()`
}

/**
 * Walks from one known topic to the next, and from the last one on. These are two walks, because a single condition for both
 * ("before is null or …") is none for an index: PostgreSQL would read all that the next topic has.
 */
function oldestInGaps(sql: Sql, known: readonly string[]) {
  return sql`
    with gap as materialized (
      select topic as after, lead(topic) over (order by topic) as before
      from unnest(${toArray(['', ...known])}::text[]) as known (topic)
    )
    select oldest.* from gap cross join lateral (${toQuery(sql, oldestBetween)}) oldest where before is not null
    union all
    select oldest.* from gap cross join lateral (${toQuery(sql, oldestBehind)}) oldest where before is null`
}

/** How many messages of each topic are due. The count stops at `limit`, which then means "at least". */
export async function countDue(
  sql: Sql,
  { topics, limit }: { topics: readonly string[]; limit: number },
): Promise<{ topic: string; due: number }[]> {
  return sql<{ topic: string; due: number }[]>`
    select topic, counted.due
    from unnest(${sql.array([...topics])}::text[]) as asked (topic)
    cross join lateral (
      select count(*)::int as due
      from (
        select from dlq.dlq_messages m
        where m.original_topic = asked.topic and m.status = 'PENDING' and m.next_retry_at <= now() and m.run_id is null
        limit ${limit}
      ) due
    ) counted`
}

/** Tells the retriers that a message is due. They listen for it, and it is only a hint, because they poll as well. */
export async function notifyDue(sql: Sql): Promise<void> {
  await sql`notify dlq_due`
}
