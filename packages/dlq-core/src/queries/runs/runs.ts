// dlq_runs: the bulk runs and their progress.

import { forgottenSelection, type RunCounts, type RunStatus } from '../../domain/message/run.ts'
import type { RunKind } from '../../domain/message/run-kinds.ts'
import { exactTime, type TimePlace } from '../exact-time.ts'
import type { Sql } from '../sql.ts'
import type { TopicScope } from '../topic-scope.ts'

export type NewRun = {
  kind: RunKind
  /** Takes DEAD messages too, whatever their budget. */
  is_forced: boolean
  actor: string
  reason: string | null
  /** JSON text of a RunSelection. */
  selection: string
  scope: TopicScope
  /** As `freezeNow` returned it. */
  cutoff: string
  until_id: string
  matched: number
  matched_relation: 'eq' | 'gte'
  /** Set: the run retries all of the topic in its filter. One run at a time has this value. */
  retry_all_topic: string | null
  target_topic: string | null
  /** JSON text of a JSON Patch. */
  patch: string | null
  rate_per_second: number | null
  /** Records that those who read a target may be behind. */
  max_lag: number | null
  /** Also what is not known to be fresh; null: as the policies say. */
  staleness: 'send' | null
  /** JSON text of a Canary. */
  canary: string | null
  on_refailure: 'continue' | 'pause' | 'cancel'
  max_refailure: number
  /** Of a run that erases; null for others. */
  erase_mode: 'contents' | 'rows' | null
  /** Of a run that compares: originals that are proved take the place of their copies. */
  adopts: boolean
}

/**
 * The database's present time, as text with microseconds. A run ignores messages that arrive later. After the clock was
 * ahead, it is the time of the last message stored then: else a run would leave those out.
 */
export async function freezeNow(sql: Sql): Promise<string> {
  const [row] = await sql<{ now: string }[]>`
    select greatest(clock_timestamp(), (
      select max(created_at) from dlq.dlq_messages where created_at > now() and created_at < now() + interval '32 days'
    ))::text as now`
  return row!.now
}

/** Stores a run. Null where another run has the same `retry_all_topic` and has not ended. */
export async function insertRun(sql: Sql, run: NewRun): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    insert into dlq.dlq_runs (
      kind, actor, reason, selection, scope, cutoff, until_id, matched, matched_relation, retry_all_topic, target_topic, patch,
      rate_per_second, max_lag, staleness, canary, on_refailure, max_refailure, is_forced, erase_mode, adopts)
    values (
      ${run.kind}, ${run.actor}, ${run.reason}, ${run.selection}::text::json,
      ${run.scope === null ? null : sql.array([...run.scope])}::text[], ${run.cutoff}::text::timestamptz, ${run.until_id},
      ${run.matched}, ${run.matched_relation}, ${run.retry_all_topic}, ${run.target_topic}, ${run.patch}::text::json,
      ${run.rate_per_second}, ${run.max_lag}, ${run.staleness}, ${run.canary}::text::json, ${run.on_refailure}, ${run.max_refailure}, ${run.is_forced}, ${run.erase_mode}, ${run.adopts})
    on conflict (retry_all_topic) where ended_at is null do nothing
    returning id`
  return row?.id ?? null
}

/** Notes the saga that carries the run out. */
export async function noteSaga(sql: Sql, { id, sagaId }: { id: string; sagaId: string }): Promise<void> {
  await sql`update dlq.dlq_runs set saga_id = ${sagaId} where id = ${id}`
}

/** The run that has this `retry_all_topic` at present. */
export async function findRetryAll(sql: Sql, retryAll: string): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id from dlq.dlq_runs where retry_all_topic = ${retryAll} and ended_at is null`
  return row?.id ?? null
}

/** The state of a run for the engine that carries it on. */
export type HeldRun = RunCounts & {
  id: string
  kind: RunKind
  is_forced: boolean
  status: RunStatus
  status_reason: string | null
  actor: string
  reason: string | null
  selection: string
  scope: string[] | null
  cutoff: string
  until_id: string
  matched: number
  /** Set: the run retries all of a topic, and the filter's topic is a name, not a glob. */
  retry_all_topic: string | null
  target_topic: string | null
  patch: string | null
  canary: string | null
  on_refailure: 'continue' | 'pause' | 'cancel'
  max_refailure: number
  step: string | null
  cursor: string | null
  is_exhausted: boolean
  step_taken: number
  base_resolved: number
  base_failed_again: number
  is_judged: boolean
  chunk_size: number
  skipped: string
  adopts: boolean
  /** JSON text: how many originals were found in which state; null before any was compared. */
  compared: string | null
  /** Milliseconds since a message of the run was last settled. */
  quiet_ms: number
}

