// dlq_messages, as far as runs hold them: taken, looked after, given back.

import type { Status } from '../message.ts'
import type { RunKind } from '../run.ts'
import type { Sql } from './sql.ts'
import { inScope, type TopicScope } from './topic-scope.ts'

export type CandidateRow = { id: string; status: Status; retryCount: number; maxRetries: number; runId: string | null }

type Chosen = { ids: readonly string[]; cutoff: string; scope: TopicScope }

/** The messages of these ids, locked in the order in which everybody locks messages. */
function lockChosen(sql: Sql, { ids, cutoff, scope }: Chosen) {
  // "lateral", because each id is then looked up in its own partition.
  return sql`
    select m.id, m.status, m.retry_count, m.max_retries, m.run_id, m.original_topic
    from (select id from unnest(${sql.array([...ids])}::uuid[]) as chosen (id) order by id) chosen
    cross join lateral (
      select id, status, retry_count, max_retries, run_id, original_topic from dlq.dlq_messages
      where id = chosen.id and created_at <= ${cutoff}::text::timestamptz and ${inScope(sql, scope)}
      for update
    ) m`
}

export type Taken = {
  taken: number
  /** Made due for the program that claims its topic's messages by SQL: the run is done with them. */
  handedOver: number
  left: CandidateRow[]
}

/** The array of a subquery, which the planner takes for ten ids. Told how many there are, it reads all of the partition. */
function idsAsFew(sql: Sql, ids: readonly string[]) {
  return sql`array(select unnest(${sql.array([...ids])}::uuid[]))`
}

type Taking = Chosen & { runId: string; redirects: boolean }

/** What a run may take. Of the table's own columns, because it decides what is locked. */
function takeable(sql: Sql) {
  return sql`status = 'PENDING' and run_id is null and retry_count < max_retries`
}

/**
 * Takes those of the messages into the run that can be retried and are in no other run. Of one that is missing in
 * all of the answer there is nothing to be seen. `redirects`: the run sends to a topic of its own, also what others pull.
 */
export async function takeIntoRun(sql: Sql, taking: Taking): Promise<Taken> {
  const taken = await takePlain(sql, taking)
  if (taken === taking.ids.length) return { taken, handedOver: 0, left: [] }
  const rest = await takeRest(sql, taking)
  return { ...rest, taken: taken + rest.taken }
}

/**
 * What nearly every message of a run is: one that can be taken, of a topic that no policy might give to programs that
 * pull. Locked and changed in one go, for what a bare update costs; looking first would cost twice that. Returns how many.
 */
async function takePlain(sql: Sql, { runId, redirects, ids, cutoff, scope }: Taking): Promise<number> {
  if (ids.length === 0) return 0
  const sorted = ids.toSorted()
  const maybePulled = sql`
    original_topic like any(array(
      select replace(replace(replace(pattern, '_', '\\_'), '*', '%'), '?', '_') from dlq.dlq_policies where delivery = 'pull'))`
  const result = await sql`
    update dlq.dlq_messages set run_id = ${runId}::uuid
    -- Along the key, and so in the order in which everybody locks messages.
    where id = any(${idsAsFew(sql, sorted)})
      -- Leaves the other partitions out.
      and id between ${sorted[0]!} and ${sorted.at(-1)!}
      and created_at <= ${cutoff}::text::timestamptz and ${inScope(sql, scope)}
      and ${takeable(sql)} and (${redirects} or not (${maybePulled}))`
  return result.count
}

