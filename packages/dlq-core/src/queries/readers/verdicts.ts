// What became of attempts after they were published, by dlq.verdict (migration 025): counted for runs, and asked by the
// canary. Nothing is written per message.

import { smallestId } from '../../domain/record/message-id.ts'
import { type Sql, toJson } from '../sql.ts'
import type { TopicOfCluster } from './unstored-topics.ts'

export const verdicts = [
  'sent',
  'passed',
  'consumed',
  'confirmed',
  'came_back',
  'skipped',
  'expired',
  'unknown',
] as const
export type Verdict = (typeof verdicts)[number]

/** `verdict` of the published attempts a of a run, joined with their messages. */
function attemptsOf(sql: Sql, runId: string, limit: number) {
  return sql`
    select v.verdict, a.target_topic, a.target_partition, v.judged_by, m.dlq_cluster, m.dlq_topic
    from (select * from dlq.dlq_attempts
          where run_id = ${runId} and (outcome = 'published' or failed_again_at is not null)
          limit ${limit}) a
    left join dlq.dlq_messages m on m.id = a.message_id
    cross join lateral dlq.verdict(
      m.consumer_group, a.target_topic, a.target_partition, a.target_offset, a.settled_at, a.failed_again_at,
      a.confirmed_at) v`
}

export type VerdictCounts = Record<Verdict, number>

/** Those that may still change. */
const openVerdicts: readonly Verdict[] = ['sent', 'passed', 'unknown']

/** Behind which attempt the next part begins. */
export type RunPlace = { message_id: string; number: number }

const beforeAll: RunPlace = { message_id: smallestId, number: 0 }

/**
 * The verdicts now of the run's next `limit` attempts. Judging costs some 14 µs an attempt, so a run of millions is
 * counted in parts. `next`: where to go on; null at the end.
 */
export async function countRunPart(
  sql: Sql,
  { runId, after = beforeAll, limit }: { runId: string; after?: RunPlace; limit: number },
): Promise<{ counts: Partial<VerdictCounts>; next: RunPlace | null }> {
  const rows = await sql<{ verdict: Verdict; count: number; judged: number; last: string }[]>`
    with part as materialized (
      select * from dlq.dlq_attempts
      where run_id = ${runId} and (outcome = 'published' or failed_again_at is not null)
        -- The first condition alone is the index's.
        and message_id >= ${after.message_id} and (message_id, number) > (${after.message_id}, ${after.number}::int)
      order by message_id, number limit ${limit}
    )
    select v.verdict, count(*)::float8 as count, (select count(*)::int from part) as judged,
           (select json_build_object('message_id', message_id, 'number', number) from part
            order by message_id desc, number desc limit 1)::text as last
    from part a
    left join dlq.dlq_messages m on m.id = a.message_id
    cross join lateral dlq.verdict(
      m.consumer_group, a.target_topic, a.target_partition, a.target_offset, a.settled_at, a.failed_again_at,
      a.confirmed_at) v
    group by v.verdict`
  const [first] = rows
  return {
    counts: Object.fromEntries(rows.map(({ verdict, count }) => [verdict, count])),
    next: first !== undefined && first.judged === limit ? (JSON.parse(first.last) as RunPlace) : null,
  }
}

export const noVerdicts: VerdictCounts = Object.fromEntries(verdicts.map((verdict) => [verdict, 0])) as VerdictCounts

export function addVerdicts(counts: VerdictCounts, more: Partial<VerdictCounts>): VerdictCounts {
  return Object.fromEntries(
    verdicts.map((verdict) => [verdict, counts[verdict] + (more[verdict] ?? 0)]),
  ) as VerdictCounts
}

