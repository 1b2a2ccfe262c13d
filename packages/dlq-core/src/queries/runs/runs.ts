// dlq_runs: bulk operations, and how far each one is.

import type { RunCounts, RunKind, RunStatus } from '../run.ts'
import type { Sql } from './sql.ts'
import type { TopicScope } from './topic-scope.ts'

export type NewRun = {
  kind: RunKind
  actor: string
  reason: string | null
  /** JSON text of a RunSelection. */
  selection: string
  scope: TopicScope
  /** As `freezeNow` gave it. */
  cutoff: string
  untilId: string
  matched: number
  matchedRelation: 'eq' | 'gte'
  retryAllTopic: string | null
  targetTopic: string | null
  /** JSON text of a JSON Patch. */
  patch: string | null
  ratePerSecond: number | null
  /** JSON text of a Canary. */
  canary: string | null
  onRefailure: 'continue' | 'pause' | 'cancel'
  maxRefailure: number
}

/** This moment as the database has it, as text with its microseconds: what arrives later is not a run's business. */
export async function freezeNow(sql: Sql): Promise<string> {
  const [row] = await sql<{ now: string }[]>`select clock_timestamp()::text as now`
  return row!.now
}

/** Enters a run. Null where another run retries all of the same topic. */
export async function insertRun(sql: Sql, run: NewRun): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    insert into dlq.dlq_runs (
      kind, actor, reason, selection, scope, cutoff, until_id, matched, matched_relation, retry_all_topic, target_topic, patch,
      rate_per_second, canary, on_refailure, max_refailure)
    values (
      ${run.kind}, ${run.actor}, ${run.reason}, ${run.selection}::text::json,
      ${run.scope === null ? null : sql.array([...run.scope])}::text[], ${run.cutoff}::text::timestamptz, ${run.untilId},
      ${run.matched}, ${run.matchedRelation}, ${run.retryAllTopic}, ${run.targetTopic}, ${run.patch}::text::json,
      ${run.ratePerSecond}, ${run.canary}::text::json, ${run.onRefailure}, ${run.maxRefailure})
    on conflict (retry_all_topic) where ended_at is null do nothing
    returning id`
  return row?.id ?? null
}

/** The run that retries all of the topic right now. */
export async function findRetryAll(sql: Sql, topic: string): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id from dlq.dlq_runs where retry_all_topic = ${topic} and ended_at is null`
  return row?.id ?? null
}

/** What carries a run on works with this. */
export type HeldRun = RunCounts & {
  id: string
  kind: RunKind
  status: RunStatus
  statusReason: string | null
  actor: string
  reason: string | null
  selection: string
  scope: string[] | null
  cutoff: string
  untilId: string
  matched: number
  patch: string | null
  canary: string | null
  onRefailure: 'continue' | 'pause' | 'cancel'
  maxRefailure: number
  step: string | null
  cursor: string | null
  isExhausted: boolean
  stepTaken: number
  baseResolved: number
  baseFailedAgain: number
  isJudged: boolean
  chunkSize: number
  skipped: string
  /** Since something was settled last. */
  quietMs: number
}

function heldColumns(sql: Sql) {
  return sql`
    id, kind, status, status_reason as "statusReason", actor, reason, selection, scope, cutoff::text as cutoff, until_id as "untilId", matched::float8 as matched,
    patch, canary, on_refailure as "onRefailure", max_refailure::float8 as "maxRefailure",
    step, cursor, is_exhausted as "isExhausted", step_taken::float8 as "stepTaken",
    base_resolved::float8 as "baseResolved", base_failed_again::float8 as "baseFailedAgain", is_judged as "isJudged",
    chunk_size as "chunkSize", taken::float8 as taken, done::float8 as done, resolved::float8 as resolved,
    failed::float8 as failed, failed_again::float8 as "failedAgain", withdrawn::float8 as withdrawn,
    given_back::float8 as "givenBack", skipped,
    extract(epoch from clock_timestamp() - coalesce(last_settled_at, started_at, created_at))::float8 * 1000 as "quietMs"`
}