/** Looks at what is left, one by one. */
async function takeRest(sql: Sql, { runId, redirects, ...chosen }: Taking): Promise<Taken> {
  const [row] = await sql<{ taken: number; handed_over: number; left: string | null }[]>`
    with locked as materialized (
      select * from (${lockChosen(sql, chosen)}) chosen where run_id is distinct from ${runId}::uuid
    ),
    -- By itself, or the policy would be looked up for each message.
    topics as materialized (select distinct original_topic from locked),
    pulled as materialized (
      select original_topic from topics where not ${redirects} and (dlq.policy_of(original_topic)).delivery = 'pull'
    ),
    taken as (
      update dlq.dlq_messages m set
        run_id          = case when pulled.original_topic is null then ${runId}::uuid end,
        next_retry_at   = case when pulled.original_topic is null then m.next_retry_at else now() end,
        retry_requested = m.retry_requested or pulled.original_topic is not null
      from topics left join pulled using (original_topic)
      -- As an array, or all of the partition may be read.
      where m.id = any(array(select id from locked where ${takeable(sql)})) and m.original_topic = topics.original_topic
      returning pulled.original_topic is not null as is_pulled
    )
    select (select count(*)::int from taken where not is_pulled) as taken,
           (select count(*)::int from taken where is_pulled) as handed_over,
           (select json_agg(json_build_object('id', id, 'status', status, 'retryCount', retry_count, 'maxRetries', max_retries, 'runId', run_id))
            from locked where not (${takeable(sql)})) as left`
  const { taken, handed_over: handedOver, left } = row!
  return { taken, handedOver, left: left === null ? [] : JSON.parse(left) }
}

