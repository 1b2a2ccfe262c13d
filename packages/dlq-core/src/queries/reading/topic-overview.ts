// dlq_positions and dlq_messages: the overview of topics for people. The list of topics: topic-list.ts.

import { lastFailedAt } from '../failed-at.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope, topicInScope } from '../topic-scope.ts'

/** Only so many of a topic's messages are looked through for the first one in the scope. */
const maxLookedThrough = 10_000

/**
 * When the oldest PENDING message of each topic, in the scope, was created. Topics whose first ten thousand are all
 * outside the scope are missing. any(array[…]): message-scan.ts says why.
 */
export async function oldestPendingOf(
  sql: Sql,
  { column, topics, scope }: { column: 'dlq_topic' | 'original_topic'; topics: readonly string[]; scope: TopicScope },
): Promise<Map<string, Date>> {
  const rows = await sql<{ topic: string; created_at: Date }[]>`
    select topic, oldest.created_at
    from unnest(${sql.array([...topics])}::text[]) topic
    cross join lateral (
      select m.created_at from (
        select m.id, m.created_at, m.original_topic, m.dlq_topic, m.held_by_route, m.record_source
        from dlq.dlq_messages m
        where m.${sql(column)} = any(array[topic]) and m.status = any(array['PENDING'])
        order by m.${sql(column)}, m.status, m.id limit ${scope === null ? 1 : maxLookedThrough}
      ) m
      where ${messageInScope(sql, scope, 'm.')}
      order by m.id limit 1
    ) oldest`
  return new Map(rows.map(({ topic, created_at }) => [topic, created_at]))
}

export type RecentFailures = { consumer_group: string | null; count: number; last_failed_at: Date }

/** The consumer groups in which the newest `examine` messages failed. */
export async function countRecentFailures(
  sql: Sql,
  { scope, examine }: { scope: TopicScope; examine: number },
): Promise<RecentFailures[]> {
  return sql<RecentFailures[]>`
    with newest as materialized (
      select m.consumer_group, m.original_topic, m.dlq_topic, m.held_by_route, m.record_source,
             ${lastFailedAt(sql)} as last_failed_at
      from dlq.dlq_messages m
      order by m.id desc
      limit ${examine}
    )
    select consumer_group, count(*)::int as count, max(last_failed_at) as last_failed_at
    from newest
    where ${messageInScope(sql, scope)}
    group by consumer_group`
}

export type Position = {
  cluster: string
  topic: string
  partition: number
  generation: number
  next_offset: bigint
  updated_at: Date
}

/** The position of each partition, of one topic or of all. */
export async function listAllPositions(
  sql: Sql,
  {
    scope,
    topic,
    after,
    limit,
  }: {
    scope: TopicScope
    topic: string | undefined
    after: Pick<Position, 'cluster' | 'topic' | 'partition'> | null
    limit: number
  },
): Promise<Position[]> {
  return sql<Position[]>`
    select cluster, topic, partition, generation, next_offset, updated_at
    from dlq.dlq_positions
    where ${topicInScope(sql, scope, 'topic')}
      ${topic === undefined ? sql`` : sql`and topic = ${topic}`}
      ${after === null ? sql`` : sql`and (cluster, topic, partition) > (${after.cluster}, ${after.topic}, ${after.partition})`}
    order by cluster, topic, partition
    limit ${limit}`
}
