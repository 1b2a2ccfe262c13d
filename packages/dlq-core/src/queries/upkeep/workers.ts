// dlq_workers: graphile-worker's live pools; and graphile_worker: the jobs that pools have locked. This uses only the
// documented parts of graphile-worker: its view "jobs" and its functions.

import type { Sql } from '../sql.ts'

/** Stores that the pool is alive. It must not take a job before that, because its death would go unnoticed. */
export async function registerWorker(sql: Sql, { id, retrier }: { id: string; retrier: string }): Promise<void> {
  await sql`insert into dlq.dlq_workers (id, retrier) values (${id}, ${retrier})`
}

/** Notes that the pool is still alive. False where a sweep declared it dead and gave its jobs back. */
export async function beatWorker(sql: Sql, id: string): Promise<boolean> {
  const result = await sql`update dlq.dlq_workers set seen_at = now() where id = ${id}`
  return result.count > 0
}

/** Deletes the pool's row and gives its jobs back, for example one whose end could not be stored. */
export async function forgetWorker(sql: Sql, id: string): Promise<void> {
  await sql`
    with gone as (delete from dlq.dlq_workers where id = ${id})
    select graphile_worker.force_unlock_workers(array[${id}::text])`
}

export type ReleasedJob = {
  id: bigint
  task: string
  /** Whether the job has no try left, so that no worker takes it again. */
  is_spent: boolean
}

/**
 * Gives back the jobs of pools that were not seen for `leaseMs`, and of pools without a row. The try stays counted, so
 * a job that kills its worker ends after its last try. A job that was replaced is deleted, and not returned.
 */
export async function releaseDeadWorkers(sql: Sql, { leaseMs }: { leaseMs: number }): Promise<ReleasedJob[]> {
  const released = await sql<ReleasedJob[]>`
    with dead as materialized (
      delete from dlq.dlq_workers where seen_at < now() - ${leaseMs}::int * interval '1 ms' returning id
    ),
    left_behind as materialized (
      select j.id, j.task_identifier as task, j.attempts >= j.max_attempts as is_spent, j.locked_by
      from graphile_worker.jobs j
      where j.locked_by in (select id from dead)
         or (j.locked_at < now() - ${leaseMs}::int * interval '1 ms'
             and not exists (select from dlq.dlq_workers w where w.id = j.locked_by))
    ),
    unlocked as materialized (
      -- By pool and not by job, because this also unlocks the queues.
      select graphile_worker.force_unlock_workers(array(
        select id from dead union select locked_by from left_behind))
    ),
    counted as (
      insert into dlq.dlq_job_deaths as d (job_id, deaths) select id, 1 from left_behind
      on conflict (job_id) do update set deaths = d.deaths + 1, last_at = now()
    ),
    forgotten as (
      delete from dlq.dlq_job_deaths
      where last_at < now() - interval '7 days' and job_id not in (select id from left_behind)
    )
    select id, task, is_spent from left_behind, unlocked order by id`
  const replaced = new Set(await deleteReplacedJobs(sql))
  return released.filter(({ id }) => !replaced.has(id))
}

/**
 * A saga's job whose pool died after it had added the next one. It was locked then, so graphile-worker took its key and its
 * tries from it instead of deleting it: it would count as failed, and nobody has to repair anything.
 */
async function deleteReplacedJobs(sql: Sql): Promise<bigint[]> {
  const rows = await sql<{ id: bigint }[]>`
    select id from graphile_worker.complete_jobs(array(
      select id from graphile_worker.jobs
      where locked_at is null and attempts >= max_attempts and key is null and starts_with(task_identifier, 'saga/')))`
  return rows.map(({ id }) => id)
}

/** How often the job was given back because its worker died, within the last days. */
export async function countJobDeaths(sql: Sql, jobId: string): Promise<number> {
  const [row] = await sql<{ deaths: number }[]>`
    select deaths from dlq.dlq_job_deaths where job_id = ${jobId}::text::bigint`
  return row?.deaths ?? 0
}

export type JobCounts = {
  /** Due, and no worker has taken them yet. */
  waiting: number
  running: number
  /** Due later. */
  scheduled: number
  /** Without a try left, so that no worker takes them again. */
  failed: number
}

export async function countJobs(sql: Sql): Promise<JobCounts> {
  const [row] = await sql<[JobCounts]>`
    select
      count(*) filter (where locked_at is null and attempts < max_attempts and run_at <= now())::int as waiting,
      count(*) filter (where locked_at is not null)::int as running,
      count(*) filter (where locked_at is null and attempts < max_attempts and run_at > now())::int as scheduled,
      count(*) filter (where locked_at is null and attempts >= max_attempts)::int as failed
    from graphile_worker.jobs`
  return row
}

export const workerSchemaMissing = 'the schema graphile_worker is missing: run db/migrate.ts up'

/** Whether the connections of this pool use TLS. With "prefer", only the server can tell. */
export async function isEncrypted(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
  return row!.ssl
}

/** Deletes jobs whose last try failed before `before`, because they slow the search for work. Returns how many. */
export async function deleteFailedJobs(sql: Sql, before: Date): Promise<number> {
  const [row] = await sql<{ deleted: number }[]>`
    select count(*)::int as deleted from graphile_worker.complete_jobs(array(
      select id from graphile_worker.jobs where locked_at is null and attempts >= max_attempts and updated_at < ${before}))`
  return row!.deleted
}

export type NewJob = {
  task: string
  payload: object
  /** This job replaces a waiting job of the same key, but not a running one. */
  key?: string
  /** Jobs of one queue run one after the other. Use few names, because each fetch of a job reads all of them. */
  queue?: string
  runAt?: Date
  /** Lower numbers go first. */
  priority?: number
  maxAttempts?: number
}

/** Adds a job, in the caller's transaction if there is one. Returns its id. */
export async function addJob(sql: Sql, job: NewJob): Promise<bigint> {
  const { task, payload, key = null, queue = null, runAt = null, priority = null, maxAttempts = null } = job
  // If a worker takes the waiting job of that key at the same moment, add_job() adds no job and returns null
  // (github.com/graphile/worker/issues/580). The second call sees that the job runs, and adds another one.
  for (let tries = 0; tries < 10; tries += 1) {
    const [row] = await sql<{ id: bigint | null }[]>`
      select id from graphile_worker.add_job(
        ${task}, payload => ${JSON.stringify(payload)}::text::json, queue_name => ${queue}, run_at => ${runAt},
        max_attempts => ${maxAttempts}::int, job_key => ${key}, priority => ${priority}::int)`
    if (row && row.id !== null) return row.id
  }
  throw new Error(`the job ${task} of key ${key} could not be added: a worker took the waiting one each time`)
}
