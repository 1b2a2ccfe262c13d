// The jobs of sagas in graphile-worker. One job of a saga counts: the one that holds its key. A caller that adds a
// job has locked the saga's row, so that lock settles which job holds the key. A job that lost the key (its process
// was taken for dead, for example) notices that before it changes anything.

import type { Task } from '../decide.ts'
import type { Sql, Transaction } from './sql.ts'

export type SagaJobPayload = { readonly sagaId: string; readonly task: Task }

/** Above every tolerated number of crashes, so graphile-worker itself never gives a job up. */
const maxAttempts = 32_000

export function taskIdentifier(workflow: string): string {
  return `saga/${workflow}`
}

/**
 * Adds the saga's job, in place of any other. If another session has just locked the old job, the old one stays
 * and nothing is added; that job then waits for the saga's row, and reads what the caller wrote.
 */
export async function addSagaJob(
  sql: Transaction,
  {
    sagaId,
    workflow,
    task,
    afterMs,
    priority = 0,
  }: SagaJobPayload & { workflow: string; afterMs: number; priority?: number | undefined },
): Promise<void> {
  await sql`
    select id from graphile_worker.add_job(
      identifier => ${taskIdentifier(workflow)}, payload => ${JSON.stringify({ sagaId, task })}::text::json,
      run_at => now() + ${afterMs}::float8 * interval '1 ms',
      max_attempts => ${maxAttempts}, job_key => ${keyOf(sagaId)}, priority => ${priority})`
}

/** Whether the job is still the saga's. The saga's row must be locked. */
export async function ownsSaga(
  sql: Transaction,
  { sagaId, jobId }: { sagaId: string; jobId: string },
): Promise<boolean> {
  const [row] = await sql<{ owns: boolean }[]>`
    select exists (select from graphile_worker.jobs where key = ${keyOf(sagaId)} and id = ${jobId}::bigint) as owns`
  return row!.owns
}

/** Makes the saga's job due now, with its payload. False if the saga has no job. */
export async function hurrySagaJob(sql: Transaction, sagaId: string): Promise<boolean> {
  const jobs = await sql<{ id: string }[]>`
    select j.id::text as id from graphile_worker.jobs j where j.key = ${keyOf(sagaId)}`
  const job = jobs[0]
  if (job === undefined) return false
  // A job under way is left alone; it reads the saga's row when it is done.
  await sql`select id from graphile_worker.reschedule_jobs(array[${job.id}::bigint], run_at => now())`
  // Rescheduling notifies no worker. The notification is a hint; workers also look by themselves.
  await sql`select pg_notify('jobs:insert', '{"r":0,"count":1}')`
  return true
}

/** Whether graphile-worker's schema exists. */
export async function hasJobQueue(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ is_there: boolean }[]>`select to_regclass('graphile_worker.jobs') is not null as is_there`
  return row!.is_there
}

function keyOf(sagaId: string): string {
  return `saga:${sagaId}`
}
