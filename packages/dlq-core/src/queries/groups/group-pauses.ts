// dlq_group_pauses, dlq_group_probes, dlq_group_retries: error groups whose automatic retries are paused, because too
// many failed again; what they are probed with; and how many retries each group had lately.

import type { MessageTopics } from '../../domain/retry/effective-policy.ts'
import { looseIndexScan } from '../loose-index-scan.ts'
import { heldUnlessForced } from '../origin/held-for-origin.ts'
import { type Fragment, type Sql, toJson } from '../sql.ts'
import { sqlWords, toQuery } from '../sql-text.ts'
import { type TopicScope, topicInScope } from '../topic-scope.ts'

/** Pauses are per original topic, because whether a retry fails depends on the topic that it is sent to. */
export type PausableGroup = { original_topic: string; group_id: string }

export type GroupPause = PausableGroup & {
  /** One of its DLQ topics, for the look-up of its policy. */
  dlq_topic: string | null
  /** When the probes under way were sent, or when the next ones will be. */
  probe_at: Date
  failed_probes: number
  /** How long nine of ten of its re-failures took at most; null where that is not known. */
  refails_after_ms: number | null
}

/**
 * One of the DLQ topics of a row's error group that send to its original topic, for the look-up of its policy. Other topics
 * may have the group as well, with policies of their own.
 */
function dlqTopicOf(sql: Sql, row: 'p' | 'counted') {
  return sql`(
    select max(g.dlq_topic) from dlq.dlq_group_topics g
    join dlq.dlq_routes r on r.dlq_topic = g.dlq_topic and r.original_topic = ${sql(`${row}.original_topic`)}
    where g.group_id = ${sql(`${row}.group_id`)})`
}

/**
 * How many re-failures are counted, newest first. The DLQ topics that have some share this number, so that many of one hide
 * none of another. It bounds the work, and is far above usual thresholds.
 */
const maxRecent = 20_000
/** The smallest share of a DLQ topic; it is also at least twice the largest threshold. */
const leastRecent = 500

/**
 * The newest re-failures of each DLQ topic: one step along idx_dlq_attempts_failed_again_topic for each topic, and then its
 * newest ones. `counted_from`: since when all re-failures of the DLQ topic are among them.
 */
function recentRefailures(sql: Sql, { withinMs, least }: { withinMs: number; least: number }) {
  const since = sql`now() - ${withinMs}::float8 * interval '1 ms'`
  const firstBehind = (topic: Fragment) => sql`
    select failed_again_topic as topic from dlq.dlq_attempts
    where failed_again_at is not null and failed_again_topic > ${topic}
    order by failed_again_topic limit 1`
  return sql`
    with recursive walk as (
      (${firstBehind(sql`''`)})
      union all
      select next.topic from walk cross join lateral (${firstBehind(sql`walk.topic`)}) next
    ),
    failing as materialized (
      select topic, greatest(${Math.min(maxRecent, least)}::int, (${maxRecent}::int / count(*) over ())::int) as most
      from walk
      where exists (
        select from dlq.dlq_attempts a where a.failed_again_topic = walk.topic and a.failed_again_at > ${since})
    )
    select newest.*,
           case when count(*) over (partition by failing.topic) < failing.most then ${since}
                else min(newest.failed_again_at) over (partition by failing.topic) end as counted_from
    from failing
    cross join lateral (
      select message_id, settled_at, failed_again_at from dlq.dlq_attempts a
      where a.failed_again_topic = failing.topic and a.failed_again_at > ${since}
      order by a.failed_again_at desc limit failing.most
    ) newest`
}

/** The message of re-failure a. "limit 1" keeps it a look-up: for a join PostgreSQL might read all messages. */
function messageOf(sql: Sql) {
  return sql`
    cross join lateral (
      select original_topic, dlq_topic, group_id from dlq.dlq_messages m where m.id = a.message_id limit 1
    ) m`
}

/** The topics with a re-failure in the last `withinMs`, each with one of its DLQ topics. */
export async function listRefailingTopics(sql: Sql, { withinMs }: { withinMs: number }): Promise<MessageTopics[]> {
  return sql<MessageTopics[]>`
    select m.original_topic, max(m.dlq_topic) as dlq_topic
    from (${recentRefailures(sql, { withinMs, least: leastRecent })}) a
    ${messageOf(sql)}
    group by m.original_topic`
}

export type RefailureRule = { topic: string; threshold: number; windowMs: number }

