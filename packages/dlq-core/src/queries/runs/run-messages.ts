// dlq_messages that runs hold: takes messages into a run, reads them, and gives them back.

import type { RetryState, Status } from '../../domain/retry/message-state.ts'
import { looseIndexScan } from '../loose-index-scan.ts'
import { heldUnlessForced } from '../origin/held-for-origin.ts'
import { isClosed } from '../routes/closed-routes.ts'
import { type Fragment, idsAsFew, type Sql, toJson } from '../sql.ts'
import { type SqlText, sqlText, sqlWords, toQuery } from '../sql-text.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'
import { isAsTaken } from './run-undo.ts'

export type CandidateRow = {
  id: string
  status: Status
  retry_count: number
  max_retries: number
  run_id: string | null
  held_by_route: boolean
  origin_state: number | null
  is_erased: boolean
}

type Chosen = { ids: readonly string[]; cutoff: string; scope: TopicScope }

/** Locks the messages of these ids in the order in which all statements lock messages. */
function lockChosen(sql: Sql, { ids, cutoff, scope }: Chosen) {
  // "lateral", because PostgreSQL then looks each id up in its own partition.
  return sql`
    select m.id, m.status, m.retry_count, m.max_retries, m.run_id, m.original_topic, m.held_by_route, m.origin_state, m.is_erased
    from (select id from unnest(${sql.array([...ids])}::uuid[]) as chosen (id) order by id) chosen
    cross join lateral (
      select id, status, retry_count, max_retries, run_id, original_topic, held_by_route, origin_state, erased_at is not null as is_erased
      from dlq.dlq_messages
      where id = chosen.id and created_at <= ${cutoff}::text::timestamptz and ${messageInScope(sql, scope)}
      for update
    ) m`
}

export type Taken = {
  taken: number
  /** Made due for the application that claims its topic's messages by SQL. The run has no more to do with them. */
  handed_over: number
  left: CandidateRow[]
}

type Taking = Chosen & {
  runId: string
  redirects: boolean
  /** Takes DEAD messages and spent budgets too: they become PENDING with one attempt more. */
  isForced: boolean
}

/** The condition for taking a message as it is. It uses the table's own columns only, because it decides which rows are locked. */
function takeable(sql: Sql) {
  return sql`(status = 'PENDING' and run_id is null and retry_count < max_retries and not ${heldUnlessForced(sql)})`
}

/** The condition for taking a message by force. */
function forceable(sql: Sql) {
  return sql`(status in ('PENDING', 'DEAD') and run_id is null and not ${heldUnlessForced(sql)})`
}

/**
 * Takes the messages into the run that can be retried and are in no other run. An id that appears nowhere in the answer
 * does not exist, or is outside the scope. `redirects`: the run sends to its own target topic, also messages of topics
 * with `delivery: pull`.
 */
export async function takeIntoRun(sql: Sql, taking: Taking): Promise<Taken> {
  const taken = await takePlain(sql, taking)
  if (taken === taking.ids.length) return { taken, handed_over: 0, left: [] }
  const rest = await takeRest(sql, taking)
  return { ...rest, taken: taken + rest.taken }
}

/**
 * Takes the messages that can be taken and whose topic has no policy with `delivery: pull`: nearly all of a run. One
 * statement locks and changes them for the price of a plain update. Reading them first would cost twice that. Returns
 * how many.
 */
async function takePlain(sql: Sql, { runId, redirects, ids, cutoff, scope }: Taking): Promise<number> {
  if (ids.length === 0) return 0
  const sorted = ids.toSorted()
  const maybePulled = sql`
    original_topic like any(array(
      select replace(replace(replace(pattern, '_', '\\_'), '*', '%'), '?', '_') from dlq.dlq_policies where delivery = 'pull'))`
  const result = await sql`
    update dlq.dlq_messages set run_id = ${runId}::uuid
    -- Along the primary key, and so in the order in which all statements lock messages.
    where id = any(${idsAsFew(sql, sorted)})
      -- The range of ids excludes the other partitions.
      and id between ${sorted[0]!} and ${sorted.at(-1)!}
      and created_at <= ${cutoff}::text::timestamptz and ${messageInScope(sql, scope)}
      and ${takeable(sql)} and (${redirects} or not (${maybePulled}))`
  return result.count
}

