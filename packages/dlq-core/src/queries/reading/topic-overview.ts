// dlq_topics, dlq_positions and dlq_messages: the overview of topics for people.

import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope, topicInScope } from '../topic-scope.ts'

export type DlqTopic = {
  cluster: string
  topic: string
  display_name: string | null
  partitions: number
  found_at: Date
  gone_at: Date | null
  /** When a message was last stored. Null before the first one. */
  stored_at: Date | null
  /** The sum of the positions of all partitions. Null before the first one. */
  read_to: bigint | null
}

export type TopicPlace = { topic: string; cluster: string }

/** The DLQ topics behind `after`, in the order of their names. */
export async function listDlqTopics(
  sql: Sql,
  { scope, after, limit }: { scope: TopicScope; after: TopicPlace | null; limit: number },
): Promise<DlqTopic[]> {
  return sql<DlqTopic[]>`
    select t.cluster, t.topic, t.display_name, t.partitions, t.found_at, t.gone_at, p.stored_at, p.read_to
    from dlq.dlq_topics t
    left join lateral (
      select max(updated_at) as stored_at, sum(next_offset)::bigint as read_to
      from dlq.dlq_positions p where p.cluster = t.cluster and p.topic = t.topic
    ) p on true
    where ${topicInScope(sql, scope, 't.topic')}
      ${after === null ? sql`` : sql`and (t.topic, t.cluster) > (${after.topic}, ${after.cluster})`}
    order by t.topic, t.cluster
    limit ${limit}`
}

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
      select m.consumer_group, m.original_topic, m.dlq_topic, m.held_by_route, m.record_source, m.last_failed_at
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
