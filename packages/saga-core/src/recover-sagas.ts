// Finding the sagas that stand still: unfinished, and without a job that will run. A job that is locked is
// left alone; whoever runs graphile-worker gives back the jobs of processes that died.

import { addSagaJob, hurrySagaJob } from './saga-jobs.ts'
import { lockUnfinished } from './saga-store.ts'
import type { Pool } from './sql.ts'
import type { Workflow } from './workflow.ts'

/** At most so many per transaction. */
const batchSize = 200

/**
 * Gives every unfinished saga of these workflows that has none a job that runs now. Call it when a process
 * starts, and now and then; of several that do so at once, one does it. Returns how many.
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
        // Its job is gone, and with it what it knew: an attempt may have been under way.
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
