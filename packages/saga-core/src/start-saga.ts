// Starts a saga in the caller's transaction.

import { addSagaJob } from './store/saga-jobs.ts'
import { insertSaga } from './store/saga-store.ts'
import type { Transaction } from './store/sql.ts'
import type { Workflow } from './workflow.ts'

/**
 * Starts a saga when the transaction commits. If the workflow has a saga with this correlation id already, in any
 * state, it returns that one.
 */
export async function startSaga<Payload>(
  sql: Transaction,
  workflow: Pick<Workflow<Payload>, 'name' | 'priority'>,
  {
    payload,
    correlationId = null,
    initiatedBy = null,
  }: { payload: Payload; correlationId?: string | null; initiatedBy?: string | null },
): Promise<{ id: string; isNew: boolean }> {
  const saga = await insertSaga(sql, {
    workflow: workflow.name,
    payload: JSON.stringify(payload ?? null),
    correlationId,
    initiatedBy,
  })
  if (saga.isNew) {
    const task = { action: 'EXECUTE', attempt: 1, isUnsure: false } as const
    await addSagaJob(sql, { sagaId: saga.id, workflow: workflow.name, task, afterMs: 0, priority: workflow.priority })
  }
  return saga
}