/** Decides about the remaining messages one by one. */
async function takeRest(sql: Sql, { runId, redirects, isForced, ...chosen }: Taking): Promise<Taken> {
  const takes = isForced ? forceable(sql) : takeable(sql)
  const [row] = await sql<{ taken: number; handed_over: number; left: string | null }[]>`
    with locked as materialized (
      select * from (${lockChosen(sql, chosen)}) chosen where run_id is distinct from ${runId}::uuid
    ),
    -- "materialized", or PostgreSQL would look the policy up for each message.
    topics as materialized (select distinct original_topic from locked),
    pulled as materialized (
      select original_topic from topics where not ${redirects} and (dlq.policy_of(original_topic)).delivery = 'pull'
    ),
    -- As they were: a cancelled run gives them back so.
    noted as (
      insert into dlq.dlq_run_undo (run_id, message_id, status, max_retries)
      select ${runId}, id, status, max_retries from locked
      where ${isForced} and ${takes} and not ${takeable(sql)} and original_topic not in (select original_topic from pulled)
      on conflict (run_id, message_id) do nothing
    ),
    taken as (
      update dlq.dlq_messages m set
        status          = 'PENDING',
        max_retries     = case when ${isForced} then greatest(m.max_retries, m.retry_count + 1) else m.max_retries end,
        run_id          = case when pulled.original_topic is null then ${runId}::uuid end,
        next_retry_at   = case when pulled.original_topic is null then m.next_retry_at else now() end,
        retry_requested = m.retry_requested or pulled.original_topic is not null
      from topics left join pulled using (original_topic)
      -- As an array, because for a join PostgreSQL may read the whole partition.
      where m.id = any(array(select id from locked where ${takes})) and m.original_topic = topics.original_topic
      returning pulled.original_topic is not null as is_pulled
    )
    select (select count(*)::int from taken where not is_pulled) as taken,
           (select count(*)::int from taken where is_pulled) as handed_over,
           (select json_agg(json_build_object('id', id, 'status', status, 'retry_count', retry_count, 'max_retries', max_retries, 'run_id', run_id,
                                               'held_by_route', held_by_route, 'origin_state', origin_state, 'is_erased', is_erased))
            from locked where not ${takes}) as left`
  const { taken, handed_over: handedOver, left } = row!
  return { taken, handed_over: handedOver, left: left === null ? [] : JSON.parse(left) }
}

/** Makes messages that were restored from the archive PENDING, so that a run can take them; not those that it cannot send. */
export async function reviveRestored(
  sql: Sql,
  { runId, ids }: { runId: string; ids: readonly string[] },
): Promise<void> {
  if (ids.length === 0) return
  await sql`
    with restored as materialized (
      select id, status, max_retries from dlq.dlq_messages
      where id = any(${sql.array([...ids])}::uuid[]) and status in ('RESOLVED', 'DEAD') and erased_at is null
        and not ${heldUnlessForced(sql)}
    ),
    -- As they were: what is not sent is so again.
    noted as (
      insert into dlq.dlq_run_undo (run_id, message_id, status, max_retries)
      select ${runId}, id, status, max_retries from restored
      on conflict (run_id, message_id) do nothing
    )
    update dlq.dlq_messages m set
      status = 'PENDING', next_retry_at = null, retry_requested = false, max_retries = greatest(m.max_retries, m.retry_count + 1)
    from restored where m.id = restored.id and m.id = any(${sql.array([...ids])}::uuid[])`
}

/** Locks the messages and returns their rows. */
export async function lockCandidates(sql: Sql, chosen: Chosen): Promise<CandidateRow[]> {
  return sql<CandidateRow[]>`
    select id, status, retry_count, max_retries, run_id, held_by_route, origin_state, is_erased
    from (${lockChosen(sql, chosen)}) locked`
}

