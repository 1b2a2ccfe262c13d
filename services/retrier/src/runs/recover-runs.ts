// Once at the start of a retrier: sagas that stand still go on.

import type { Database } from 'dlq-core/runtime/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { recoverSagas } from 'saga-core/recover-sagas.ts'
import { hasJobQueue } from 'saga-core/saga-jobs.ts'
import type { Workflow } from 'saga-core/workflow.ts'

export type RecoverRunsDeps = { sql: Database; log: Log; workflows: readonly Workflow[] }

/** One pass. Where graphile-worker's schema is not there yet, nothing can be started either. */
export async function recoverRuns({ sql, log, workflows }: RecoverRunsDeps): Promise<{ more: boolean }> {
  if (!(await hasJobQueue(sql))) return { more: false }
  const recovered = await recoverSagas(sql, { workflows })
  if (recovered > 0) log.warn({ recovered }, 'sagas_recovered')
  return { more: false }
}
