// dlq_target_topics: which topic a name means. A topic that was deleted and created again has another id, and other records
// at the same offsets.

import { type Sql, toJson } from '../sql.ts'

/** The topics whose ids are known, at most `limit`: also those of which all attempts are archived by now. */
export async function listFollowedTopics(sql: Sql, { limit }: { limit: number }): Promise<string[]> {
  const rows = await sql<{ target_topic: string }[]>`
    select target_topic from dlq.dlq_target_topics order by target_topic limit ${limit}`
  return rows.map(({ target_topic }) => target_topic)
}

/**
 * Stores the ids that Kafka gives the topics now, and forgets what groups had read of a topic that is another one than
 * before. Returns such topics. The caller's transaction holds what it then stores of them.
 */
export async function followTopicIds(sql: Sql, ids: ReadonlyMap<string, string>): Promise<string[]> {
  if (ids.size === 0) return []
  const found = [...ids].map(([target_topic, topic_id]) => ({ target_topic, topic_id }))
  const rows = await sql<{ target_topic: string; is_other: boolean }[]>`
    insert into dlq.dlq_target_topics as known (target_topic, topic_id)
    select target_topic, topic_id from json_to_recordset(${toJson(found)}::json) as found (target_topic text, topic_id text)
    order by target_topic
    on conflict (target_topic) do update set topic_id = excluded.topic_id, new_since = clock_timestamp()
    where known.topic_id <> excluded.topic_id
    returning target_topic, new_since is not null as is_other`
  const others = rows.filter(({ is_other }) => is_other).map(({ target_topic }) => target_topic)
  if (others.length === 0) return []
  const names = sql.array(others)
  await sql`
    with partitions as (delete from dlq.dlq_reader_partitions where target_topic = any(${names}::text[])),
    gaps as (delete from dlq.dlq_reader_gaps where target_topic = any(${names}::text[]))
    delete from dlq.dlq_readers where target_topic = any(${names}::text[])`
  return others
}
