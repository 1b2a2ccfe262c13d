// dlq_cron_jobs and dlq_cron_runs: the cron jobs, their next ticks, and their executions with results.

import type { Sql } from '../sql.ts'
import { addJob } from './workers.ts'

/** The task of graphile-worker that runs a cron job. */
export function cronTask(name: string): string {
  return `cron_${name}`
}

export type CronJobRow = { name: string; schedule: string | null; next_tick: Date | null }

/** Stores the schedules of the cron jobs. All retriers have the same jobs and configuration. */
export async function writeCronJobs(sql: Sql, jobs: readonly CronJobRow[]): Promise<void> {
  for (const { name, schedule, next_tick } of jobs) {
    await sql`
      insert into dlq.dlq_cron_jobs as known (name, schedule, next_tick) values (${name}, ${schedule}, ${next_tick})
      on conflict (name) do update set schedule = excluded.schedule, next_tick = excluded.next_tick
      where (known.schedule, known.next_tick) is distinct from (excluded.schedule, excluded.next_tick)`
  }
}

export type CronRunKey = { job: string; tick: Date }

/**
 * Begins an execution, or continues it after a crash. Null where it has ended already: a job whose end could not be
 * stored gets another try.
 */
export async function beginCronRun(
  sql: Sql,
  { job, tick, retrier }: CronRunKey & { retrier: string },
): Promise<{ attempts: number } | null> {
  const [row] = await sql<{ attempts: number }[]>`
    insert into dlq.dlq_cron_runs as run (job, tick, retrier, attempts, started_at)
    values (${job}, ${tick}, ${retrier}, 1, now())
    on conflict (job, tick) do update set
      retrier = excluded.retrier, attempts = run.attempts + 1, started_at = coalesce(run.started_at, now())
    where run.finished_at is null
    returning attempts`
  return row ?? null
}

/** Stores the result of an execution. `result` is a small object for people. */
export async function finishCronRun(sql: Sql, { job, tick, result }: CronRunKey & { result: object }): Promise<void> {
  await sql`
    update dlq.dlq_cron_runs set
      finished_at = now(), outcome = 'done', result = ${JSON.stringify(result)}::text::jsonb, error = null
    where job = ${job} and tick = ${tick} and finished_at is null`
}

/** Stores why an execution failed. `isLast`: it gets no other try. */
export async function failCronRun(
  sql: Sql,
  { job, tick, error, isLast }: CronRunKey & { error: string; isLast: boolean },
): Promise<void> {
  await sql`
    update dlq.dlq_cron_runs set
      error = ${error},
      finished_at = case when ${isLast}::boolean then now() end,
      outcome = case when ${isLast}::boolean then 'failed' end
    where job = ${job} and tick = ${tick} and finished_at is null`
}

/**
 * Ends executions whose last try died with its retrier, or could not store its failure: their jobs are spent, so nobody
 * goes on with them. While a job of the same task waits or runs, it may be theirs. Returns those that it ended.
 */
export async function endLostCronRuns(sql: Sql): Promise<(CronRunKey & { error: string })[]> {
  return sql<(CronRunKey & { error: string })[]>`
    update dlq.dlq_cron_runs run set
      finished_at = now(), outcome = 'failed', error = coalesce(error, 'its last try did not end: its retrier died')
    where finished_at is null and not exists (
      select from graphile_worker.jobs j
      where j.task_identifier = ${cronTask('')} || run.job and (j.locked_at is not null or j.attempts < j.max_attempts))
    returning job, tick, error`
}

/** Requests an execution now, in the caller's transaction. Returns its tick. Null where no retrier ever had such a job. */
export async function requestCronRun(
  sql: Sql,
  { job, actor, now }: { job: string; actor: string; now: Date },
): Promise<Date | null> {
  const [row] = await sql<{ tick: Date }[]>`
    insert into dlq.dlq_cron_runs (job, tick, requested_by)
    select name, ${now}, ${actor} from dlq.dlq_cron_jobs where name = ${job}
    -- Two requests within a millisecond are one execution.
    on conflict (job, tick) do update set requested_by = excluded.requested_by
    returning tick`
  if (!row) return null
  await addJob(sql, {
    task: cronTask(job),
    payload: { tick: row.tick.toISOString() },
    queue: cronTask(job),
    maxAttempts: 3,
  })
  return row.tick
}

export type CronRun = {
  tick: Date
  requested_by: string | null
  retrier: string | null
  attempts: number
  started_at: Date | null
  finished_at: Date | null
  duration_ms: number | null
  outcome: 'done' | 'failed' | null
  /** JSON text. */
  result: string | null
  error: string | null
}

function runColumns(sql: Sql) {
  return sql`
    tick, requested_by, retrier, attempts, started_at, finished_at,
    round(extract(epoch from finished_at - started_at) * 1000)::int as duration_ms, outcome, result, error`
}

/** The job's executions, the newest first. */
export async function listCronRuns(sql: Sql, { job, limit }: { job: string; limit: number }): Promise<CronRun[]> {
  return sql<CronRun[]>`
    select ${runColumns(sql)} from dlq.dlq_cron_runs where job = ${job} order by tick desc limit ${limit}`
}

export type CronJobView = CronJobRow & {
  /** The last execution that ended. */
  last: CronRun | null
  /** An execution that is under way or waits. */
  current: CronRun | null
}

/** Every cron job with its last execution and the one under way. */
export async function listCronJobs(sql: Sql): Promise<CronJobView[]> {
  const jobs = await sql<CronJobRow[]>`select name, schedule, next_tick from dlq.dlq_cron_jobs order by name`
  const views: CronJobView[] = []
  for (const job of jobs) {
    const [last] = await sql<CronRun[]>`
      select ${runColumns(sql)} from dlq.dlq_cron_runs
      where job = ${job.name} and finished_at is not null order by tick desc limit 1`
    const [current] = await sql<CronRun[]>`
      select ${runColumns(sql)} from dlq.dlq_cron_runs
      where job = ${job.name} and finished_at is null order by tick desc limit 1`
    views.push({ ...job, last: last ?? null, current: current ?? null })
  }
  return views
}

/** When each job last succeeded, in seconds since 1970; its first tick where it never has, which would else be no alarm. */
export async function lastCronSuccesses(sql: Sql): Promise<{ job: string; at: number }[]> {
  return sql<{ job: string; at: number }[]>`
    select job, extract(epoch from coalesce(max(finished_at) filter (where outcome = 'done'), min(tick)))::float8 as at
    from dlq.dlq_cron_runs group by job`
}

/**
 * Deletes executions from before `before`, except of each job the last one that ended, and the last one that succeeded or,
 * where none did, the first. Returns how many.
 */
export async function deleteOldCronRuns(sql: Sql, before: Date): Promise<number> {
  const result = await sql`
    with kept as materialized (
      select job, max(tick) filter (where finished_at is not null) as last,
             coalesce(max(tick) filter (where outcome = 'done'), min(tick)) as success
      from dlq.dlq_cron_runs group by job
    )
    delete from dlq.dlq_cron_runs run using kept
    where kept.job = run.job and run.tick < ${before} and run.tick < kept.last and run.tick <> kept.success`
  return result.count
}
