// dlq_topic_partitions and the Kafka settings in dlq_topics: the lag, and the record that retention deletes next.
// Ingesters keep them current, so that readers need no Kafka.

import type { RecordPlace } from '../../domain/record/record-place.ts'
import { type Sql, toJson } from '../sql.ts'
import { type TopicScope, topicInScope } from '../topic-scope.ts'

/**
 * Takes the topics whose log bounds were last read more than `everyMs` ago, those due longest first. One ingester takes
 * each. If it dies meanwhile, the topic is read again when it is due next.
 */
export async function takeTopicsToLookAt(
  sql: Sql,
  { cluster, everyMs, limit }: { cluster: string; everyMs: number; limit: number },
): Promise<string[]> {
  // "skip locked", because another ingester is taking those.
  const rows = await sql<{ topic: string }[]>`
    with due as materialized (
      select topic from dlq.dlq_topics
      where cluster = ${cluster} and gone_at is null and look_due_at <= now()
      order by look_due_at, topic
      limit ${limit}
      for update skip locked
    )
    update dlq.dlq_topics t set look_due_at = now() + ${everyMs}::int * interval '1 ms'
    from due
    where t.cluster = ${cluster} and t.topic = due.topic
    returning t.topic`
  return rows.map(({ topic }) => topic)
}

export type LogBounds = { topic: string; partition: number; log_start_offset: bigint; log_end_offset: bigint }

/**
 * The coordinates of the oldest record that is not stored, for partitions that fall behind: their positions have not
 * reached the log's end of the previous look. Leaves out partitions whose oldest record is known. Those waiting
 * longest come first.
 */
export async function listUnread(
  sql: Sql,
  { cluster, bounds, limit }: { cluster: string; bounds: readonly LogBounds[]; limit: number },
): Promise<RecordPlace[]> {
  return sql<RecordPlace[]>`
    select seen.topic, seen.partition, next as offset
    from json_to_recordset(${toJson(bounds)}::json) as seen (topic text, partition int, log_start_offset bigint, log_end_offset bigint)
    join dlq.dlq_topic_partitions known
      on known.cluster = ${cluster} and known.topic = seen.topic and known.partition = seen.partition
    left join dlq.dlq_positions p
      on p.cluster = ${cluster} and p.topic = seen.topic and p.partition = seen.partition
    cross join lateral (select greatest(p.next_offset, seen.log_start_offset) as next) position
    where next < least(known.log_end_offset, seen.log_end_offset)
      and (known.unread_offset is null or known.unread_offset < next)
    order by known.unread_timestamp nulls first, seen.topic, seen.partition
    limit ${limit}`
}

/** `timestamp`: milliseconds since 1970. */
export type UnreadRecord = RecordPlace & { timestamp: number }

/** Stores the log bounds of these topics, and the oldest unread records that were found. */
export async function recordLogBounds(
  sql: Sql,
  { cluster, bounds, unread }: { cluster: string; bounds: readonly LogBounds[]; unread: readonly UnreadRecord[] },
): Promise<void> {
  // Only rows that change are written, because most DLQ topics are quiet.
  await sql`
    insert into dlq.dlq_topic_partitions as known (
      cluster, topic, partition, log_start_offset, log_end_offset, unread_offset, unread_timestamp)
    select ${cluster}, topic, partition, log_start_offset, log_end_offset, u."offset", to_timestamp(u."timestamp" / 1000.0)
    from json_to_recordset(${toJson(bounds)}::json) as seen (topic text, partition int, log_start_offset bigint, log_end_offset bigint)
    left join json_to_recordset(${toJson(unread)}::json)
      as u (topic text, partition int, "offset" bigint, "timestamp" bigint) using (topic, partition)
    order by topic, partition
    on conflict (cluster, topic, partition) do update set
      log_start_offset = excluded.log_start_offset,
      log_end_offset   = excluded.log_end_offset,
      unread_offset    = coalesce(excluded.unread_offset, known.unread_offset),
      unread_timestamp = case when excluded.unread_offset is null then known.unread_timestamp else excluded.unread_timestamp end
    where known.log_start_offset <> excluded.log_start_offset or known.log_end_offset <> excluded.log_end_offset
       or excluded.unread_offset is not null`
  await sql`
    update dlq.dlq_topics set looked_at = now()
    where cluster = ${cluster} and topic = any(${sql.array([...new Set(bounds.map(({ topic }) => topic))])}::text[])`
}

