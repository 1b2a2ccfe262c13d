// dlq_candidates: topics that look like DLQ topics and that nobody ingests. Ingesters keep them current.

import type { Confidence, NamedCandidate } from '../../domain/discovery/candidate-name.ts'
import { escapeLike } from '../../domain/message/message-filter.ts'
import { type Sql, toJson } from '../sql.ts'
import { type TopicScope, topicInScope } from '../topic-scope.ts'

/** Stores the names that one ingester sees. Those that are missing are gone: from Kafka, or ingested by now. */
export async function recordCandidates(
  sql: Sql,
  { cluster, found }: { cluster: string; found: readonly NamedCandidate[] },
): Promise<void> {
  // Only rows that change are written, because every ingester does this every few seconds.
  await sql`
    insert into dlq.dlq_candidates as known (cluster, topic, confidence)
    select ${cluster}, topic, confidence
    from json_to_recordset(${toJson(found)}::json) as seen (topic text, confidence text)
    order by topic
    on conflict (cluster, topic) do update set gone_at = null
    where known.gone_at is not null`
  const topics = sql.array(found.map(({ topic }) => topic))
  await sql`
    update dlq.dlq_candidates set gone_at = now()
    where cluster = ${cluster} and gone_at is null and topic <> all(${topics}::text[])`
  await sql`
    delete from dlq.dlq_candidates
    where cluster = ${cluster} and gone_at < now() - interval '7 days' and dismissed_at is null`
}

/** Takes the candidates that are due for a look, for one ingester. */
export async function takeCandidatesToLookAt(
  sql: Sql,
  { cluster, everyMs, limit }: { cluster: string; everyMs: number; limit: number },
): Promise<string[]> {
  // "skip locked", because another ingester is taking those.
  const rows = await sql<{ topic: string }[]>`
    with due as materialized (
      select topic from dlq.dlq_candidates
      where cluster = ${cluster} and gone_at is null and look_due_at <= now()
      order by look_due_at, topic
      limit ${limit}
      for update skip locked
    )
    update dlq.dlq_candidates c set look_due_at = now() + ${everyMs}::int * interval '1 ms'
    from due
    where c.cluster = ${cluster} and c.topic = due.topic
    returning c.topic`
  return rows.map(({ topic }) => topic)
}

/** Times are milliseconds since 1970; null where they are not known. */
export type LookedAtCandidate = {
  topic: string
  partitions: number
  records_at_most: bigint
  oldest: number | null
  newest: number | null
  family: string | null
  retention_ms: bigint | null
  retention_bytes: bigint | null
  cleanup_policy: string | null
}

/** Stores what a look has found. A candidate of a weak name is found anew when its headers prove it. */
export async function recordCandidateLooks(
  sql: Sql,
  { cluster, looks }: { cluster: string; looks: readonly LookedAtCandidate[] },
): Promise<void> {
  if (looks.length === 0) return
  await sql`
    update dlq.dlq_candidates c set
      partitions = s.partitions, records_at_most = s.records_at_most,
      oldest_at = coalesce(to_timestamp(s.oldest / 1000.0), case when s.records_at_most > 0 then c.oldest_at end),
      newest_at = coalesce(to_timestamp(s.newest / 1000.0), case when s.records_at_most > 0 then c.newest_at end),
      family = coalesce(s.family, c.family),
      found_at = case when c.confidence = 'weak' and s.family is not null then clock_timestamp() else c.found_at end,
      confidence = case when s.family is not null then 'headers' else c.confidence end,
      retention_ms = coalesce(s.retention_ms, c.retention_ms), retention_bytes = coalesce(s.retention_bytes, c.retention_bytes),
      cleanup_policy = coalesce(s.cleanup_policy, c.cleanup_policy), looked_at = now()
    from json_to_recordset(${toJson(looks)}::json) as s (
      topic text, partitions int, records_at_most bigint, oldest bigint, newest bigint, family text,
      retention_ms bigint, retention_bytes bigint, cleanup_policy text)
    where c.cluster = ${cluster} and c.topic = s.topic`
}