export type RefailingGroup = PausableGroup & {
  refailures: number
  /** Retries that were published in the same window. */
  retries: number
  refails_after_ms: number | null
}

/** The groups that are not paused and have at least their topic's threshold of re-failures in its window. */
export async function listRefailingGroups(sql: Sql, rules: readonly RefailureRule[]): Promise<RefailingGroup[]> {
  if (rules.length === 0) return []
  const withinMs = Math.max(...rules.map(({ windowMs }) => windowMs))
  const least = Math.max(leastRecent, ...rules.map(({ threshold }) => 2 * threshold))
  return sql<RefailingGroup[]>`
    with refailing as (
      select m.original_topic, m.group_id, count(*)::int as refailures,
             -- Retries of the same time: earlier ones, whose re-failures are not counted, would make the share small.
             greatest(now() - rule."windowMs" * interval '1 ms', p.resumed_at, max(a.counted_from)) as since,
             percentile_cont(0.9) within group (
               order by greatest(0, extract(epoch from a.failed_again_at - a.settled_at)) * 1000)
               -- Of an attempt that nobody has settled it is not known.
               filter (where a.settled_at is not null) as refails_after_ms
      from (${recentRefailures(sql, { withinMs, least })}) a
      ${messageOf(sql)}
      join json_to_recordset(${toJson(rules)}::json) as rule (topic text, threshold int, "windowMs" float8)
        on rule.topic = m.original_topic
      left join dlq.dlq_group_pauses p on p.original_topic = m.original_topic and p.group_id = m.group_id
      where m.group_id is not null and a.failed_again_at > now() - rule."windowMs" * interval '1 ms'
        and (p.group_id is null or a.failed_again_at > p.resumed_at)
      group by m.original_topic, m.group_id, rule.threshold, rule."windowMs", p.resumed_at
      having count(*) >= rule.threshold
    )
    select original_topic, group_id, refailures, refails_after_ms,
           (select coalesce(sum(r.published), 0)::int from dlq.dlq_group_retries r
            where r.original_topic = f.original_topic and r.group_id = f.group_id
              -- The stretch of ten seconds in which the time begins counts too.
              and r.began_at > f.since - interval '10 s') as retries
    from refailing f`
}

export type GroupRetries = PausableGroup & { published: number }

/** Adds published retries to the counts of the present ten seconds. */
export async function addGroupRetries(sql: Sql, counts: readonly GroupRetries[]): Promise<void> {
  if (counts.length === 0) return
  await sql`
    insert into dlq.dlq_group_retries as known (original_topic, group_id, began_at, published)
    select original_topic, group_id, date_bin('10 s', now(), 'epoch'), published
    from json_to_recordset(${toJson(counts)}::json) as added (original_topic text, group_id uuid, published int)
    -- In one order, as every retrier locks them.
    order by original_topic, group_id
    on conflict (original_topic, group_id, began_at) do update set published = known.published + excluded.published`
}

const countedTopics = looseIndexScan({
  where: sqlWords('true'),
  columns: ['group_id'],
  table: 'dlq.dlq_group_retries',
})

/** The topics with counts, each with one of its DLQ topics: one step of the index for each topic. */
export async function listCountedTopics(sql: Sql): Promise<MessageTopics[]> {
  return sql<MessageTopics[]>`
    select counted.original_topic, ${dlqTopicOf(sql, 'counted')} as dlq_topic
    from (${toQuery(sql, countedTopics)}) counted`
}

/** Counts from before that are of no use to any rule. */
export async function forgetGroupRetries(sql: Sql, { olderThanMs }: { olderThanMs: number }): Promise<void> {
  await sql`delete from dlq.dlq_group_retries where began_at < now() - ${olderThanMs}::float8 * interval '1 ms'`
}

/** Pauses the group; the first probes are sent after `probeAfterMs`. */
export async function pauseGroup(
  sql: Sql,
  group: PausableGroup & { reason: string; probeAfterMs: number; refails_after_ms: number | null },
): Promise<void> {
  const { original_topic, group_id, reason, probeAfterMs, refails_after_ms } = group
  await sql`
    insert into dlq.dlq_group_pauses (original_topic, group_id, reason, probe_at, refails_after)
    values (${original_topic}, ${group_id}, ${reason}, now() + ${probeAfterMs}::float8 * interval '1 ms',
            ${refails_after_ms}::float8 * interval '1 ms')
    on conflict (original_topic, group_id) do update set
      reason = excluded.reason, paused_at = now(), resumed_at = null, failed_probes = 0, probe_id = null,
      probe_attempt = null, probe_at = excluded.probe_at, refails_after = excluded.refails_after`
}