/** Forgets what was seen of a topic that was deleted: the one of its name may have fewer partitions. */
export async function forgetLogs(sql: Sql, { cluster, topic }: { cluster: string; topic: string }): Promise<void> {
  await sql`delete from dlq.dlq_topic_partitions where cluster = ${cluster} and topic = ${topic}`
}

/** A setting is null where Kafka does not tell it. */
export type TopicSettings = {
  topic: string
  retention_ms: bigint | null
  retention_bytes: bigint | null
  cleanup_policy: string | null
}

/** Stores Kafka's settings of topics. */
export async function recordTopicSettings(
  sql: Sql,
  { cluster, settings }: { cluster: string; settings: readonly TopicSettings[] },
): Promise<void> {
  if (settings.length === 0) return
  await sql`
    update dlq.dlq_topics t set
      retention_ms = s.retention_ms, retention_bytes = s.retention_bytes, cleanup_policy = s.cleanup_policy
    from json_to_recordset(${toJson(settings)}::json)
      as s (topic text, retention_ms bigint, retention_bytes bigint, cleanup_policy text)
    where t.cluster = ${cluster} and t.topic = s.topic
      and (t.retention_ms, t.retention_bytes, t.cleanup_policy)
          is distinct from (s.retention_ms, s.retention_bytes, s.cleanup_policy)`
}

export type IngestLag = {
  cluster: string
  topic: string
  /** Offsets that Kafka retains and that are not stored. Some may be markers of transactions, which are no records. */
  lag: bigint
  /** Offsets above the position that retention deleted before they were stored. */
  lost: bigint
  /** The timestamp of the oldest record that waits. Null where none waits, or it is not known. */
  oldest_unread_at: Date | null
  /** When retention may delete it. Null also where the topic keeps records for ever. */
  expires_at: Date | null
  retention_ms: bigint | null
  retention_bytes: bigint | null
  cleanup_policy: string | null
  /** When an ingester last read this from Kafka. Null before the first time. */
  looked_at: Date | null
}

/** The lag of each topic that exists in Kafka, of all topics or of the given ones. */
export async function listIngestLag(
  sql: Sql,
  { scope = null, topics }: { scope?: TopicScope; topics?: readonly string[] | undefined } = {},
): Promise<IngestLag[]> {
  return sql<IngestLag[]>`
    ${ingestLags(sql, { scope, topics })}
    order by t.cluster, t.topic collate "C"`
}

/** A query of it, without an order. */
export function ingestLags(
  sql: Sql,
  { scope = null, topics }: { scope?: TopicScope; topics?: readonly string[] | undefined } = {},
) {
  return sql`
    select t.cluster, t.topic, coalesce(sum(lag), 0)::bigint as lag, coalesce(sum(lost), 0)::bigint as lost,
           min(unread_at) as oldest_unread_at,
           case when t.retention_ms >= 0 and t.cleanup_policy like '%delete%'
             then min(unread_at) + least(t.retention_ms, 100 * 31557600000) * interval '1 ms' end as expires_at,
           t.retention_ms, t.retention_bytes, t.cleanup_policy,
           t.looked_at
    from dlq.dlq_topics t
    left join lateral (
      select greatest(0, k.log_end_offset - greatest(next, k.log_start_offset)) as lag,
             -- At position 0 nothing was ever stored: records deleted before that were not lost by an ingester.
             case when next > 0 then greatest(0, k.log_start_offset - next) end as lost,
             case when k.unread_offset >= greatest(next, k.log_start_offset) then k.unread_timestamp end as unread_at
      from dlq.dlq_topic_partitions k
      left join dlq.dlq_positions p using (cluster, topic, partition)
      cross join lateral (select coalesce(p.next_offset, 0) as next) position
      where k.cluster = t.cluster and k.topic = t.topic
    ) partitions on true
    where t.gone_at is null and ${topicInScope(sql, scope, 't.topic')}
      ${topics === undefined ? sql`` : sql`and t.topic = any(${sql.array([...topics])}::text[])`}
    group by t.cluster, t.topic`
}
