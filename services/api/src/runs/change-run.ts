// Pauses, resumes or cancels a run, with the audit entry in one transaction.

import { forgetSelection } from 'dlq-core/queries/erase/erase-traces.ts'
import { moveRun, type RunView } from 'dlq-core/queries/runs/runs.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import type { Database, Transaction } from 'dlq-core/runtime/database/database.ts'
import { cancelSaga } from 'saga-core/cancel-saga.ts'
import { hurrySagaJob } from 'saga-core/store/saga-jobs.ts'
import { listSagas } from 'saga-core/store/saga-list.ts'
import { ApiError } from '../http/api-error.ts'
import type { Call } from '../http/define-route.ts'
import { auditRun } from './audit-run.ts'
import { findRun } from './find-run.ts'

export type RunChange = 'pause' | 'resume' | 'cancel'

const moves = {
  pause: { from: ['running'], to: 'paused' },
  resume: { from: ['paused'], to: 'running' },
} as const

/** Returns the run as it is afterwards. @throws {ApiError} 404 as `findRun`, 409 where its status forbids the change */
export async function changeRun(
  sql: Database,
  {
    id,
    scope,
    change,
    by,
    reason,
  }: { id: string; scope: TopicScope; change: RunChange; by: Call['by']; reason: string | null },
): Promise<RunView> {
  return sql.begin(async (sql) => {
    const run = await findRun(sql, { id, scope })
    const done =
      change === 'cancel' ? await cancelRun(sql, run, { by: by.actor, reason }) : await move(sql, run, change, reason)
    if (!done) throw new ApiError('SYS_DLQ_CONFLICT', `run ${id} is ${run.status}: it cannot be ${pastOf[change]}`)
    const changed = await findRun(sql, { id, scope })
    const [before, after] = [{ status: run.status }, { status: changed.status }]
    await auditRun(sql, { ...run, reason }, { action: `run.${change}`, by, before, after })
    return changed
  })
}

const pastOf = { pause: 'paused', resume: 'resumed', cancel: 'cancelled' } as const

async function move(
  sql: Transaction,
  { id }: RunView,
  change: 'pause' | 'resume',
  reason: string | null,
): Promise<boolean> {
  if (!(await moveRun(sql, { id, ...moves[change], reason: change === 'pause' ? reason : null }))) return false
  const sagaId = change === 'resume' ? await sagaOf(sql, id) : null
  if (sagaId !== null) await hurrySagaJob(sql, sagaId)
  return true
}

/**
 * After the commit no message of the run is claimed any more. It locks the saga's row before the run's, in the
 * same order as the saga's steps.
 */
async function cancelRun(
  sql: Transaction,
  { id, kind }: RunView,
  { by, reason }: { by: string; reason: string | null },
): Promise<boolean> {
  const sagaId = await sagaOf(sql, id)
  if (sagaId === null) return false
  const { outcome } = await cancelSaga(sql, { id: sagaId, by, reason })
  if (outcome !== 'cancelling') return false
  const why = `cancelled by ${by}${reason ? `: ${reason}` : ''}`
  // A queued run holds no messages, and none of its steps has run, so there is nothing to give back.
  if (await moveRun(sql, { id, from: ['queued'], to: 'cancelled', reason: why })) {
    if (kind === 'erase') await forgetSelection(sql, id)
    return true
  }
  return moveRun(sql, { id, from: ['running', 'paused'], to: 'cancelling', reason: why })
}

async function sagaOf(sql: Transaction, runId: string): Promise<string | null> {
  const { sagas } = await listSagas(sql, { correlationId: runId, limit: 1, offset: 0 })
  return sagas[0]?.id ?? null
}