/** Lets messages that came back from the archive be retried once more: PENDING, until somebody takes them. */
export async function reviveRestored(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update dlq.dlq_messages set
      status = 'PENDING', next_retry_at = null, retry_requested = false, max_retries = greatest(max_retries, retry_count + 1)
    where id = any(${sql.array([...ids])}::uuid[]) and status in ('RESOLVED', 'DEAD')`
}

/** Locks the messages and tells what they are. */
export async function lockCandidates(sql: Sql, chosen: Chosen): Promise<CandidateRow[]> {
  return sql<CandidateRow[]>`
    select id, status, retry_count as "retryCount", max_retries as "maxRetries", run_id as "runId"
    from (${lockChosen(sql, chosen)}) locked`
}

/** Gives back up to `limit` messages that the run has not sent: as they were. Returns how many. */
export async function giveBack(sql: Sql, { runId, limit }: { runId: string; limit: number }): Promise<number> {
  const result = await sql`
    with unsent as materialized (
      select id from dlq.dlq_messages
      where run_id = ${runId} and status = 'PENDING'
      order by original_topic, id
      limit ${limit}
      for update
    )
    -- The run once more, because the planner may take the limit for more than it is and read every partition.
    update dlq.dlq_messages m set run_id = null from unsent where m.id = unsent.id and m.run_id = ${runId}`
  return result.count
}

/** Takes messages out of the run that it can never send, because somebody else changed them. Returns how many. */
export async function dropUnsendable(sql: Sql, { runId, limit }: { runId: string; limit: number }): Promise<number> {
  const result = await sql`
    with lost as materialized (
      select id from dlq.dlq_messages
      where run_id = ${runId} and (status in ('RESOLVED', 'DEAD') or (status = 'PENDING' and retry_count >= max_retries))
      limit ${limit}
      for update skip locked
    )
    update dlq.dlq_messages m set run_id = null from lost where m.id = lost.id and m.run_id = ${runId}`
  return result.count
}

/**
 * Makes due what the run holds of topics whose messages programs pull since it took them: no retrier sends those.
 * Returns how many. The topics are found from one to the next along idx_dlq_messages_run.
 */
export async function handOverPulled(sql: Sql, { runId, limit }: { runId: string; limit: number }): Promise<number> {
  const result = await sql`
    with recursive topics as (
      (select original_topic from dlq.dlq_messages where run_id = ${runId} order by original_topic limit 1)
      union all
      select (select m.original_topic from dlq.dlq_messages m
              where m.run_id = ${runId} and m.original_topic > t.original_topic
              order by m.original_topic limit 1)
      from topics t where t.original_topic is not null
    ),
    pulled as materialized (
      select original_topic from topics
      where original_topic is not null and (dlq.policy_of(original_topic)).delivery = 'pull'
    ),
    unsent as materialized (
      select id from dlq.dlq_messages
      where run_id = ${runId} and status = 'PENDING' and original_topic = any(array(select original_topic from pulled))
      order by original_topic, id
      limit ${limit}
      for update
    )
    update dlq.dlq_messages m set run_id = null, next_retry_at = now(), retry_requested = true
    from unsent where m.id = unsent.id and m.run_id = ${runId}`
  return result.count
}

/** Whether the run holds any message. */
export async function holdsMessages(sql: Sql, runId: string): Promise<boolean> {
  const [row] = await sql<{ holds: boolean }[]>`
    select exists (select from dlq.dlq_messages where run_id = ${runId}) as holds`
  return row!.holds
}

export type RunTopic = {
  run: string
  original_topic: string
  dlq_topic: string | null
  /** Where the run sends its messages instead. */
  target_topic: string | null
  rate_per_second: number | null
}

/** What the runs that go on have to send, by topic. Skips from topic to topic along idx_dlq_messages_run. */
export async function listRunTopics(sql: Sql): Promise<RunTopic[]> {
  return sql<RunTopic[]>`
    select r.id as run, held.original_topic, first.dlq_topic, r.target_topic, r.rate_per_second::float8 as rate_per_second
    from dlq.dlq_runs r
    cross join lateral (
      with recursive held as (
        (select original_topic from dlq.dlq_messages where run_id = r.id order by original_topic limit 1)
        union all
        select (select m.original_topic from dlq.dlq_messages m
                where m.run_id = r.id and m.original_topic > h.original_topic
                order by m.original_topic limit 1)
        from held h where h.original_topic is not null
      )
      select original_topic from held where original_topic is not null
    ) held
    cross join lateral (
      select dlq_topic from dlq.dlq_messages m
      where m.run_id = r.id and m.original_topic = held.original_topic and m.status = 'PENDING'
      order by m.id limit 1
    ) first
    where r.ended_at is null and r.status = 'running' and r.kind in ('retry', 'redirect')`
}

/** Does what the run does with messages that are locked: all that is not sending. Returns how many. */
export async function touchMessages(
  sql: Sql,
  { kind, ids }: { kind: Extract<RunKind, 'dead' | 'delete'>; ids: readonly string[] },
): Promise<number> {
  if (ids.length === 0) return 0
  const chosen = idsAsFew(sql, ids)
  if (kind === 'dead') {
    const result = await sql`
      update dlq.dlq_messages set status = 'DEAD', next_retry_at = null, retry_requested = false where id = any(${chosen})`
    return result.count
  }
  const result = await sql`
    with deleted as (
      delete from dlq.dlq_messages where id = any(${chosen}) returning id
    ),
    attempts as (
      delete from dlq.dlq_attempts a using deleted where a.message_id = deleted.id
    )
    select id from deleted`
  return result.length
}

/** Deletes archived messages with their attempts. Returns how many. */
export async function purgeArchived(sql: Sql, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  const result = await sql`
    with deleted as (
      delete from dlq.dlq_messages_archive where id = any(${idsAsFew(sql, ids)}) returning id
    ),
    attempts as (
      delete from dlq.dlq_attempts_archive a using deleted where a.message_id = deleted.id
    )
    select id from deleted`
  return result.length
}

/** Alike messages of a selection, and how many there are: what a dry run tells. */
export type SurveyRow = {
  status: Status
  is_spent: boolean
  is_held: boolean
  original_topic: string
  group_id: string | null
  /** Full days since it was created. */
  age_days: number
  count: number
}

/** Looks at the messages without locking them; where `archived`, at those of the archive. */
export async function surveyMessages(
  sql: Sql,
  { ids, scope, archived }: { ids: readonly string[]; scope: TopicScope; archived: boolean },
): Promise<SurveyRow[]> {
  const table = archived ? sql`dlq.dlq_messages_archive` : sql`dlq.dlq_messages`
  return sql<SurveyRow[]>`
    select status, retry_count >= max_retries as is_spent, run_id is not null as is_held, original_topic, group_id,
           greatest(0, extract(epoch from now() - created_at) / 86400)::int as age_days, count(*)::int as count
    from unnest(${sql.array([...ids])}::uuid[]) as chosen (id)
    cross join lateral (
      select status, retry_count, max_retries, run_id, original_topic, group_id, created_at from ${table}
      where id = chosen.id and ${inScope(sql, scope)}
    ) m
    group by 1, 2, 3, 4, 5, 6`
}
