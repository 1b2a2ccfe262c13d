// Finds the interrupted sagas: unfinished, and without a job that will be performed. A locked job is left alone;
// the host of graphile-worker gives back the jobs of dead processes.

import { addSagaJob, hurrySagaJob } from './store/saga-jobs.ts'
import { lockUnfinished } from './store/saga-store.ts'
import type { Pool } from './store/sql.ts'
import type { Workflow } from './workflow.ts'

/** Sagas per transaction. */
const batchSize = 200

/**
 * Adds a job, due now, to every unfinished saga of these workflows that has none. Call it when a process starts
 * and regularly; several processes may call it at once. Returns the number of sagas.
 */
export async function recoverSagas(sql: Pool, { workflows }: { workflows: readonly Workflow[] }): Promise<number> {
  const priorities = new Map(workflows.map(({ name, priority }) => [name, priority]))
  let recovered = 0
  for (;;) {
    const count = await sql.begin(async (sql) => {
      const [row] = await sql<{ locked: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtextextended('saga.recover', 0)) as locked`
      if (!row!.locked) return 0
      const sagas = await lockUnfinished(sql, { workflows: [...priorities.keys()], limit: batchSize })
      for (const { id: sagaId, workflow, status } of sagas) {
        if (await hurrySagaJob(sql, sagaId)) continue
        // Its job is gone, and with it the knowledge whether a try was under way.
        const task = {
          action: status === 'COMPENSATING' ? 'COMPENSATE' : 'EXECUTE',
          attempt: 1,
          isUnsure: true,
        } as const
        await addSagaJob(sql, { sagaId, workflow, task, afterMs: 0, priority: priorities.get(workflow) })
      }
      return sagas.length
    })
    recovered += count
    if (count < batchSize) return recovered
  }
}
