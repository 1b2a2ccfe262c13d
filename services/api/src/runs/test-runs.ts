// Carries runs on in the API's tests: performs the retrier's jobs one after the other, as graphile-worker would.
import { setTimeout as sleep } from 'node:timers/promises'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { createAside, patientBounds } from 'dlq-core/runtime/aside/aside.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { runSagaJob } from 'saga-core/run-saga-job.ts'
import type { SagaJobPayload } from 'saga-core/store/saga-jobs.ts'
import { createRunWorkflows } from '../../../retrier/src/runs/run-workflows.ts'

const aside = createAside(patientBounds)

/** Runs the jobs of runs that are due, one after the other. Returns how many. */
export async function workOnRuns(sql: Database, { maxActive = 4 } = {}): Promise<number> {
  const workflows = createRunWorkflows({
    ...{
      sql,
      aside,
      maxActive,
      readTimeoutMs: 900_000,
      payloads: null,
      policyOf: () => defaultRetryPolicy,
      now: () => new Date(),
    },
  })
  for (let ran = 0; ; ran += 1) {
    const [job] = await sql<{ id: string; attempts: number; task: string; payload: string }[]>`
      with next as (
        select p.id, t.identifier from graphile_worker._private_jobs p join graphile_worker._private_tasks t on t.id = p.task_id
        where p.is_available and p.run_at <= now() and t.identifier like 'saga/run.%'
        order by p.priority, p.run_at, p.id limit 1 for update of p skip locked
      )
      update graphile_worker._private_jobs j set locked_at = now(), locked_by = 'test', attempts = attempts + 1
      from next where j.id = next.id
      returning j.id::text as id, j.attempts, next.identifier as task, j.payload`
    if (!job) return ran
    const workflow = workflows.find(({ name }) => `saga/${name}` === job.task)!
    const run = { jobId: job.id, claims: job.attempts, signal: new AbortController().signal }
    await runSagaJob({ sql, workflow }, JSON.parse(job.payload) as SagaJobPayload, run)
    await sql`delete from graphile_worker._private_jobs where id = ${job.id}`
  }
}

/** Works on runs until `stop` is called. */
export function startRunWorker(sql: Database): { stop(): Promise<void> } {
  let stopped = false
  const running = (async () => {
    while (!stopped) {
      await workOnRuns(sql)
      await sleep(25)
    }
  })()
  return {
    async stop() {
      stopped = true
      await running
    },
  }
}
