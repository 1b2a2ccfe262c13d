// dlq_topics, dlq_positions and dlq_messages: what there is of each topic, for people.

import type { Sql } from './sql.ts'
import { inScope, type TopicScope, topicInScope } from './topic-scope.ts'

export type DlqTopic = {
  cluster: string
  topic: string
  display_name: string | null
  partitions: number
  found_at: Date
  gone_at: Date | null
  /** When something was stored last; null where nothing was yet. */
  stored_at: Date | null
  /** Records read so far, those below the first offset included. */
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

/** When the oldest PENDING message of each topic was created. any(array[…]): message-scan.ts says why. */
export async function oldestPendingOf(
  sql: Sql,
  { column, topics }: { column: 'dlq_topic' | 'original_topic'; topics: readonly string[] },
): Promise<Map<string, Date>> {
  const rows = await sql<{ topic: string; created_at: Date }[]>`
    select topic, oldest.created_at
    from unnest(${sql.array([...topics])}::text[]) topic
    cross join lateral (
      select m.created_at from dlq.dlq_messages m
      where m.${sql(column)} = any(array[topic]) and m.status = any(array['PENDING'])
      order by m.${sql(column)}, m.status, m.id limit 1
    ) oldest`
  return new Map(rows.map(({ topic, created_at }) => [topic, created_at]))
}

export type RecentFailures = { consumer_group: string | null; count: number; last_failed_at: Date }

/** Which consumer groups the newest `examine` messages failed in. */
export async function countRecentFailures(
  sql: Sql,
  { scope, examine }: { scope: TopicScope; examine: number },
): Promise<RecentFailures[]> {
  return sql<RecentFailures[]>`
    with newest as materialized (
      select m.consumer_group, m.original_topic, m.dlq_topic, m.last_failed_at
      from dlq.dlq_messages m
      order by m.id desc
      limit ${examine}
    )
    select consumer_group, count(*)::int as count, max(last_failed_at) as last_failed_at
    from newest
    where ${inScope(sql, scope)}
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

/** How far each partition is stored; of one topic, or of all. */
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
