// dlq_messages: which original topics have something due.

import type { Sql } from './sql.ts'

export type DueTopic = {
  original_topic: string
  /** The DLQ topic of the message that has been due for longest. */
  dlq_topic: string | null
  /** Since when that message has been due. */
  due_at: Date
}

/**
 * The topics with due messages. Skips from topic to topic along idx_dlq_messages_due, so the cost grows
 * with the number of topics and partitions, not with the number of messages.
 */
export async function listDueTopics(sql: Sql): Promise<DueTopic[]> {
  return sql<DueTopic[]>`
    with recursive oldest as (
      (select original_topic, dlq_topic, next_retry_at from dlq.dlq_messages
       where status = 'PENDING' and next_retry_at is not null and run_id is null
       order by original_topic, next_retry_at, id limit 1)
      union all
      select next.original_topic, next.dlq_topic, next.next_retry_at
      from oldest
      cross join lateral (
        select m.original_topic, m.dlq_topic, m.next_retry_at from dlq.dlq_messages m
        where m.status = 'PENDING' and m.next_retry_at is not null and m.run_id is null
          and m.original_topic > oldest.original_topic
        order by m.original_topic, m.next_retry_at, m.id limit 1
      ) next
    )
    select original_topic, dlq_topic, next_retry_at as due_at from oldest where next_retry_at <= now()`
}

/** How many messages of each topic are due; counted up to `limit`, which then means at least so many. */
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
