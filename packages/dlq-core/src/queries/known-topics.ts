// dlq_messages and dlq_topics: the topics that there are dead letters of, or will be.

import type { Sql } from './sql.ts'
import { inScope, type TopicScope } from './topic-scope.ts'

/** An original topic with a DLQ topic that its dead letters were read from, if any was. */
export type KnownTopic = { original_topic: string; dlq_topic: string | null }

/**
 * The original topics of stored messages, in the order of their names, `limit` at most. Skips from topic to
 * topic along the index, so the cost grows with the number of topics, not with that of messages.
 */
export async function listKnownTopics(
  sql: Sql,
  { scope, limit }: { scope: TopicScope; limit: number },
): Promise<KnownTopic[]> {
  return sql<KnownTopic[]>`
    with recursive name as (
      (select original_topic, 1 as number from dlq.dlq_messages order by original_topic limit 1)
      union all
      select (select m.original_topic from dlq.dlq_messages m
              where m.original_topic > n.original_topic
              order by m.original_topic limit 1), n.number + 1
      from name n where n.original_topic is not null and n.number < ${limit}
    ),
    known as (
      select n.original_topic, example.dlq_topic
      from name n
      cross join lateral (
        -- In the index's order: without it, the planner may look for a row by reading partitions.
        select m.dlq_topic from dlq.dlq_messages m
        where m.original_topic = n.original_topic
        order by m.status, m.id
        limit 1
      ) example
    )
    select original_topic, dlq_topic from known where ${inScope(sql, scope)} order by original_topic`
}