function heldColumns(sql: Sql) {
  return sql`
    id, kind, is_forced, status, status_reason, actor, reason, selection, scope, cutoff::text as cutoff, until_id, matched::float8 as matched,
    retry_all_topic, target_topic, patch, canary, on_refailure, max_refailure::float8 as max_refailure,
    step, cursor, is_exhausted, step_taken::float8 as step_taken,
    base_resolved::float8 as base_resolved, base_failed_again::float8 as base_failed_again, is_judged,
    chunk_size, taken::float8 as taken, done::float8 as done, resolved::float8 as resolved,
    failed::float8 as failed, failed_again::float8 as failed_again, withdrawn::float8 as withdrawn,
    given_back::float8 as given_back, skipped, adopts, compared,
    extract(epoch from clock_timestamp() - coalesce(last_settled_at, started_at, created_at))::float8 * 1000 as quiet_ms`
}

/** Of messages that their policies held at the last moment. */
function staleSums(sql: Sql) {
  return sql`
    coalesce(sum(n) filter (where outcome = 'superseded'), 0) as superseded,
    coalesce(sum(n) filter (where outcome = 'staleness_unknown'), 0) as staleness_unknown`
}

/** The run's counts of skipped messages, with those of its deltas. */
function withStale(sql: Sql, sums: 'sums' | 'd') {
  const of = (reason: string) => sql`
    case when ${sql(`${sums}.${reason}`)} > 0
      then jsonb_build_object(${reason}::text, coalesce((r.skipped ->> ${reason}::text)::bigint, 0) + ${sql(`${sums}.${reason}`)})
      else '{}' end`
  return sql`
    case when ${sql(sums)}.superseded + ${sql(sums)}.staleness_unknown = 0 then r.skipped
      else (r.skipped::jsonb || ${of('superseded')} || ${of('staleness_unknown')})::json end`
}

/** Locks the run and adds the outcomes of its messages to its counts. Null where there is no such run. */
export async function holdRun(sql: Sql, id: string): Promise<HeldRun | null> {
  const [locked] = await sql`select id from dlq.dlq_runs where id = ${id} for update`
  if (!locked) return null
  // A separate statement, because its snapshot has to be taken after the wait for the lock.
  await sql`
    with gone as (
      delete from dlq.dlq_run_deltas where run_id = ${id} returning outcome, n
    ),
    sums as materialized (
      select coalesce(sum(n) filter (where outcome = 'resolved'), 0) as resolved,
             coalesce(sum(n) filter (where outcome = 'failed'), 0) as failed,
             coalesce(sum(n) filter (where outcome = 'failed_again'), 0) as failed_again,
             ${staleSums(sql)}
      from gone having count(*) > 0
    )
    update dlq.dlq_runs r set
      resolved = r.resolved + sums.resolved, failed = r.failed + sums.failed,
      failed_again = r.failed_again + sums.failed_again,
      -- What comes after its end tells nothing of when it was quiet.
      last_settled_at = case when r.ended_at is null then now() else r.last_settled_at end,
      -- What a policy holds was not taken after all.
      taken = r.taken - sums.superseded - sums.staleness_unknown,
      step_taken = greatest(0, r.step_taken - sums.superseded - sums.staleness_unknown),
      skipped = ${withStale(sql, 'sums')}
    from sums where r.id = ${id}`
  const [run] = await sql<HeldRun[]>`select ${heldColumns(sql)} from dlq.dlq_runs where id = ${id}`
  return run!
}

/** The run as it was last written, for those who change nothing. */
export async function peekRun(sql: Sql, id: string): Promise<HeldRun | null> {
  const [run] = await sql<HeldRun[]>`select ${heldColumns(sql)} from dlq.dlq_runs where id = ${id}`
  return run ?? null
}

type Progressing = Pick<
  HeldRun,
  | 'step'
  | 'cursor'
  | 'is_exhausted'
  | 'step_taken'
  | 'base_resolved'
  | 'base_failed_again'
  | 'is_judged'
  | 'chunk_size'
  | 'taken'
  | 'done'
  | 'withdrawn'
  | 'given_back'
  | 'skipped'
  | 'compared'
>