/** The runs whose verdicts may have changed since they were counted, those counted longest ago first. */
export async function listRunsToCount(sql: Sql, { limit, days }: { limit: number; days: number }): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select r.id from dlq.dlq_runs r
    left join dlq.dlq_run_verdicts v on v.run_id = r.id
    where r.kind in ('retry', 'redirect') and r.started_at is not null
      and (r.ended_at is null or r.ended_at > now() - ${days}::int * interval '1 day')
      and (v.run_id is null or v.open > 0 or r.ended_at is null or v.counted_at < r.ended_at)
    order by v.counted_at nulls first, r.id
    limit ${limit}`
  return rows.map(({ id }) => id)
}

/** Fewer than before mean that attempts were archived or deleted since: the run keeps its last counts, and is counted no more. */
export async function storeRunVerdicts(
  sql: Sql,
  { runId, counts }: { runId: string; counts: VerdictCounts },
): Promise<void> {
  const totalOf = (some: readonly Verdict[]) => some.reduce((sum, verdict) => sum + counts[verdict], 0)
  const isWhole = sql`${totalOf(verdicts)}::float8 >= (select sum(value::float8) from json_each_text(known.counts))`
  await sql`
    insert into dlq.dlq_run_verdicts as known (run_id, counts, open, counted_at)
    select id, ${toJson([counts])}::json -> 0, ${totalOf(openVerdicts)}, now() from dlq.dlq_runs where id = ${runId}
    on conflict (run_id) do update set
      counts = case when ${isWhole} then excluded.counts else known.counts end,
      open = case when ${isWhole} then excluded.open else 0 end, counted_at = excluded.counted_at`
}

export type CanaryVerdicts = {
  /** Published, and its group has not read it. */
  unread: number
  /** Read, and not known to have come back. */
  read: number
  /** Nobody can tell: judged by silence. */
  unknown: number
  /** One of the unread: where it is, who should read it, and how many members that group has (null: unknown). */
  example: { topic: string; partition: number; group: string; members: number | null } | null
  /** Milliseconds since a retrier last looked at the groups; null: nobody does. */
  looked_ms: number | null
  /** That look began after the run's last message was settled. */
  is_current: boolean
  /** The DLQ topics that its messages came from. */
  dlq_topics: TopicOfCluster[]
}

/** What became of the messages that a run's canary sent: at most `limit` of them are asked for. */
export async function readCanaryVerdicts(
  sql: Sql,
  { runId, limit }: { runId: string; limit: number },
): Promise<CanaryVerdicts> {
  const [row] = await sql<
    (Omit<CanaryVerdicts, 'example' | 'dlq_topics'> & { example: string | null; dlq_topics: string })[]
  >`
    with judged as materialized (${attemptsOf(sql, runId, limit)})
    select (select count(*) from judged where verdict = 'sent')::float8 as unread,
           (select count(*) from judged where verdict in ('passed', 'consumed', 'confirmed', 'skipped', 'expired'))::float8 as read,
           (select count(*) from judged where verdict = 'unknown')::float8 as unknown,
           (select json_build_object('topic', j.target_topic, 'partition', j.target_partition, 'group', j.judged_by,
                                     'members', g.members)
            from judged j
            left join dlq.dlq_readers g on g.target_topic = j.target_topic and g.consumer_group = j.judged_by
            where j.verdict = 'sent' order by j.target_topic, j.target_partition limit 1) as example,
           (select (extract(epoch from clock_timestamp() - looked_at) * 1000)::float8 from dlq.dlq_reader_watch) as looked_ms,
           (select coalesce(w.looked_at > coalesce(
              (select max(settled_at) from dlq.dlq_attempts where run_id = ${runId}), '-infinity'), false)
            from dlq.dlq_reader_watch w) as is_current,
           (select coalesce(json_agg(json_build_object('cluster', dlq_cluster, 'topic', dlq_topic)), '[]')
            from (select distinct dlq_cluster, dlq_topic from judged where dlq_topic is not null) came_from) as dlq_topics`
  const { example, dlq_topics, ...counts } = row!
  return { ...counts, dlq_topics: JSON.parse(dlq_topics), example: example === null ? null : JSON.parse(example) }
}

/** Notes that the run's canary was read, and returns how many milliseconds ago that was first noted. */
export async function noteCanaryRead(sql: Sql, runId: string): Promise<number> {
  const [row] = await sql<{ ms: number }[]>`
    update dlq.dlq_runs set read_at = coalesce(read_at, clock_timestamp()) where id = ${runId}
    returning (extract(epoch from clock_timestamp() - read_at) * 1000)::float8 as ms`
  return row!.ms
}

/** A further stage of the canary has messages of its own. */
export async function forgetCanaryRead(sql: Sql, runId: string): Promise<void> {
  await sql`update dlq.dlq_runs set read_at = null where id = ${runId} and read_at is not null`
}

export type TopicReaderRow = {
  consumer_group: string
  type: string
  state: string
  members: number | null
  /** Records of the topic that the group has not read. Null where it has committed nothing. */
  lag: bigint | null
  partitions: number
  read_partitions: number
  looked_at: Date
}

/** The groups that read the topic, or have failed on it, by name. */
export async function listTopicReaders(sql: Sql, topic: string): Promise<TopicReaderRow[]> {
  return sql<TopicReaderRow[]>`
    select g.consumer_group, g.type, g.state, g.members, g.looked_at,
           sum(p.log_end_offset - greatest(p.committed_offset, p.log_start_offset))
             filter (where p.committed_offset is not null)::bigint as lag,
           count(p.partition)::int as partitions,
           count(p.committed_offset)::int as read_partitions
    from dlq.dlq_readers g
    left join dlq.dlq_reader_partitions p using (target_topic, consumer_group)
    where g.target_topic = ${topic}
    group by g.target_topic, g.consumer_group
    order by g.consumer_group`
}