export async function resumeGroup(sql: Sql, { original_topic, group_id }: PausableGroup): Promise<void> {
  await sql`
    with ended as (
      delete from dlq.dlq_group_probes where original_topic = ${original_topic} and group_id = ${group_id}
    )
    update dlq.dlq_group_pauses set resumed_at = now(), probe_id = null, probe_attempt = null
    where original_topic = ${original_topic} and group_id = ${group_id}`
}

/** The groups that are paused at present. */
export async function listPauses(sql: Sql): Promise<GroupPause[]> {
  return sql<GroupPause[]>`
    select p.original_topic, p.group_id, ${dlqTopicOf(sql, 'p')} as dlq_topic, p.probe_at, p.failed_probes,
           (extract(epoch from p.refails_after) * 1000)::float8 as refails_after_ms
    from dlq.dlq_group_pauses p
    where p.resumed_at is null
    order by p.original_topic, p.group_id`
}

export type ShownPause = PausableGroup & {
  reason: string
  paused_at: Date
  /** Null while probes are under way. */
  next_probe_at: Date | null
  failed_probes: number
}

/** The pauses in force of these groups, of original topics in the scope. */
export async function listPausesOfGroups(
  sql: Sql,
  { groupIds, scope }: { groupIds: readonly string[]; scope: TopicScope },
): Promise<ShownPause[]> {
  if (groupIds.length === 0) return []
  return sql<ShownPause[]>`
    select p.original_topic, p.group_id, p.reason, p.paused_at, p.failed_probes,
           case when not exists (
             select from dlq.dlq_group_probes b where b.original_topic = p.original_topic and b.group_id = p.group_id
           ) then p.probe_at end as next_probe_at
    from dlq.dlq_group_pauses p
    where p.group_id = any(${sql.array([...groupIds])}::uuid[]) and p.resumed_at is null
      and ${topicInScope(sql, scope, 'p.original_topic')}
    order by p.paused_at, p.original_topic`
}

/** The number of a topic's waiting messages among which messages for a probe are looked for. */
const probeWindow = 10_000

/** `ordered`: a message waits for earlier ones of its key. */
type Ordered = PausableGroup & { ordered: boolean }

/** Whether message m waits for an earlier one of its key, which the pause may keep from being sent. */
function waitsForKey(sql: Sql, { original_topic, ordered }: Ordered) {
  return ordered
    ? sql`
      (m.order_key is not null and m.id is distinct from (
        select e.id from dlq.dlq_messages e
        where e.original_topic = ${original_topic} and e.order_key = m.order_key and e.status = 'PENDING'
          and not e.held_by_route
        order by coalesce(e.original_partition, -1), coalesce(e.original_offset, -1), e.id
        limit 1))`
    : sql`false`
}

/**
 * Makes waiting messages of the group due and writes that they are the probes. Returns how many; 0 where none waits that
 * could be sent.
 */
export async function startProbes(sql: Sql, { count, ...group }: Ordered & { count: number }): Promise<number> {
  const { original_topic, group_id } = group
  const [row] = await sql<[{ probes: number }]>`
    with candidate as materialized (
      select id from (
        select id, group_id, order_key from dlq.dlq_messages
        where original_topic = ${original_topic} and status = 'PENDING' and next_retry_at is not null and run_id is null
          and retry_count < max_retries
        order by next_retry_at, id limit ${probeWindow}
      ) m
      where group_id = ${group_id} and not ${waitsForKey(sql, group)} limit ${count}
    ),
    locked as materialized (
      -- In the order in which everybody locks messages.
      select m.id from dlq.dlq_messages m join candidate using (id)
      where m.status = 'PENDING' and m.next_retry_at is not null and m.run_id is null
        and not ${heldUnlessForced(sql, 'm.')}
      order by m.id for update of m
    ),
    due as (
      update dlq.dlq_messages m set next_retry_at = now(), retry_requested = true
      from locked where m.id = locked.id
      returning m.id, m.retry_count + 1 as attempt
    ),
    probes as (
      insert into dlq.dlq_group_probes (original_topic, group_id, message_id, attempt)
      select ${original_topic}, ${group_id}::uuid, id, attempt from due
      on conflict (original_topic, group_id, message_id) do update set attempt = excluded.attempt
    ),
    noted as (
      update dlq.dlq_group_pauses p set probe_at = now()
      where p.original_topic = ${original_topic} and p.group_id = ${group_id} and exists (select from due)
    )
    select count(*)::int as probes from due`
  return row.probes
}