/** Locks messages that the run has not sent: found along the run's index, and locked in the order of their ids, as everywhere. */
function lockUnsent(sql: Sql, runId: string, where: Fragment, limit: number): Fragment {
  return sql`
    select id, retry_count, max_retries, next_retry_at from dlq.dlq_messages
    where id = any(array(
        select id from dlq.dlq_messages where run_id = ${runId} and status = 'PENDING' and ${where}
        order by original_topic, id limit ${limit}))
      and run_id = ${runId} and status = 'PENDING' and ${where}
    order by id
    for update`
}

/** Gives back up to `limit` messages that the run has not sent, in their former state. Returns how many. */
export async function giveBack(sql: Sql, { runId, limit }: { runId: string; limit: number }): Promise<number> {
  const result = await sql`
    with locked as materialized (${lockUnsent(sql, runId, sql`true`, limit)}),
    unsent as materialized (
      select m.id, u.status as former_status, u.max_retries as former_max_retries
      from locked m
      left join dlq.dlq_run_undo u on u.run_id = ${runId} and u.message_id = m.id and ${isAsTaken(sql, sql`m.retry_count + 1`)}
    )
    -- The run's id again, because the planner may overestimate the limit and read every partition.
    update dlq.dlq_messages m set
      run_id        = null,
      status        = coalesce(unsent.former_status, m.status),
      max_retries   = coalesce(unsent.former_max_retries, m.max_retries)
    from unsent where m.id = unsent.id and m.run_id = ${runId}`
  return result.count
}

/** Takes messages out of the run that it can no longer send, because somebody else changed them. Returns how many. */
export async function dropUnsendable(sql: Sql, { runId, limit }: { runId: string; limit: number }): Promise<number> {
  const result = await sql`
    with lost as materialized (
      select id from dlq.dlq_messages
      where run_id = ${runId}
        and (status in ('RESOLVED', 'DEAD') or (status = 'PENDING' and (retry_count >= max_retries or ${heldUnlessForced(sql)})))
      limit ${limit}
      for update skip locked
    )
    update dlq.dlq_messages m set run_id = null from lost where m.id = lost.id and m.run_id = ${runId}`
  return result.count
}

/** The original topics of the messages that the run holds, along idx_dlq_messages_run. */
function topicsOfRun(sql: Sql, runId: SqlText) {
  return toQuery(sql, looseIndexScan({ where: sqlText`m.run_id = ${runId}` }))
}

/**
 * Makes messages of the run due if their topic's delivery became `pull` after the run took them, because no retrier
 * sends those. Returns how many.
 */
