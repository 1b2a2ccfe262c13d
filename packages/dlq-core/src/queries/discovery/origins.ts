// dlq_topics: what is wrong with a DLQ topic beside the topics that its dead letters come from.

import { lines } from '../reading/summary.ts'
import { type Sql, toJson } from '../sql.ts'
import { type TopicScope, topicInScope } from '../topic-scope.ts'

export type Origins = { topic: string; originals: string[] }

const maxOriginals = 100

/** The original topics that the messages of each DLQ topic name; those with the most messages first. */
export async function listOrigins(sql: Sql, { cluster }: { cluster: string }): Promise<Origins[]> {
  return sql<Origins[]>`
    select t.topic, coalesce(found.originals, '{}') as originals
    from dlq.dlq_topics t
    left join lateral (
      select (array_agg(original_topic order by count desc, original_topic))[1:${maxOriginals}::int] as originals
      from (select original_topic, sum(count) as count from ${lines(sql)}
            where dlq_topic = t.topic and original_topic <> t.topic
            group by original_topic having sum(count) > 0) counted
    ) found on true
    where t.cluster = ${cluster} and t.gone_at is null
    order by t.topic`
}

export type CheckedOrigins = {
  topic: string
  missing_originals: string[]
  max_message_bytes: number | null
  original_max_bytes: number | null
}

/** What is not known stays as it was. */
export async function recordOrigins(
  sql: Sql,
  { cluster, checked }: { cluster: string; checked: readonly CheckedOrigins[] },
): Promise<void> {
  if (checked.length === 0) return
  await sql`
    update dlq.dlq_topics t set
      missing_originals = s.missing,
      max_message_bytes = coalesce(s.max_message_bytes, t.max_message_bytes),
      original_max_bytes = coalesce(s.original_max_bytes, t.original_max_bytes)
    from (
      select topic, max_message_bytes, original_max_bytes,
             array(select json_array_elements_text(missing_originals)) as missing
      from json_to_recordset(${toJson(checked)}::json)
        as s (topic text, missing_originals json, max_message_bytes int, original_max_bytes int)
    ) s
    where t.cluster = ${cluster} and t.topic = s.topic
      and (t.missing_originals, t.max_message_bytes, t.original_max_bytes) is distinct from
          (s.missing, coalesce(s.max_message_bytes, t.max_message_bytes), coalesce(s.original_max_bytes, t.original_max_bytes))`
}

export const faultKinds = ['quiet', 'original_gone', 'group_gone', 'compacted', 'too_small'] as const
export type TopicFault = { cluster: string; topic: string; kind: (typeof faultKinds)[number]; detail: string | null }

const perTopic = 20

/** What is wrong with these DLQ topics. A topic that is gone from Kafka has no faults of its own. */
export async function listTopicFaults(
  sql: Sql,
  { topics, scope }: { topics: readonly string[]; scope: TopicScope },
): Promise<TopicFault[]> {
  // An original topic and its groups are told only to those who may see the topic.
  return sql<TopicFault[]>`
    with known as (
      select t.*, (
        select max(updated_at) from dlq.dlq_positions p where p.cluster = t.cluster and p.topic = t.topic
      ) as stored_at
      from dlq.dlq_topics t
      where t.gone_at is null and t.topic = any(${sql.array([...topics])}::text[])
    ),
    -- Hardly ever any. So the counts of all these topics need not be read.
    gone as materialized (
      select target_topic, consumer_group from dlq.dlq_readers
      where alone_since < now() - interval '7 days' and ${topicInScope(sql, scope, 'target_topic')}
    )
    select cluster, topic, 'quiet' as kind, coalesce(stored_at, found_at)::text as detail from known
    where coalesce(stored_at, found_at) < now() - interval '30 days'
      and not exists (
        select from dlq.dlq_topic_partitions k
        left join dlq.dlq_positions p using (cluster, topic, partition)
        where k.cluster = known.cluster and k.topic = known.topic and k.log_end_offset > coalesce(p.next_offset, 0)
          and k.log_end_offset > k.log_start_offset)
    union all
    select cluster, topic, 'original_gone', original from known, unnest(missing_originals) original
    where ${topicInScope(sql, scope, 'original')}
    union all
    select cluster, topic, 'compacted', cleanup_policy from known where cleanup_policy like '%compact%'
    union all
    select cluster, topic, 'too_small', max_message_bytes || ' <= ' || original_max_bytes from known
    where max_message_bytes <= original_max_bytes
    union all
    (select k.cluster, k.topic, 'group_gone', failed.consumer_group
     from known k
     cross join lateral (
       select distinct gone.consumer_group from gone
       join ${lines(sql)} on line.original_topic = gone.target_topic and line.consumer_group = gone.consumer_group
       where line.dlq_topic = k.topic and line.status in ('PENDING', 'RETRYING', 'DEAD') and line.count > 0
       limit ${perTopic}
     ) failed)
    order by topic, kind, detail`
}