/** Locks the run, with what became of its messages until now counted into it. Null where there is none. */
export async function holdRun(sql: Sql, id: string): Promise<HeldRun | null> {
  const [locked] = await sql`select id from dlq.dlq_runs where id = ${id} for update`
  if (!locked) return null
  // A statement of its own, because its snapshot has to be of after the wait for the lock.
  await sql`
    with gone as (
      delete from dlq.dlq_run_deltas where run_id = ${id} returning outcome, n
    ),
    sums as materialized (
      select coalesce(sum(n) filter (where outcome = 'resolved'), 0) as resolved,
             coalesce(sum(n) filter (where outcome = 'failed'), 0) as failed,
             coalesce(sum(n) filter (where outcome = 'failed_again'), 0) as failed_again
      from gone having count(*) > 0
    )
    update dlq.dlq_runs r set
      resolved = r.resolved + sums.resolved, failed = r.failed + sums.failed,
      failed_again = r.failed_again + sums.failed_again, last_settled_at = now()
    from sums where r.id = ${id}`
  const [run] = await sql<HeldRun[]>`select ${heldColumns(sql)} from dlq.dlq_runs where id = ${id}`
  return run!
}

type Progressing = Pick<
  HeldRun,
  | 'step'
  | 'cursor'
  | 'isExhausted'
  | 'stepTaken'
  | 'baseResolved'
  | 'baseFailedAgain'
  | 'isJudged'
  | 'chunkSize'
  | 'taken'
  | 'done'
  | 'withdrawn'
  | 'givenBack'
  | 'skipped'
>

/** Writes how far a held run is. */
export async function writeProgress(sql: Sql, { id, ...run }: Progressing & { id: string }): Promise<void> {
  await sql`
    update dlq.dlq_runs set
      step = ${run.step}, cursor = ${run.cursor}, is_exhausted = ${run.isExhausted}, step_taken = ${run.stepTaken},
      base_resolved = ${run.baseResolved}, base_failed_again = ${run.baseFailedAgain},
      is_judged = ${run.isJudged}, chunk_size = ${run.chunkSize}, taken = ${run.taken}, done = ${run.done},
      withdrawn = ${run.withdrawn}, given_back = ${run.givenBack}, skipped = ${run.skipped}::text::json
    where id = ${id}`
}

/** Changes the status where it is one of `from`. A null reason takes the old one away. Returns whether it was. */
export async function moveRun(
  sql: Sql,
  { id, from, to, reason = null }: { id: string; from: readonly RunStatus[]; to: RunStatus; reason?: string | null },
): Promise<boolean> {
  const isEnd = to === 'completed' || to === 'cancelled' || to === 'failed'
  const result = await sql`
    update dlq.dlq_runs set
      status = ${to}, status_reason = ${reason},
      started_at = case when ${to} = 'running' then coalesce(started_at, now()) else started_at end,
      ended_at = case when ${isEnd} then now() end
    where id = ${id} and status = any(${sql.array([...from])}::text[])`
  return result.count > 0
}

