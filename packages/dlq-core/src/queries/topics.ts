// dlq_topics: the DLQ topics found in Kafka. Every ingester subscribes to this list and no other.

import type { Sql } from './sql.ts'

export type FoundTopic = { topic: string; partitions: number }

/** Writes down what one ingester sees in Kafka: new topics appear, missing ones are marked gone. */
export async function recordTopics(
  sql: Sql,
  { cluster, found }: { cluster: string; found: readonly FoundTopic[] },
): Promise<void> {
  const topics = found.map(({ topic }) => topic)
  const partitions = found.map(({ partitions }) => partitions)
  // Rows that would not change are not written: this runs every few seconds in every ingester.
  await sql`
    insert into dlq.dlq_topics as known (cluster, topic, partitions)
    select ${cluster}, topic, partitions
    from unnest(${sql.array(topics)}::text[], ${sql.array(partitions)}::int[]) as found (topic, partitions)
    order by topic
    on conflict (cluster, topic) do update set partitions = excluded.partitions, gone_at = null
    where known.partitions <> excluded.partitions or known.gone_at is not null`
  await sql`
    update dlq.dlq_topics set gone_at = now()
    where cluster = ${cluster} and gone_at is null and topic <> all(${sql.array(topics)}::text[])`
}

/** The topics to consume, in a stable order. */
export async function listTopics(sql: Sql, { cluster }: { cluster: string }): Promise<string[]> {
  const rows = await sql<{ topic: string }[]>`
    select topic from dlq.dlq_topics where cluster = ${cluster} and gone_at is null order by topic collate "C"`
  return rows.map(({ topic }) => topic)
}

/** Whether the name is a DLQ topic that was found, now or earlier, in any cluster. */
export async function isDlqTopic(sql: Sql, topic: string): Promise<boolean> {
  const rows = await sql`select from dlq.dlq_topics where topic = ${topic} limit 1`
  return rows.length > 0
}
