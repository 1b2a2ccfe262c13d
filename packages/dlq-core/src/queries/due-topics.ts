// dlq_messages: which original topics have something due.

import type { Sql } from './sql.ts'

export type DueTopic = {
  original_topic: string
  /** The DLQ topic of the message that has been due for longest. */
  dlq_topic: string | null
}

/**
 * The topics with due messages. Skips from topic to topic along idx_dlq_messages_due, so the cost grows
 * with the number of topics and partitions, not with the number of messages.
 */
export async function listDueTopics(sql: Sql): Promise<DueTopic[]> {
  return sql<DueTopic[]>`
    with recursive waiting as (
      (select original_topic from dlq.dlq_messages
       where status = 'PENDING' and next_retry_at is not null
       order by original_topic limit 1)
      union all
      select (select m.original_topic from dlq.dlq_messages m
              where m.status = 'PENDING' and m.next_retry_at is not null and m.original_topic > w.original_topic
              order by m.original_topic limit 1)
      from waiting w where w.original_topic is not null
    )
    select w.original_topic, oldest.dlq_topic
    from waiting w
    cross join lateral (
      select m.dlq_topic from dlq.dlq_messages m
      where m.original_topic = w.original_topic and m.status = 'PENDING' and m.next_retry_at <= now()
      order by m.next_retry_at, m.id
      limit 1
    ) oldest`
}
