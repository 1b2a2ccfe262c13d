// The database's clock, by which leases and looks are due. After it was set back, or another server took over whose clock
// is behind, what was due soon is due in hours. So are cron jobs after the clock of a retrier was ahead.

import type { Sql } from '../sql.ts'

/** The time of the database, in milliseconds since 1970. */
export async function readDatabaseClock(sql: Sql): Promise<number> {
  const [row] = await sql<[{ ms: number }]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`
  return row.ms
}

/** "table.column" → how many of its rows were changed, where there were any. */
export type MendedTimes = Record<string, number>

/**
 * Mends times that only a clock ahead of the present one can have written: those of leases, looks and signs of life that
 * lie more than `beyondMs` in the future. A look is due now. A lease ends after `leaseMs`, so that a holder who lives has
 * time to renew it. When messages are due stays as it is, because people and applications choose that too.
 *
 * @param beyondMs more than any lease lasts, and any look waits for
 */
export async function mendFutureTimes(
  sql: Sql,
  { beyondMs, leaseMs }: { beyondMs: number; leaseMs: number },
): Promise<MendedTimes> {
  const present = sql`now()`
  const leaseEnd = sql`now() + ${leaseMs}::float8 * interval '1 ms'`
  const places = [
    ['dlq_slots', 'owner_until', leaseEnd],
    ['dlq_retriers', 'seen_at', present],
    ['dlq_ingesters', 'seen_at', present],
    ['dlq_workers', 'seen_at', present],
    ['dlq_topics', 'look_due_at', present],
    ['dlq_candidates', 'look_due_at', present],
    ['dlq_staleness_cursors', 'look_due_at', present],
    ['dlq_reader_watch', 'look_due_at', present],
    ['dlq_reader_watch', 'looked_at', present],
    ['dlq_event_watch', 'look_due_at', present],
    ['dlq_event_watch', 'looked_at', present],
  ] as const
  const mended: MendedTimes = {}
  // One statement each, so that none holds a row while it waits for another one.
  for (const [table, column, value] of places) {
    const { count } = await sql`
      update dlq.${sql(table)} set ${sql(column)} = ${value}
      where ${sql(column)} > now() + ${beyondMs}::float8 * interval '1 ms'`
    if (count > 0) mended[`${table}.${column}`] = count
  }
  const runs = await mendRuns(sql, beyondMs)
  if (runs > 0) mended['dlq_runs.last_settled_at'] = runs
  const crontabs = await mendCronTimes(sql, beyondMs)
  if (crontabs > 0) mended['known_crontabs.last_execution'] = crontabs
  const jobs = await mendRunJobs(sql, beyondMs)
  if (jobs > 0) mended['jobs.run_at'] = jobs
  return mended
}

/** Since when a run is quiet, and since when its canary is read: a canary would wait for as much longer. */
async function mendRuns(sql: Sql, beyondMs: number): Promise<number> {
  const beyond = sql`now() + ${beyondMs}::float8 * interval '1 ms'`
  const { count } = await sql`
    update dlq.dlq_runs set
      last_settled_at = case when last_settled_at > ${beyond} then now() else last_settled_at end,
      read_at = case when read_at > ${beyond} then now() else read_at end
    where ended_at is null and (last_settled_at > ${beyond} or read_at > ${beyond})`
  return count
}

/** The next step of a run waits for seconds at most. Other jobs may be meant for later, as notifications are. */
async function mendRunJobs(sql: Sql, beyondMs: number): Promise<number> {
  const [row] = await sql<[{ mended: number }]>`
    select count(*)::int as mended from graphile_worker.reschedule_jobs(run_at => now(), job_ids => array(
      select id from graphile_worker.jobs
      -- Where the job itself has failed, the recovery of runs makes it due.
      where task_identifier like 'saga/run.%' and locked_at is null and last_error is null
        and run_at > now() + ${beyondMs}::float8 * interval '1 ms'))`
  return row.mended
}

/**
 * graphile-worker schedules the ticks of a cron job that come after the last one, by the clock of each retrier. One whose
 * clock was a month ahead, for a minute, would let no job run for a month. A tick that it has scheduled too early is
 * performed when it is due, and once: dlq_cron_runs knows it.
 */
async function mendCronTimes(sql: Sql, beyondMs: number): Promise<number> {
  const { count } = await sql`
    update graphile_worker._private_known_crontabs set last_execution = now()
    where last_execution > now() + ${beyondMs}::float8 * interval '1 ms'`
  return count
}