/** Writes the progress of a locked run. */
export async function writeProgress(sql: Sql, { id, ...run }: Progressing & { id: string }): Promise<void> {
  await sql`
    update dlq.dlq_runs set
      step_entered_at = case when step is distinct from ${run.step}::text then now() else step_entered_at end,
      judged_at = case when ${run.is_judged} then coalesce(case when step = ${run.step}::text then judged_at end, now()) end,
      step = ${run.step}, cursor = ${run.cursor}, is_exhausted = ${run.is_exhausted}, step_taken = ${run.step_taken},
      base_resolved = ${run.base_resolved}, base_failed_again = ${run.base_failed_again},
      is_judged = ${run.is_judged}, chunk_size = ${run.chunk_size}, taken = ${run.taken}, done = ${run.done},
      withdrawn = ${run.withdrawn}, given_back = ${run.given_back}, skipped = ${run.skipped}::text::json,
      compared = ${run.compared}::text::json
    where id = ${id}`
}

/** Changes the status if it is one of `from`. A null reason removes the old one. Returns whether it changed. */
export async function moveRun(
  sql: Sql,
  { id, from, to, reason = null }: { id: string; from: readonly RunStatus[]; to: RunStatus; reason?: string | null },
): Promise<boolean> {
  const isEnd = to === 'completed' || to === 'cancelled' || to === 'failed'
  const result = await sql`
    update dlq.dlq_runs set
      status = ${to},
      -- An erasure may have emptied the selection (eraseRunTexts); an erasure empties its own.
      status_reason = case when ${to} = 'completed' and kind <> 'erase' and selection::text = '{"ids":[]}'
        then ${forgottenSelection} else ${reason} end,
      started_at = case when ${to} = 'running' then coalesce(started_at, now()) else started_at end,
      ended_at = case when ${isEnd} then now() end
    where id = ${id} and status = any(${sql.array([...from])}::text[])`
  return result.count > 0
}

/** Changes the run's rate; null lifts the limit. Returns whether the run has not ended. */
export async function changeRate(
  sql: Sql,
  { id, ratePerSecond }: { id: string; ratePerSecond: number | null },
): Promise<boolean> {
  const result = await sql`
    update dlq.dlq_runs set rate_per_second = ${ratePerSecond} where id = ${id} and ended_at is null`
  return result.count > 0
}

/** A run as people see it, with its latest counts. JSON is text. */
export type RunView = RunCounts & {
  id: string
  kind: RunKind
  is_forced: boolean
  status: RunStatus
  status_reason: string | null
  actor: string
  reason: string | null
  /** A RunSelection with the number of its ids, or of its keys, in place of them. */
  selection: string
  cutoff: Date
  matched: number
  matched_relation: 'eq' | 'gte'
  target_topic: string | null
  patch: string | null
  rate_per_second: number | null
  max_lag: number | null
  staleness: 'send' | null
  canary: string | null
  on_refailure: 'continue' | 'pause' | 'cancel'
  max_refailure: number
  step: string | null
  step_taken: number
  step_entered_at: Date | null
  judged_at: Date | null
  /** When a message of the run was settled last. */
  last_settled_at: Date | null
  saga_id: string | null
  /** JSON text: what became of its messages after they were sent, as they were counted last. */
  verdicts: string | null
  skipped: string
  adopts: boolean
  /** JSON text: how many originals were found in which state. */
  compared: string | null
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
}

/** How much of a patch a list shows; a page has a thousand runs, and a patch up to a mebibyte. */
const listedPatchBytes = 4096

function viewOf(sql: Sql, patch = sql`r.patch`) {
  const numberOf = (name: 'ids' | 'keys') => sql`
    when r.selection -> ${name}::text is not null
      then json_build_object(${name}::text, json_array_length(r.selection -> ${name}::text))`
  // One statement over both tables, so that a count is never missing or doubled while it is folded.
  return sql`
    select r.id, r.kind, r.is_forced, r.status, r.status_reason, r.actor, r.reason,
           case ${numberOf('ids')} ${numberOf('keys')} else r.selection end as selection, r.cutoff, r.matched::float8 as matched,
           r.matched_relation, r.target_topic, ${patch} as patch, r.rate_per_second::float8 as rate_per_second, r.max_lag::float8 as max_lag, r.staleness, r.canary, r.on_refailure,
           r.max_refailure::float8 as max_refailure, r.step, r.step_taken::float8 as step_taken, r.step_entered_at, r.judged_at,
           r.last_settled_at, r.saga_id, ${withStale(sql, 'd')} as skipped, r.adopts, r.compared, r.created_at, ${exactTime(sql, sql`r.created_at`)} as place, r.started_at, r.ended_at,
           (r.taken - d.superseded - d.staleness_unknown)::float8 as taken, r.done::float8 as done, r.withdrawn::float8 as withdrawn, r.given_back::float8 as given_back,
           (r.resolved + d.resolved)::float8 as resolved, (r.failed + d.failed)::float8 as failed,
           (r.failed_again + d.failed_again)::float8 as failed_again,
           (select (v.counts::jsonb || jsonb_build_object('counted_at', v.counted_at))::json
            from dlq.dlq_run_verdicts v where v.run_id = r.id) as verdicts
    from dlq.dlq_runs r
    cross join lateral (
      select coalesce(sum(n) filter (where outcome = 'resolved'), 0) as resolved,
             coalesce(sum(n) filter (where outcome = 'failed'), 0) as failed,
             coalesce(sum(n) filter (where outcome = 'failed_again'), 0) as failed_again,
             ${staleSums(sql)}
      from dlq.dlq_run_deltas d where d.run_id = r.id
    ) d`
}

