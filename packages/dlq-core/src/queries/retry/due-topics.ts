// dlq_messages: the original topics that have due messages, and the notification that wakes retriers for them.

import { looseIndexScan } from '../loose-index-scan.ts'
import type { Sql } from '../sql.ts'
import { sqlWords, toQuery } from '../sql-text.ts'

export type DueTopic = {
  original_topic: string
  /** The DLQ topic of the message that has been due for longest. */
  dlq_topic: string | null
  /** Since when that message has been due. */
  due_at: Date
}

/** The condition of idx_dlq_messages_due on a row m: it is retried once its time comes. */
export const waiting = sqlWords(`m.status = 'PENDING' and m.next_retry_at is not null and m.run_id is null`)

const oldestByTopic = looseIndexScan({
  where: waiting,
  columns: ['dlq_topic', 'next_retry_at'],
  firstBy: ['next_retry_at', 'id'],
})

/** The topics with due messages. */
export async function listDueTopics(sql: Sql): Promise<DueTopic[]> {
  return sql<DueTopic[]>`
    select original_topic, dlq_topic, next_retry_at as due_at
    from (${toQuery(sql, oldestByTopic)}) oldest
    where next_retry_at <= now()`
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
