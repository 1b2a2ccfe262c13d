// dlq_group_pauses: error groups whose automatic retries are paused, because too many failed again.

import { type Sql, toJson } from './sql.ts'

export type GroupOfTopic = { original_topic: string; group_id: string }

export type GroupPause = GroupOfTopic & {
  /** One of its DLQ topics, by which a policy may be found. */
  dlq_topic: string | null
  /** The message that was sent to see whether it is over, and as which attempt; null between probes. */
  probe_id: string | null
  probe_attempt: number | null
  /** When it was sent, or when the next one will be. */
  probe_at: Date
  failed_probes: number
}

/** So many re-failures are looked at, newest first: a bound for the work, far above every threshold. */
const maxRecent = 20_000

/** The topics that something failed again in within the last `withinMs`, each with one of its DLQ topics. */
export async function listRefailingTopics(
  sql: Sql,
  { withinMs }: { withinMs: number },
): Promise<{ original_topic: string; dlq_topic: string | null }[]> {
  return sql<{ original_topic: string; dlq_topic: string | null }[]>`
    select m.original_topic, max(m.dlq_topic) as dlq_topic
    from (select message_id from dlq.dlq_attempts
          where failed_again_at > now() - ${withinMs}::float8 * interval '1 ms'
          order by failed_again_at desc limit ${maxRecent}) a
    join dlq.dlq_messages m on m.id = a.message_id
    group by m.original_topic`
}

export type RefailureRule = { topic: string; threshold: number; windowMs: number }

/** The groups that are not paused and reach their topic's threshold, with the number of re-failures in its window. */
export async function listBursts(
  sql: Sql,
  rules: readonly RefailureRule[],
): Promise<(GroupOfTopic & { refailures: number })[]> {
  if (rules.length === 0) return []
  const longestMs = Math.max(...rules.map(({ windowMs }) => windowMs))
  return sql<(GroupOfTopic & { refailures: number })[]>`
    select m.original_topic, m.group_id, count(*)::int as refailures
    from (select message_id, failed_again_at from dlq.dlq_attempts
          where failed_again_at > now() - ${longestMs}::float8 * interval '1 ms'
          order by failed_again_at desc limit ${maxRecent}) a
    join dlq.dlq_messages m on m.id = a.message_id and m.group_id is not null
    join json_to_recordset(${toJson(rules)}::json) as rule (topic text, threshold int, "windowMs" float8)
      on rule.topic = m.original_topic
    left join dlq.dlq_group_pauses p on p.original_topic = m.original_topic and p.group_id = m.group_id
    where a.failed_again_at > now() - rule."windowMs" * interval '1 ms'
      and (p.group_id is null or a.failed_again_at > p.resumed_at)
    group by m.original_topic, m.group_id, rule.threshold
    having count(*) >= rule.threshold`
}

/** Pauses the group; the first probe is sent after `probeAfterMs`. */
export async function pauseGroup(
  sql: Sql,
  { original_topic, group_id, reason, probeAfterMs }: GroupOfTopic & { reason: string; probeAfterMs: number },
): Promise<void> {
  await sql`
    insert into dlq.dlq_group_pauses (original_topic, group_id, reason, probe_at)
    values (${original_topic}, ${group_id}, ${reason}, now() + ${probeAfterMs}::float8 * interval '1 ms')
    on conflict (original_topic, group_id) do update set
      reason = excluded.reason, paused_at = now(), resumed_at = null, failed_probes = 0,
      probe_id = null, probe_attempt = null, probe_at = excluded.probe_at`
}

export async function resumeGroup(sql: Sql, { original_topic, group_id }: GroupOfTopic): Promise<void> {
  await sql`
    update dlq.dlq_group_pauses set resumed_at = now(), probe_id = null, probe_attempt = null
    where original_topic = ${original_topic} and group_id = ${group_id}`
}

/** The groups that are paused now. */
export async function listPauses(sql: Sql): Promise<GroupPause[]> {
  return sql<GroupPause[]>`
    select p.original_topic, p.group_id, t.dlq_topic, p.probe_id, p.probe_attempt, p.probe_at, p.failed_probes
    from dlq.dlq_group_pauses p
    left join lateral (
      select dlq_topic from dlq.dlq_group_topics g where g.group_id = p.group_id order by dlq_topic limit 1
    ) t on true
    where p.resumed_at is null
    order by p.original_topic, p.group_id`
}

/** So many of a topic's waiting messages are looked through for one to probe with. */
const probeWindow = 10_000

/** Makes one waiting message of the group due and writes that it is the probe. False where none waits. */
export async function startProbe(sql: Sql, { original_topic, group_id }: GroupOfTopic): Promise<boolean> {
  const result = await sql`
    with candidate as materialized (
      select id from (
        select id, group_id from dlq.dlq_messages
        where original_topic = ${original_topic} and status = 'PENDING' and next_retry_at is not null and run_id is null
          and retry_count < max_retries
        order by next_retry_at, id limit ${probeWindow}
      ) waiting
      where group_id = ${group_id} limit 1
    ),
    probe as (
      update dlq.dlq_messages m set next_retry_at = now(), retry_requested = true
      from candidate where m.id = candidate.id and m.status = 'PENDING'
      returning m.id, m.retry_count + 1 as attempt
    )
    update dlq.dlq_group_pauses p set probe_id = probe.id, probe_attempt = probe.attempt, probe_at = now()
    from probe where p.original_topic = ${original_topic} and p.group_id = ${group_id}`
  return result.count > 0
}

/** Ends a probe that failed, or came to nothing; the next one is sent after `nextAfterMs`. */
export async function endProbe(
  sql: Sql,
  { original_topic, group_id, nextAfterMs, failed }: GroupOfTopic & { nextAfterMs: number; failed: boolean },
): Promise<void> {
  await sql`
    update dlq.dlq_group_pauses set
      probe_id = null, probe_attempt = null, probe_at = now() + ${nextAfterMs}::float8 * interval '1 ms',
      failed_probes = failed_probes + ${failed ? 1 : 0}::int
    where original_topic = ${original_topic} and group_id = ${group_id}`
}

export type ProbeState = 'waiting' | 'published' | 'failed_again' | 'gone'

/** What became of the probe: `published` where it has not come back for `quietMs`. */
export async function readProbe(
  sql: Sql,
  { probe_id, probe_attempt, quietMs }: { probe_id: string; probe_attempt: number; quietMs: number },
): Promise<ProbeState> {
  const [row] = await sql<{ state: ProbeState }[]>`
    select case
      when a.failed_again_at is not null then 'failed_again'
      when a.outcome = 'failed' or m.id is null or m.status = 'DEAD' then 'gone'
      when a.outcome = 'published' and a.settled_at < now() - ${quietMs}::float8 * interval '1 ms' then 'published'
      else 'waiting' end as state
    from (select 1) always
    left join dlq.dlq_messages m on m.id = ${probe_id}
    left join dlq.dlq_attempts a on a.message_id = ${probe_id} and a.number = ${probe_attempt}`
  return row!.state
}

/** So many due messages at the head of a topic are looked through per statement. */
const postponeWindow = 1000

/**
 * Moves due messages of paused groups out of the way, to a moment within `spreadMs` after `forMs`, so that
 * claims do not have to look through them each time. Returns how many; call again while it is the window's size.
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
      -- In the order in which everybody locks messages; one that is being claimed is left.
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
