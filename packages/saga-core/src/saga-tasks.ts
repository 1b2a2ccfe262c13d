// What graphile-worker needs to run sagas: one task for each workflow.

import type { TaskList } from 'graphile-worker'
import { runSagaJob } from './run-saga-job.ts'
import { type SagaJobPayload, taskIdentifier } from './saga-jobs.ts'
import type { Pool } from './sql.ts'
import type { Workflow } from './workflow.ts'

/** The tasks of the workflows, for graphile-worker's `taskList`. `sql` is where their transactions run. */
export function sagaTasks({ sql, workflows }: { sql: Pool; workflows: readonly Workflow[] }): TaskList {
  return Object.fromEntries(
    workflows.map((workflow) => [
      taskIdentifier(workflow.name),
      (payload: unknown, { job, abortSignal }: { job: { id: string; attempts: number }; abortSignal: AbortSignal }) =>
        runSagaJob({ sql, workflow }, payload as SagaJobPayload, {
          jobId: job.id,
          claims: job.attempts,
          signal: abortSignal,
        }),
    ]),
  )
}