/** A caller whose topics are limited sees the runs of callers with the same limits. */
function visible(sql: Sql, scope: TopicScope) {
  return scope === null ? sql`true` : sql`r.scope <@ ${sql.array([...scope])}::text[]`
}

export async function getRun(sql: Sql, { id, scope }: { id: string; scope: TopicScope }): Promise<RunView | null> {
  const [run] = await sql<RunView[]>`${viewOf(sql)} where r.id = ${id} and ${visible(sql, scope)}`
  return run ?? null
}

export type RunFilter = {
  status?: readonly RunStatus[] | undefined
  kind?: RunKind | undefined
  actor?: string | undefined
  target_topic?: string | undefined
  /** Runs whose filter names this error group. */
  group_id?: string | undefined
}

/** One page of runs, newest first, and the number of all. */
export async function listRuns(
  sql: Sql,
  {
    scope,
    filter: { status, kind, actor, target_topic: targetTopic, group_id: groupId },
    after = null,
    limit,
    offset = 0,
  }: { scope: TopicScope; filter: RunFilter; after?: TimePlace | null; limit: number; offset?: number },
): Promise<{ runs: (RunView & { place: string })[]; total: number }> {
  const where = sql`
    where ${visible(sql, scope)}
      ${status === undefined ? sql`` : sql`and r.status = any(${sql.array([...status])}::text[])`}
      ${kind === undefined ? sql`` : sql`and r.kind = ${kind}`}
      ${actor === undefined ? sql`` : sql`and r.actor = ${actor}`}
      ${targetTopic === undefined ? sql`` : sql`and r.target_topic = ${targetTopic}`}
      ${groupId === undefined ? sql`` : sql`and r.selection #>> '{filter,group_id}' = ${groupId}`}`
  const runs = await sql<(RunView & { place: string })[]>`
    ${viewOf(sql, sql`case when octet_length(r.patch::text) <= ${listedPatchBytes} then r.patch end`)} ${where}
      ${after === null ? sql`` : sql`and (r.created_at, r.id) < (${after.at}::text::timestamptz, ${after.id}::uuid)`}
    order by r.created_at desc, r.id desc limit ${limit} offset ${offset}`
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from dlq.dlq_runs r ${where}`
  return { runs: [...runs], total: row!.total }
}

/** The runs that have not ended: how many are in each status, and the sums of their counts. */
export async function countRuns(sql: Sql): Promise<{ statuses: Record<string, number>; counts: RunCounts }> {
  const runs = await sql<(RunCounts & { status: RunStatus })[]>`
    select status, taken, done, resolved, failed, failed_again, withdrawn, given_back
    from (${viewOf(sql)} where r.ended_at is null) run`
  const statuses: Record<string, number> = {}
  const counts = { taken: 0, done: 0, resolved: 0, failed: 0, failed_again: 0, withdrawn: 0, given_back: 0 }
  for (const run of runs) {
    statuses[run.status] = (statuses[run.status] ?? 0) + 1
    for (const key of Object.keys(counts) as (keyof RunCounts)[]) counts[key] += run[key]
  }
  return { statuses, counts }
}

/** Deletes runs that ended before `before`, with the ids that they skipped. Returns how many. */
export async function deleteOldRuns(sql: Sql, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const result = await sql`
    delete from dlq.dlq_runs where id in (
      select id from dlq.dlq_runs where created_at < ${before} and ended_at < ${before} order by created_at limit ${limit})`
  return result.count
}
