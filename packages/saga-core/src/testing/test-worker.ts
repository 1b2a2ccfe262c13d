// A worker for tests: claims saga jobs as graphile-worker does, one at a time and without waiting for their
// time to come, so that a test decides what happens when. A job whose run "crashes" stays locked, as that of
// a process that died; `release` is what a heartbeat does about it.
import type postgres from 'postgres'
import { runSagaJob } from '../run-saga-job.ts'
import { type SagaJobPayload, taskIdentifier } from '../store/saga-jobs.ts'
import type { Pool } from '../store/sql.ts'
import type { Workflow } from '../workflow.ts'

export type ClaimedJob = { id: string; attempts: number; payload: SagaJobPayload }

/** Claims the workflow's first unlocked job, whether it is due or not. */
export async function claimJob(sql: postgres.Sql, workflow: Workflow): Promise<ClaimedJob | null> {
  const [job] = await sql<{ id: string; attempts: number; payload: string }[]>`
    update graphile_worker._private_jobs j set locked_at = now(), locked_by = 'test', attempts = attempts + 1
    where id = (
      select p.id from graphile_worker._private_jobs p join graphile_worker._private_tasks t on t.id = p.task_id
      where t.identifier = ${taskIdentifier(workflow.name)} and p.is_available
      order by p.run_at, p.id limit 1)
    returning j.id::text as id, j.attempts, j.payload::text as payload`
  return job ? { ...job, payload: JSON.parse(job.payload) } : null
}

export async function runClaimed(
  { sql, workflow, pool }: { sql: postgres.Sql; workflow: Workflow; pool: Pool },
  job: ClaimedJob,
  { signal = new AbortController().signal, deaths = 0 }: { signal?: AbortSignal; deaths?: number } = {},
): Promise<void> {
  await runSagaJob({ sql: pool, workflow }, job.payload, { jobId: job.id, claims: job.attempts, deaths, signal })
  await sql`delete from graphile_worker._private_jobs where id = ${job.id}`
}

/** Gives back the jobs of dead processes. */
export async function releaseJobs(sql: postgres.Sql): Promise<void> {
  await sql`select graphile_worker.force_unlock_workers(array['test'])`
}

/** Performs the workflow's jobs until there are none. Returns their number. */
export async function runAll(worker: { sql: postgres.Sql; workflow: Workflow; pool: Pool }): Promise<number> {
  let ran = 0
  for (
    let job = await claimJob(worker.sql, worker.workflow);
    job !== null;
    job = await claimJob(worker.sql, worker.workflow)
  ) {
    await runClaimed(worker, job)
    ran += 1
  }
  return ran
}