export type Candidate = {
  cluster: string
  topic: string
  /** Null before the first look. */
  partitions: number | null
  records_at_most: bigint | null
  oldest_at: Date | null
  newest_at: Date | null
  retention_ms: bigint | null
  retention_bytes: bigint | null
  cleanup_policy: string | null
  family: string | null
  confidence: Confidence
  found_at: Date
  looked_at: Date | null
  dismissed_at: Date | null
  dismissed_by: string | null
  dismissed_reason: string | null
  read_by: string[]
}

const maxReaders = 20

function columns(sql: Sql) {
  return sql`
    c.cluster, c.topic, c.partitions, c.records_at_most, c.oldest_at, c.newest_at, c.retention_ms, c.retention_bytes,
    c.cleanup_policy, c.family, c.confidence, c.found_at, c.looked_at, c.dismissed_at, c.dismissed_by, c.dismissed_reason,
    array(
      select r.consumer_group from dlq.dlq_candidate_readers r
      where r.topic = c.topic and r.seen_at > now() - interval '1 day' order by r.consumer_group limit ${maxReaders}
    ) as read_by`
}

/** The candidates in Kafka behind `after`, by name. `dismissed`: only those, or only the others; absent: both. */
export async function listCandidates(
  sql: Sql,
  {
    scope,
    q,
    topics,
    dismissed,
    after = null,
    limit,
  }: {
    scope: TopicScope
    q?: string | undefined
    topics?: readonly string[]
    dismissed?: boolean
    after?: { topic: string; cluster: string } | null
    limit: number
  },
): Promise<Candidate[]> {
  return sql<Candidate[]>`
    select ${columns(sql)} from dlq.dlq_candidates c
    where c.gone_at is null and ${topicInScope(sql, scope, 'c.topic')}
      ${dismissed === undefined ? sql`` : sql`and (c.dismissed_at is not null) = ${dismissed}`}
      ${q === undefined ? sql`` : sql`and c.topic ilike ${`%${escapeLike(q)}%`}`}
      ${topics === undefined ? sql`` : sql`and c.topic = any(${sql.array([...topics])}::text[])`}
      ${after === null ? sql`` : sql`and (c.topic, c.cluster) > (${after.topic}, ${after.cluster})`}
    order by c.topic, c.cluster
    limit ${limit}`
}

/** Dismisses a candidate in every cluster, or takes that back. Returns the rows as they were; none: no such candidate. */
export async function dismissCandidate(
  sql: Sql,
  { topic, dismissed, by, reason }: { topic: string; dismissed: boolean; by: string; reason: string | null },
): Promise<Pick<Candidate, 'cluster' | 'dismissed_at' | 'dismissed_by'>[]> {
  const before = await sql<Pick<Candidate, 'cluster' | 'dismissed_at' | 'dismissed_by'>[]>`
    select cluster, dismissed_at, dismissed_by from dlq.dlq_candidates
    where topic = ${topic} and gone_at is null order by cluster for update`
  await sql`
    update dlq.dlq_candidates set
      dismissed_at = ${dismissed ? sql`now()` : sql`null`}, dismissed_by = ${dismissed ? by : null},
      dismissed_reason = ${dismissed ? reason : null}
    where topic = ${topic} and gone_at is null`
  return before
}

/** The names of candidates and of DLQ topics, whose readers a retrier looks for. At most `limit`. */
export async function listWatchedForReaders(sql: Sql, { limit }: { limit: number }): Promise<string[]> {
  const rows = await sql<{ topic: string }[]>`
    select topic from dlq.dlq_candidates where gone_at is null and dismissed_at is null
    union
    select topic from dlq.dlq_topics where gone_at is null
    limit ${limit}`
  return rows.map(({ topic }) => topic)
}

/** Notes the groups that were just seen with offsets on these topics. */
export async function recordCandidateReaders(
  sql: Sql,
  readers: readonly { topic: string; consumer_group: string }[],
): Promise<void> {
  if (readers.length > 0)
    await sql`
      insert into dlq.dlq_candidate_readers as known (topic, consumer_group)
      select topic, consumer_group
      from json_to_recordset(${toJson(readers)}::json) as seen (topic text, consumer_group text)
      order by topic, consumer_group
      on conflict (topic, consumer_group) do update set seen_at = now()
      where known.seen_at < now() - interval '10 minutes'`
  await sql`delete from dlq.dlq_candidate_readers where seen_at < now() - interval '7 days'`
}
