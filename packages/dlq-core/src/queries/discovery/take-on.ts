// dlq_topics and dlq_positions: begins the ingestion of a topic that a subscription names. The topic and its positions
// appear in one transaction, so that no ingester ever reads it from elsewhere.

import type { StartingPlace } from '../../domain/discovery/subscription.ts'
import { forgetLogs } from '../ingest/topic-partitions.ts'
import type { FoundTopic } from '../ingest/topics.ts'
import { type Sql, toJson } from '../sql.ts'

/** Those of the topics that are ingested at present. */
export async function activeAmong(
  sql: Sql,
  { cluster, topics }: { cluster: string; topics: readonly string[] },
): Promise<Set<string>> {
  const rows = await sql<{ topic: string }[]>`
    select topic from dlq.dlq_topics
    where cluster = ${cluster} and gone_at is null and topic = any(${sql.array([...topics])}::text[])`
  return new Set(rows.map(({ topic }) => topic))
}

/**
 * Call it in a transaction. False where another ingester was first. A topic that was ingested before goes on where it
 * was, or further; of one that was created again since, nothing counts. A topic that was only out of sight, after
 * `subscribedAt`, goes on as if it had not been.
 */
export async function takeOn(
  sql: Sql,
  {
    cluster,
    found,
    places,
    subscribedAt,
  }: { cluster: string; found: FoundTopic; places: readonly StartingPlace[]; subscribedAt: Date },
): Promise<boolean> {
  const { topic, topic_id: topicId, partitions } = found
  const [before] = await sql<{ topic_id: string | null; gone_at: Date | null }[]>`
    select topic_id, gone_at from dlq.dlq_topics where cluster = ${cluster} and topic = ${topic} for update`
  // Two may both find no row: the second one's insert waits for the first one's, and then adds nothing.
  const taken = await sql`
    insert into dlq.dlq_topics as known (cluster, topic, topic_id, partitions)
    values (${cluster}, ${topic}, ${topicId}, ${partitions})
    on conflict (cluster, topic) do update set
      gone_at = null, partitions = excluded.partitions, topic_id = coalesce(excluded.topic_id, known.topic_id)
    where known.gone_at is not null
    returning topic`
  if (taken.length === 0) return false
  const isAnother = before !== undefined && before.topic_id !== null && topicId !== null && before.topic_id !== topicId
  if (isAnother) await forgetLogs(sql, { cluster, topic })
  const wasOutOfSight = !isAnother && before?.gone_at != null && before.gone_at >= subscribedAt
  await sql`
    insert into dlq.dlq_positions as p (cluster, topic, partition, next_offset, manual_below)
    select ${cluster}, ${topic}, partition, next_offset, manual_below
    from json_to_recordset(${toJson(places)}::json) as s (partition int, next_offset bigint, manual_below bigint)
    order by partition
    on conflict (cluster, topic, partition) do update set
      next_offset = case when ${isAnother} then excluded.next_offset else greatest(p.next_offset, excluded.next_offset) end,
      generation = p.generation + case when ${isAnother} then 1 else 0 end,
      manual_below = excluded.manual_below,
      stored_below = case when not ${isAnother} then p.stored_below end,
      leader_epoch = null,
      updated_at = now()
    where not ${wasOutOfSight}`
  return true
}
