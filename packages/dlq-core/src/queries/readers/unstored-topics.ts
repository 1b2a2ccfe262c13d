// dlq_topics and their partitions: whether what came back is stored by now. While ingestion stands still, dead letters wait in
// Kafka, and nothing seems to have failed again.

import { type Fragment, type Sql, toJson } from '../sql.ts'

/** A condition on a row of dlq_topics: the last look at it found more than is stored. */
export function hasUnstored(sql: Sql, row: 't' | 'r'): Fragment {
  return sql`exists (
    select from dlq.dlq_topic_partitions p
    left join dlq.dlq_positions at using (cluster, topic, partition)
    where p.cluster = ${sql(`${row}.cluster`)} and p.topic = ${sql(`${row}.topic`)}
      and p.log_end_offset > greatest(coalesce(at.next_offset, 0), p.log_start_offset))`
}

export type TopicOfCluster = { cluster: string; topic: string }

/**
 * Those of the DLQ topics that are not known to be stored as far as they went `agoMs` ago, and at the last look. Makes a look
 * at them due. Topics that nobody ingests any more are left out.
 */
export async function listUnstored(
  sql: Sql,
  { topics, agoMs }: { topics: readonly TopicOfCluster[]; agoMs: number },
): Promise<string[]> {
  if (topics.length === 0) return []
  const rows = await sql<{ topic: string }[]>`
    with unstored as materialized (
      select t.cluster, t.topic from json_to_recordset(${toJson(topics)}::json) as asked (cluster text, topic text)
      join dlq.dlq_topics t using (cluster, topic)
      where t.gone_at is null
        and (coalesce(t.looked_at < clock_timestamp() - ${agoMs}::float8 * interval '1 ms', true) or ${hasUnstored(sql, 't')})
    ),
    hurried as (
      update dlq.dlq_topics t set look_due_at = now()
      from unstored u where t.cluster = u.cluster and t.topic = u.topic and t.look_due_at > now()
    )
    select distinct topic from unstored order by topic`
  return rows.map(({ topic }) => topic)
}
