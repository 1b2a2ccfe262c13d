// dlq_topic_partitions and what dlq_topics knows of Kafka's settings: how far ingestion is behind, and what
// retention will delete first. Ingesters keep it current, so that who reads it needs no Kafka.

import { type Sql, toJson } from './sql.ts'
import { type TopicScope, topicInScope } from './topic-scope.ts'

/**
 * Takes the topics whose log nobody has looked at for `everyMs`, those due longest first. Each is taken by
 * one ingester; one that dies over it is looked at again when it is due next.
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

export type LogBounds = { topic: string; partition: number; logStart: bigint; logEnd: bigint }
export type Place = { topic: string; partition: number; offset: bigint }

/**
 * Where the oldest record stands that is not ingested, of partitions that fall behind: they have not come to where
 * the log ended at the look before. Leaves out those whose oldest record is known. Those waiting longest first.
 */
export async function listUnread(
  sql: Sql,
  { cluster, bounds, limit }: { cluster: string; bounds: readonly LogBounds[]; limit: number },
): Promise<Place[]> {
  return sql<Place[]>`
    select seen.topic, seen.partition, next as offset
    from json_to_recordset(${toJson(bounds)}::json) as seen (topic text, partition int, "logStart" bigint, "logEnd" bigint)
    join dlq.dlq_topic_partitions known
      on known.cluster = ${cluster} and known.topic = seen.topic and known.partition = seen.partition
    left join dlq.dlq_positions p
      on p.cluster = ${cluster} and p.topic = seen.topic and p.partition = seen.partition
    cross join lateral (select greatest(p.next_offset, seen."logStart") as next) position
    where next < least(known.log_end_offset, seen."logEnd")
      and (known.unread_offset is null or known.unread_offset < next)
    order by known.unread_timestamp nulls first, seen.topic, seen.partition
    limit ${limit}`
}

/** Milliseconds since the epoch. */
export type UnreadRecord = Place & { timestamp: number }

/** Writes down what was seen of these topics: all bounds, and the oldest unread records that were found. */
export async function recordLogBounds(
  sql: Sql,
  { cluster, bounds, unread }: { cluster: string; bounds: readonly LogBounds[]; unread: readonly UnreadRecord[] },
): Promise<void> {
  // Rows that would not change are not written: most DLQ topics are quiet.
  await sql`
    insert into dlq.dlq_topic_partitions as known (
      cluster, topic, partition, log_start_offset, log_end_offset, unread_offset, unread_timestamp)
    select ${cluster}, topic, partition, "logStart", "logEnd", u."offset", to_timestamp(u."timestamp" / 1000.0)
    from json_to_recordset(${toJson(bounds)}::json) as seen (topic text, partition int, "logStart" bigint, "logEnd" bigint)
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

/** Null where Kafka does not say. */
export type TopicSettings = {
  topic: string
  retentionMs: bigint | null
  retentionBytes: bigint | null
  cleanupPolicy: string | null
}

/** Writes down Kafka's settings of topics. */
export async function recordTopicSettings(
  sql: Sql,
  { cluster, settings }: { cluster: string; settings: readonly TopicSettings[] },
): Promise<void> {
  if (settings.length === 0) return
  await sql`
    update dlq.dlq_topics t set
      retention_ms = s."retentionMs", retention_bytes = s."retentionBytes", cleanup_policy = s."cleanupPolicy"
    from json_to_recordset(${toJson(settings)}::json)
      as s (topic text, "retentionMs" bigint, "retentionBytes" bigint, "cleanupPolicy" text)
    where t.cluster = ${cluster} and t.topic = s.topic
      and (t.retention_ms, t.retention_bytes, t.cleanup_policy)
          is distinct from (s."retentionMs", s."retentionBytes", s."cleanupPolicy")`
}

export type IngestLag = {
  cluster: string
  topic: string
  /** Offsets that Kafka retains and that are not ingested; some may be markers of transactions and no records. */
  lag: bigint
  /** Offsets that retention took before they were ingested, as far as ingestion has not come to it yet. */
  lost: bigint
  /** The timestamp of the oldest record that waits; null where none does, or it is not known. */
  oldestUnreadAt: Date | null
  /** When retention may delete it; null also where the topic keeps records for ever. */
  expiresAt: Date | null
  retentionMs: bigint | null
  retentionBytes: bigint | null
  cleanupPolicy: string | null
  /** As of when this is true of Kafka; null where nobody has looked yet. */
  lookedAt: Date | null
}

/** How far behind each topic is that Kafka has now; of all topics, or of some. */
export async function listIngestLag(
  sql: Sql,
  { scope = null, topics }: { scope?: TopicScope; topics?: readonly string[] } = {},
): Promise<IngestLag[]> {
  return sql<IngestLag[]>`
    select t.cluster, t.topic, coalesce(sum(lag), 0)::bigint as lag, coalesce(sum(lost), 0)::bigint as lost,
           min(unread_at) as "oldestUnreadAt",
           case when t.retention_ms >= 0 and t.cleanup_policy like '%delete%'
             then min(unread_at) + least(t.retention_ms, 100 * 31557600000) * interval '1 ms' end as "expiresAt",
           t.retention_ms as "retentionMs", t.retention_bytes as "retentionBytes", t.cleanup_policy as "cleanupPolicy",
           t.looked_at as "lookedAt"
    from dlq.dlq_topics t
    left join lateral (
      select greatest(0, k.log_end_offset - greatest(next, k.log_start_offset)) as lag,
             -- At 0 nothing was ever ingested; what was deleted before that, nobody was there to read.
             case when next > 0 then greatest(0, k.log_start_offset - next) end as lost,
             case when k.unread_offset >= greatest(next, k.log_start_offset) then k.unread_timestamp end as unread_at
      from dlq.dlq_topic_partitions k
      left join dlq.dlq_positions p using (cluster, topic, partition)
      cross join lateral (select coalesce(p.next_offset, 0) as next) position
      where k.cluster = t.cluster and k.topic = t.topic
    ) partitions on true
    where t.gone_at is null and ${topicInScope(sql, scope, 't.topic')}
      ${topics === undefined ? sql`` : sql`and t.topic = any(${sql.array([...topics])}::text[])`}
    group by t.cluster, t.topic
    order by t.cluster, t.topic collate "C"`
}
