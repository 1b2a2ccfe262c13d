// The tasks by which graphile-worker runs sagas, one for each workflow.

import type { TaskList } from 'graphile-worker'
import { runSagaJob } from './run-saga-job.ts'
import { type SagaJobPayload, taskIdentifier } from './store/saga-jobs.ts'
import type { Pool } from './store/sql.ts'
import type { Workflow } from './workflow.ts'

export type SagaTaskDeps = {
  /** Where their transactions run. */
  sql: Pool
  workflows: readonly Workflow[]
  /** How often the job's process died. */
  countDeaths: (jobId: string) => Promise<number>
}

type Helpers = { job: { id: string; attempts: number }; abortSignal: AbortSignal }

/** The tasks of the workflows, for graphile-worker's `taskList`. */
export function sagaTasks({ sql, workflows, countDeaths }: SagaTaskDeps): TaskList {
  return Object.fromEntries(
    workflows.map((workflow) => [
      taskIdentifier(workflow.name),
      async (payload: unknown, { job, abortSignal }: Helpers) =>
        runSagaJob({ sql, workflow }, payload as SagaJobPayload, {
          jobId: job.id,
          claims: job.attempts,
          deaths: job.attempts > 1 ? await countDeaths(job.id) : 0,
          signal: abortSignal,
        }),
    ]),
  )
}