export async function handOverPulled(sql: Sql, { runId, limit }: { runId: string; limit: number }): Promise<number> {
  // What is held, dropUnsendable takes out of the run.
  const isPulled = sql`(original_topic = any(array(select original_topic from pulled)) and not ${heldUnlessForced(sql)})`
  const result = await sql`
    with pulled as materialized (
      select original_topic from (${topicsOfRun(sql, sqlText`${runId}`)}) held
      where (dlq.policy_of(original_topic)).delivery = 'pull'
    ),
    unsent as materialized (${lockUnsent(sql, runId, isPulled, limit)})
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
  /** The topic that the run sends its messages to. Null: their own. */
  target_topic: string | null
  rate_per_second: number | null
  /** It waits while those who read its target are further behind. Null: it does not. */
  max_lag: number | null
}

/** The topics of the messages that running runs have to send. */
export async function listRunTopics(sql: Sql): Promise<RunTopic[]> {
  return sql<RunTopic[]>`
    select r.id as run, held.original_topic, first.dlq_topic, r.target_topic, r.rate_per_second::float8 as rate_per_second,
           r.max_lag::float8 as max_lag
    from dlq.dlq_runs r
    cross join lateral (${topicsOfRun(sql, sqlWords('r.id'))}) held
    cross join lateral (
      select dlq_topic from dlq.dlq_messages m
      where m.run_id = r.id and m.original_topic = held.original_topic and m.status = 'PENDING'
      order by m.id limit 1
    ) first
    where r.ended_at is null and r.status = 'running' and r.kind in ('retry', 'redirect')`
}

/** At most `limit` original topics of messages that the run holds, each with one of its DLQ topics. */
export async function listTopicsOfRun(
  sql: Sql,
  { runId, limit }: { runId: string; limit: number },
): Promise<{ original_topic: string; dlq_topic: string | null }[]> {
  return sql<{ original_topic: string; dlq_topic: string | null }[]>`
    select held.original_topic, first.dlq_topic
    from (${topicsOfRun(sql, sqlText`${runId}`)}) held
    cross join lateral (
      select dlq_topic from dlq.dlq_messages m where m.run_id = ${runId} and m.original_topic = held.original_topic
      order by m.id limit 1
    ) first
    limit ${limit}`
}

/** Sets locked messages DEAD. Returns how many. */
export async function markDead(sql: Sql, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  const result = await sql`
    update dlq.dlq_messages set status = 'DEAD', next_retry_at = null, retry_requested = false
    where id = any(${idsAsFew(sql, ids)})`
  return result.count
}

/** The states of locked DEAD messages, and the topics that decide their policies. */
export async function readDead(sql: Sql, ids: readonly string[]): Promise<DeadMessage[]> {
  if (ids.length === 0) return []
  return sql<DeadMessage[]>`
    select id, status, retry_count, max_retries, next_retry_at, original_topic, dlq_topic
    from dlq.dlq_messages where id = any(${idsAsFew(sql, ids)}) and status = 'DEAD' order by id`
}

export type DeadMessage = RetryState & { id: string; original_topic: string; dlq_topic: string | null }

/** Writes the states of locked messages that are revived. Held ones get no time. Returns how many. */
export async function writeRevived(
  sql: Sql,
  states: readonly Pick<DeadMessage, 'id' | 'status' | 'max_retries' | 'next_retry_at'>[],
): Promise<number> {
  if (states.length === 0) return 0
  const result = await sql`
    update dlq.dlq_messages m set
      status = revived.status, max_retries = revived.max_retries, retry_requested = false,
      next_retry_at = case when not ${heldUnlessForced(sql, 'm.')} then revived.next_retry_at end
    from json_to_recordset(${toJson(states)}::json)
      as revived (id uuid, status text, max_retries int, next_retry_at timestamptz)
    where m.id = revived.id and m.id = any(${idsAsFew(
      sql,
      states.map(({ id }) => id),
    )})`
  return result.count
}

/** Those of the ids that are in the archive and in the scope. */
export async function listArchived(
  sql: Sql,
  { ids, scope }: { ids: readonly string[]; scope: TopicScope },
): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await sql<{ id: string }[]>`
    select id from dlq.dlq_messages_archive
    where id = any(${sql.array([...ids])}::uuid[]) and ${messageInScope(sql, scope)} order by id`
  return rows.map(({ id }) => id)
}

/** Similar messages of a selection, and their number, for a dry run. */
export type SurveyRow = {
  status: Status
  is_spent: boolean
  is_held: boolean
  held_by_route: boolean
  origin_state: number | null
  is_erased: boolean
  original_topic: string
  group_id: string | null
  /** Full days since the message was created. */
  age_days: number
  count: number
  /** The first of them, in the order of their ids. */
  sample: string[]
}

type SurveyOf = { ids: readonly string[]; scope: TopicScope; archived: boolean; sampleSize: number }

/** Reads the messages without locking them; where `archived`, those of the archive. */
export async function surveyMessages(sql: Sql, { ids, scope, archived, sampleSize }: SurveyOf): Promise<SurveyRow[]> {
  const table = archived ? sql`dlq.dlq_messages_archive` : sql`dlq.dlq_messages`
  // As once it is restored.
  const heldByRoute = archived ? isClosed(sql, 'm') : sql`held_by_route`
  return sql<SurveyRow[]>`
    select status, retry_count >= max_retries as is_spent, run_id is not null as is_held, ${heldByRoute} as held_by_route, origin_state,
           erased_at is not null as is_erased, original_topic, group_id,
           greatest(0, floor(extract(epoch from now() - created_at) / 86400))::int as age_days, count(*)::int as count,
           (array_agg(id order by id))[1:${sampleSize}::int] as sample
    from ${table} m
    where id = any(${idsAsFew(sql, ids)}) and ${messageInScope(sql, scope)}
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9`
}
