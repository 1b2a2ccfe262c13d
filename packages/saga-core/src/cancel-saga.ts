// Asks a saga to stop. Its job sees the new state when it looks next. A step that is executing outside of a
// transaction is not interrupted, but only its compensation follows.

import { isEnded, type SagaStatus } from './decide.ts'
import { addSagaJob, hurrySagaJob } from './store/saga-jobs.ts'
import { lockSaga, updateSaga } from './store/saga-store.ts'
import type { Transaction } from './store/sql.ts'

export type Cancelled = {
  outcome: 'cancelling' | 'compensating_already' | 'ended' | 'not_found'
  status: SagaStatus | null
}

/** Once this commits, the saga is COMPENSATING. It ends CANCELLED, or FAILED if a step or a compensation fails. */
export async function cancelSaga(
  sql: Transaction,
  { id, by, reason }: { id: string; by: string; reason?: string | null },
): Promise<Cancelled> {
  const saga = await lockSaga(sql, id)
  if (saga === null) return { outcome: 'not_found', status: null }
  if (isEnded(saga.status)) return { outcome: 'ended', status: saga.status }
  if (saga.status === 'COMPENSATING') return { outcome: 'compensating_already', status: saga.status }
  const message = `cancelled by ${by}${reason ? `: ${reason}` : ''}`
  await updateSaga(sql, { ...saga, status: 'COMPENSATING', message: { type: 'set', message } })
  if (!(await hurrySagaJob(sql, id))) {
    const task = { action: 'EXECUTE', attempt: 1, isUnsure: true } as const
    await addSagaJob(sql, { sagaId: id, workflow: saga.workflow, task, afterMs: 0 })
  }
  return { outcome: 'cancelling', status: 'COMPENSATING' }
}
