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

/** The original topics behind `after` that messages came from: from name to name along the index. */
export async function listOriginalTopics(
  sql: Sql,
  { scope, after, limit }: { scope: TopicScope; after: string | null; limit: number },
): Promise<string[]> {
  const rows = await sql<{ topic: string }[]>`
    with recursive stored as (
      (select original_topic as topic from dlq.dlq_messages m
       where m.original_topic > ${after ?? ''} and ${inScope(sql, scope, 'm.')}
       order by m.original_topic limit 1)
      union all
      select (select m.original_topic from dlq.dlq_messages m
              where m.original_topic > s.topic and ${inScope(sql, scope, 'm.')}
              order by m.original_topic limit 1)
      from stored s where s.topic is not null
    )
    select topic from stored where topic is not null
    limit ${limit}`
  return rows.map(({ topic }) => topic)
}

export type TopicEnds = {
  key: string
  /** The other topics of its newest messages: original topics of a DLQ topic, DLQ topics of an original topic. */
  counterparts: string[]
  oldest_pending_at: Date | null
}

/** What a topic's newest and oldest messages say, for each of the names. any(array[…]): message-scan.ts says why. */
export async function readTopicEnds(
  sql: Sql,
  { column, topics }: { column: 'dlq_topic' | 'original_topic'; topics: readonly string[] },
): Promise<Map<string, TopicEnds>> {
  const other = column === 'dlq_topic' ? sql('original_topic') : sql('dlq_topic')
  const rows = await sql<TopicEnds[]>`
    select key, newest.counterparts, oldest.created_at as oldest_pending_at
    from unnest(${sql.array([...topics])}::text[]) key
    left join lateral (
      select array_agg(distinct last.name order by last.name) as counterparts
      from unnest(array['PENDING', 'RETRYING', 'RESOLVED', 'DEAD']) s (status)
      cross join lateral (
        select m.${other} as name from dlq.dlq_messages m
        where m.${sql(column)} = any(array[key]) and m.status = any(array[s.status])
        order by m.${sql(column)} desc, m.status desc, m.id desc limit 5
      ) last
      where last.name is not null
    ) newest on true
    left join lateral (
      select m.created_at from dlq.dlq_messages m
      where m.${sql(column)} = any(array[key]) and m.status = any(array['PENDING'])
      order by m.${sql(column)}, m.status, m.id limit 1
    ) oldest on true`
  return new Map(rows.map((row) => [row.key, { ...row, counterparts: row.counterparts ?? [] }]))
}

export type ConsumerGroupSample = {
  consumer_group: string | null
  original_topics: string[]
  count: number
  last_failed_at: Date
}

/** The consumer groups among the newest `examine` messages, those with the most messages first. */
export async function sampleConsumerGroups(
  sql: Sql,
  { scope, examine }: { scope: TopicScope; examine: number },
): Promise<{ examined: number; groups: ConsumerGroupSample[] }> {
  const groups = await sql<(ConsumerGroupSample & { examined: number })[]>`
    with newest as materialized (
      select m.consumer_group, m.original_topic, m.dlq_topic, m.last_failed_at
      from dlq.dlq_messages m
      order by m.id desc
      limit ${examine}
    )
    select consumer_group, array_agg(distinct original_topic order by original_topic) as original_topics,
           count(*)::int as count, max(last_failed_at) as last_failed_at, (select count(*)::int from newest) as examined
    from newest
    where ${inScope(sql, scope)}
    group by consumer_group
    order by count desc, consumer_group
    limit 1000`
  return { examined: groups[0]?.examined ?? 0, groups: groups.map(({ examined: _, ...group }) => group) }
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
