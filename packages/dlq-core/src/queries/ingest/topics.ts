// dlq_topics: the DLQ topics that were found in Kafka. Every ingester subscribes to exactly this list.

import { subscribedAmong } from '../discovery/subscriptions.ts'
import type { Sql } from '../sql.ts'

/** `topicId` is null where Kafka has none. */
export type FoundTopic = { topic: string; topic_id: string | null; partitions: number }

/** A partition that is read from its beginning again. `seen_offset` was its position. */
export type StartedOver = { topic: string; partition: number; seen_offset: bigint }

/**
 * Stores the topics that one ingester sees in Kafka: it adds new topics and marks missing ones as gone. A topic whose
 * id changed was deleted and created again: its partitions start over under a new generation, and are returned.
 */
export async function recordTopics(
  sql: Sql,
  { cluster, found }: { cluster: string; found: readonly FoundTopic[] },
): Promise<StartedOver[]> {
  const topics = found.map(({ topic }) => topic)
  const topicIds = found.map(({ topic_id: topicId }) => topicId)
  const partitions = found.map(({ partitions }) => partitions)
  // One statement: the row lock makes a second ingester wait, and it then sees the new id. The part that locks reads
  // the old offset, because "returning" knows only the new one.
  const startedOver = await sql<StartedOver[]>`
    with found as (
      select * from unnest(${sql.array(topics)}::text[], ${sql.array(topicIds)}::text[]) as found (topic, topic_id)
    ),
    anew as materialized (
      select known.topic, found.topic_id
      from dlq.dlq_topics known
      join found using (topic)
      where known.cluster = ${cluster} and known.topic_id <> found.topic_id
      order by known.topic
      for update of known
    ),
    marked as (
      update dlq.dlq_topics known set topic_id = anew.topic_id
      from anew
      where known.cluster = ${cluster} and known.topic = anew.topic
    ),
    stale as materialized (
      select p.topic, p.partition, p.next_offset
      from dlq.dlq_positions p
      join anew using (topic)
      where p.cluster = ${cluster}
      order by p.topic, p.partition
      for update of p
    ),
    -- What was seen of the old one's log. The new one may have fewer partitions: nobody would look at the others again.
    unseen as (
      delete from dlq.dlq_topic_partitions k using anew where k.cluster = ${cluster} and k.topic = anew.topic
    )
    update dlq.dlq_positions p set
      generation = p.generation + 1, next_offset = 0, manual_below = null, stored_below = null, leader_epoch = null,
      updated_at = now()
    from stale
    where p.cluster = ${cluster} and p.topic = stale.topic and p.partition = stale.partition
    returning p.topic, p.partition, stale.next_offset as seen_offset`
  // Only rows that change are written, because every ingester does this every few seconds.
  await sql`
    insert into dlq.dlq_topics as known (cluster, topic, topic_id, partitions)
    select ${cluster}, topic, topic_id, partitions
    from unnest(${sql.array(topics)}::text[], ${sql.array(topicIds)}::text[], ${sql.array(partitions)}::int[])
      as found (topic, topic_id, partitions)
    order by topic
    on conflict (cluster, topic) do update set
      partitions = excluded.partitions, topic_id = coalesce(excluded.topic_id, known.topic_id), gone_at = null
    where known.partitions <> excluded.partitions or known.gone_at is not null
       or known.topic_id is distinct from coalesce(excluded.topic_id, known.topic_id)`
  await sql`
    update dlq.dlq_topics set gone_at = now()
    where cluster = ${cluster} and gone_at is null and topic <> all(${sql.array(topics)}::text[])`
  return startedOver
}

export type SharedTopic = { topic: string; topic_id: string | null }

/** The topics to consume, in a stable order. */
export async function listTopics(sql: Sql, { cluster }: { cluster: string }): Promise<SharedTopic[]> {
  return sql<SharedTopic[]>`
    select topic, topic_id
    from dlq.dlq_topics
    where cluster = ${cluster} and gone_at is null
    order by topic collate "C"`
}

/** Whether a DLQ topic of this name was ever found, in any cluster. */
export async function isDlqTopic(sql: Sql, topic: string): Promise<boolean> {
  const rows = await sql`select from dlq.dlq_topics where topic = ${topic} limit 1`
  return rows.length > 0
}

/** Those of the names that a DLQ topic was ever found under, in any cluster, and those that a subscription names. */
export async function dlqTopicsAmong(sql: Sql, topics: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ topic: string }[]>`
    select distinct topic from dlq.dlq_topics where topic = any(${sql.array([...topics])}::text[])`
  return new Set([...rows.map(({ topic }) => topic), ...(await subscribedAmong(sql, topics))])
}