/** Ends the probes; the next ones are sent after `nextAfterMs`. `failed`: they failed, and did not come to nothing. */
export async function endProbes(
  sql: Sql,
  { original_topic, group_id, nextAfterMs, failed }: PausableGroup & { nextAfterMs: number; failed: boolean },
): Promise<void> {
  await sql`
    with ended as (
      delete from dlq.dlq_group_probes where original_topic = ${original_topic} and group_id = ${group_id}
    )
    update dlq.dlq_group_pauses set
      probe_id = null, probe_attempt = null, probe_at = now() + ${nextAfterMs}::float8 * interval '1 ms',
      failed_probes = failed_probes + ${failed ? 1 : 0}::int
    where original_topic = ${original_topic} and group_id = ${group_id}`
}

export type ProbeState = 'waiting' | 'published' | 'failed_again' | 'gone'

/** `ago_ms`: since it was read, or sent where nobody can tell; null where it was not. The DLQ topic is that of its message. */
export type Probe = { state: ProbeState; ago_ms: number | null; cluster: string | null; topic: string | null }

/**
 * What became of each probe of the group: `published` where it was read and has not failed again for `quietMs`; where
 * nobody can tell whether it was read, silence since it was sent has to do. `gone`: it is not sent as a probe, because it
 * is held, in a run, behind another one of its key, or resolved by somebody else. Empty between probes.
 */
export async function readProbes(sql: Sql, { quietMs, ...group }: Ordered & { quietMs: number }): Promise<Probe[]> {
  const { original_topic, group_id } = group
  const since = sql`coalesce(v.read_at, a.settled_at)`
  return sql<Probe[]>`
    select case
      when a.failed_again_at is not null then 'failed_again'
      when a.outcome = 'failed' or m.id is null or m.status = 'DEAD' then 'gone'
      when m.status = 'RESOLVED' and a.outcome is distinct from 'published' then 'gone'
      when m.status = 'PENDING' and m.retry_count < p.attempt
        and (not m.retry_requested or m.run_id is not null or ${waitsForKey(sql, group)}) then 'gone'
      when a.outcome = 'published' and v.verdict <> 'sent'
        and ${since} < now() - ${quietMs}::float8 * interval '1 ms' then 'published'
      else 'waiting' end as state,
      (extract(epoch from now() - ${since}) * 1000)::float8 as ago_ms, m.dlq_cluster as cluster, m.dlq_topic as topic
    from dlq.dlq_group_probes p
    left join dlq.dlq_messages m on m.id = p.message_id
    left join dlq.dlq_attempts a on a.message_id = p.message_id and a.number = p.attempt
    left join lateral dlq.verdict(
      m.consumer_group, a.target_topic, a.target_partition, a.target_offset, a.settled_at, a.failed_again_at,
      a.confirmed_at) v on true
    where p.original_topic = ${original_topic} and p.group_id = ${group_id}`
}

/** One statement reads at most this number of due messages at the head of a topic. */
const postponeWindow = 1000

/**
 * Postpones due messages of paused groups by `forMs` plus up to `spreadMs`, so that claims need not read them each
 * time. Returns how many. Call it again while it returns as many as it reads.
 */
export async function postponePaused(
  sql: Sql,
  { topic, groupIds, forMs, spreadMs }: { topic: string; groupIds: readonly string[]; forMs: number; spreadMs: number },
): Promise<number> {
  const result = await sql`
    with head as materialized (
      select id from (
        select id, group_id, retry_requested from dlq.dlq_messages
        where original_topic = ${topic} and status = 'PENDING' and next_retry_at <= now() and run_id is null
        order by next_retry_at, id limit ${postponeWindow}
      ) due
      where not retry_requested and group_id = any(${sql.array([...groupIds])}::uuid[])
    ),
    held as materialized (
      -- In the order in which all statements lock messages. A message that is being claimed is skipped.
      select m.id from dlq.dlq_messages m join head using (id)
      where m.status = 'PENDING' and m.next_retry_at <= now() and not m.retry_requested
      order by m.id
      for update of m skip locked
    )
    update dlq.dlq_messages m
    set next_retry_at = now() + (${forMs}::float8 + random() * ${spreadMs}::float8) * interval '1 ms'
    from held where m.id = held.id`
  return result.count
}
