// dlq_workers: which of graphile-worker's pools live; and graphile_worker, as far as they own its jobs. Of
// graphile-worker only what is documented is used: its view "jobs" and its functions.

import type { Sql } from './sql.ts'

/** Writes down that the pool lives. Before that it must not take a job: nobody would notice its death. */
export async function registerWorker(sql: Sql, { id, retrier }: { id: string; retrier: string }): Promise<void> {
  await sql`insert into dlq.dlq_workers (id, retrier) values (${id}, ${retrier})`
}

/** Says that the pool still lives. False where it was taken for dead, and its jobs were given back. */
export async function beatWorker(sql: Sql, id: string): Promise<boolean> {
  const result = await sql`update dlq.dlq_workers set seen_at = now() where id = ${id}`
  return result.count > 0
}

/** Takes the pool off the list and gives back what it still holds, such as a job whose end could not be written. */
export async function forgetWorker(sql: Sql, id: string): Promise<void> {
  await sql`
    with gone as (delete from dlq.dlq_workers where id = ${id})
    select graphile_worker.force_unlock_workers(array[${id}::text])`
}

export type ReleasedJob = {
  id: bigint
  task: string
  /** It has no attempt left: nobody will take it again. */
  is_spent: boolean
}

/**
 * Gives back the jobs of pools that were not seen for `leaseMs`, and of pools that nobody knows. The attempt
 * stays counted, so a job that kills its worker ends after its attempts.
 */
export async function releaseDeadWorkers(sql: Sql, { leaseMs }: { leaseMs: number }): Promise<ReleasedJob[]> {
  return sql<ReleasedJob[]>`
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
      -- The queues as well, hence by the pools and not by the jobs.
      select graphile_worker.force_unlock_workers(array(
        select id from dead union select locked_by from left_behind))
    )
    select id, task, is_spent from left_behind, unlocked order by id`
}

export type JobCounts = {
  /** Due, and nobody works on them yet. */
  waiting: number
  running: number
  /** Due later. */
  scheduled: number
  /** No attempt is left; nobody will take them again. */
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

/** Whether db/migrate.ts has made graphile-worker's schema. */
export async function hasWorkerSchema(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ has_schema: boolean }[]>`
    select to_regclass('graphile_worker.jobs') is not null as has_schema`
  return row!.has_schema
}

/** Whether the connections of this pool use TLS: what "prefer" came to, only the server can tell. */
export async function isEncrypted(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
  return row!.ssl
}

/** Deletes jobs that failed for good before that time: they are in the way of those who look for work. Returns how many. */
export async function deleteFailedJobs(sql: Sql, before: Date): Promise<number> {
  const [row] = await sql<{ deleted: number }[]>`
    select count(*)::int as deleted from graphile_worker.complete_jobs(array(
      select id from graphile_worker.jobs where locked_at is null and attempts >= max_attempts and updated_at < ${before}))`
  return row!.deleted
}

export type NewJob = {
  task: string
  payload: object
  /** A job of the same key that waits is replaced by this one; one that runs is not. */
  key?: string
  /** Jobs of one queue run one after the other. Few names only: each job fetched looks at all of them. */
  queue?: string
  runAt?: Date
  /** Lower ones go first. */
  priority?: number
  maxAttempts?: number
}

/** Enters a job, in the caller's transaction if there is one. Returns its id. */
export async function addJob(sql: Sql, job: NewJob): Promise<bigint> {
  const { task, payload, key = null, queue = null, runAt = null, priority = null, maxAttempts = null } = job
  // Where a worker takes the waiting job of that key at just this moment, add_job() adds nothing and returns
  // null (github.com/graphile/worker/issues/580). Asked again it sees that the job runs, and adds a second one.
  for (let tries = 0; tries < 10; tries += 1) {
    const [row] = await sql<{ id: bigint | null }[]>`
      select id from graphile_worker.add_job(
        ${task}, payload => ${JSON.stringify(payload)}::text::json, queue_name => ${queue}, run_at => ${runAt},
        max_attempts => ${maxAttempts}::int, job_key => ${key}, priority => ${priority}::int)`
    if (row && row.id !== null) return row.id
  }
  throw new Error(`the job ${task} of key ${key} could not be added: the one that waits was taken each time`)
}
