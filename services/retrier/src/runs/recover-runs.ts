// Continues sagas that a crash interrupted: once when a retrier starts, and as a scheduled job.

import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { recoverSagas } from 'saga-core/recover-sagas.ts'
import { hasJobQueue } from 'saga-core/store/saga-jobs.ts'
import type { Workflow } from 'saga-core/workflow.ts'
import type { CronJob } from '../cron/cron-job.ts'

export type RecoverRunsDeps = { sql: Database; log: Log; workflows: readonly Workflow[] }

/** Returns how many were found. Where graphile-worker's schema does not exist yet, no saga can have been started. */
export async function recoverRuns({ sql, log, workflows }: RecoverRunsDeps): Promise<number> {
  if (!(await hasJobQueue(sql))) return 0
  const recovered = await recoverSagas(sql, { workflows })
  if (recovered > 0) log.warn({ recovered }, 'sagas_recovered')
  return recovered
}

export function recoveryJob({ schedule, ...deps }: RecoverRunsDeps & { schedule: string }): CronJob {
  return { name: 'sagas', schedule, run: async () => ({ recovered: await recoverRuns(deps) }) }
}