/** Lets a queued run begin, unless so many run already. In turn with all others who ask. */
export async function admitRun(sql: Sql, { id, maxActive }: { id: string; maxActive: number }): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended('dlq.admit_run', 0))`
  const [row] = await sql<{ active: number }[]>`
    select count(*)::int as active from dlq.dlq_runs where ended_at is null and status in ('running', 'cancelling')`
  return row!.active < maxActive && (await moveRun(sql, { id, from: ['queued'], to: 'running' }))
}

/** Null lifts the limit. Returns whether the run goes on, so that it means something. */
export async function changeRate(
  sql: Sql,
  { id, ratePerSecond }: { id: string; ratePerSecond: number | null },
): Promise<boolean> {
  const result = await sql`
    update dlq.dlq_runs set rate_per_second = ${ratePerSecond} where id = ${id} and ended_at is null`
  return result.count > 0
}

/** A run as people see it; what was counted last included. JSON is text. */
export type RunView = RunCounts & {
  id: string
  kind: RunKind
  status: RunStatus
  status_reason: string | null
  actor: string
  reason: string | null
  selection: string
  cutoff: Date
  matched: number
  matched_relation: 'eq' | 'gte'
  target_topic: string | null
  patch: string | null
  rate_per_second: number | null
  canary: string | null
  on_refailure: 'continue' | 'pause' | 'cancel'
  step: string | null
  skipped: string
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
}

function viewOf(sql: Sql) {
  // One statement over both, so that a count is never missing nor there twice while it is folded.
  return sql`
    select r.id, r.kind, r.status, r.status_reason, r.actor, r.reason, r.selection, r.cutoff, r.matched::float8 as matched,
           r.matched_relation, r.target_topic, r.patch, r.rate_per_second::float8 as rate_per_second, r.canary, r.on_refailure,
           r.step, r.skipped, r.created_at, r.started_at, r.ended_at,
           r.taken::float8 as taken, r.done::float8 as done, r.withdrawn::float8 as withdrawn, r.given_back::float8 as "givenBack",
           (r.resolved + d.resolved)::float8 as resolved, (r.failed + d.failed)::float8 as failed,
           (r.failed_again + d.failed_again)::float8 as "failedAgain"
    from dlq.dlq_runs r
    cross join lateral (
      select coalesce(sum(n) filter (where outcome = 'resolved'), 0) as resolved,
             coalesce(sum(n) filter (where outcome = 'failed'), 0) as failed,
             coalesce(sum(n) filter (where outcome = 'failed_again'), 0) as failed_again
      from dlq.dlq_run_deltas d where d.run_id = r.id
    ) d`
}

/** Whose topics are limited sees the runs of those with the same limits. */
function visible(sql: Sql, scope: TopicScope) {
  return scope === null ? sql`true` : sql`r.scope <@ ${sql.array([...scope])}::text[]`
}

export async function getRun(sql: Sql, { id, scope }: { id: string; scope: TopicScope }): Promise<RunView | null> {
  const [run] = await sql<RunView[]>`${viewOf(sql)} where r.id = ${id} and ${visible(sql, scope)}`
  return run ?? null
}

/** One page, newest first, and how many there are. */
export async function listRuns(
  sql: Sql,
  {
    scope,
    status,
    kind,
    limit,
    offset,
  }: { scope: TopicScope; status?: RunStatus | undefined; kind?: RunKind | undefined; limit: number; offset: number },
): Promise<{ runs: RunView[]; total: number }> {
  const where = sql`
    where ${visible(sql, scope)}
      ${status === undefined ? sql`` : sql`and r.status = ${status}`} ${kind === undefined ? sql`` : sql`and r.kind = ${kind}`}`
  const runs = await sql<
    RunView[]
  >`${viewOf(sql)} ${where} order by r.created_at desc, r.id limit ${limit} offset ${offset}`
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from dlq.dlq_runs r ${where}`
  return { runs: [...runs], total: row!.total }
}

/** The runs that have not ended: how many are in each status, and what became of their messages together. */
export async function countRuns(sql: Sql): Promise<{ statuses: Record<string, number>; counts: RunCounts }> {
  const runs = await sql<RunView[]>`${viewOf(sql)} where r.ended_at is null`
  const statuses: Record<string, number> = {}
  const counts = { taken: 0, done: 0, resolved: 0, failed: 0, failedAgain: 0, withdrawn: 0, givenBack: 0 }
  for (const run of runs) {
    statuses[run.status] = (statuses[run.status] ?? 0) + 1
    for (const key of Object.keys(counts) as (keyof RunCounts)[]) counts[key] += run[key]
  }
  return { statuses, counts }
}

/** Deletes runs that ended before that time, with what they skipped. Returns how many. */
export async function deleteOldRuns(sql: Sql, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const result = await sql`
    delete from dlq.dlq_runs where id in (
      select id from dlq.dlq_runs where created_at < ${before} and ended_at < ${before} order by created_at limit ${limit})`
  return result.count
}
