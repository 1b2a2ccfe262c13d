// Beginning, and ending, a run: its row, its saga and the audit entry in one transaction.

import { writeAudit } from 'dlq-core/queries/audit.ts'
import { greatestMessageId } from 'dlq-core/queries/message-retry.ts'
import {
  findRetryAll,
  freezeNow,
  getRun,
  insertRun,
  moveRun,
  type NewRun,
  type RunView,
} from 'dlq-core/queries/runs.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import { isAsExpected, isSent, type RunKind, type RunSelection, runPriority, runWorkflows } from 'dlq-core/run.ts'
import type { Database, Transaction } from 'dlq-core/runtime/database.ts'
import { cancelSaga } from 'saga-core/cancel-saga.ts'
import { hasJobQueue, hurrySagaJob } from 'saga-core/saga-jobs.ts'
import { listSagas } from 'saga-core/saga-list.ts'
import { startSaga } from 'saga-core/start-saga.ts'
import { ApiError } from './api-error.ts'
import type { Call } from './define-route.ts'
import { countSelection } from './run-selection.ts'

export type WantedRun = Pick<
  NewRun,
  | 'kind'
  | 'reason'
  | 'retryAllTopic'
  | 'targetTopic'
  | 'ratePerSecond'
  | 'onRefailure'
  | 'maxRefailure'
  | 'canary'
  | 'patch'
> & {
  selection: RunSelection
  scope: TopicScope
  expect: { expected: number; tolerance: number } | null
}

const greatestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** @throws {ApiError} 409 where as many match as nobody expects, or the topic is being retried as a whole already */
export async function createRun(sql: Database, wanted: WantedRun, by: Call['by']): Promise<string> {
  const { kind, scope, selection, expect } = wanted
  return sql.begin(async (sql) => {
    if (!(await hasJobQueue(sql))) throw new ApiError('SYS_DLQ_UNAVAILABLE', 'the database is not migrated yet')
    const cutoff = await freezeNow(sql)
    const isOfArchive = 'filter' in selection && selection.filter.archived === true
    const untilId = isOfArchive ? greatestId : ((await greatestMessageId(sql)) ?? greatestId)
    const matched = await countSelection(sql, selection, { kind, scope })
    if (expect !== null && !isAsExpected(matched, expect)) {
      const found = `${matched.relation === 'gte' ? 'at least ' : ''}${matched.value}`
      throw new ApiError('SYS_DLQ_CONFLICT', `${found} messages match, not ${expect.expected}`)
    }
    const id = await insertRun(sql, {
      ...wanted,
      actor: by.actor,
      selection: JSON.stringify(selection),
      ...{ cutoff, untilId, matched: matched.value, matchedRelation: matched.relation },
    })
    if (id === null) throw await alreadyRunning(sql, wanted.retryAllTopic!)
    const workflow = { name: isSent(kind) ? runWorkflows.sent : runWorkflows.touched, priority: runPriority }
    await startSaga(sql, workflow, { payload: { run_id: id }, correlationId: id, initiatedBy: by.actor })
    await auditRun(
      sql,
      { id, kind, reason: wanted.reason },
      { action: 'run.create', by, after: { kind, matched: matched.value } },
    )
    return id
  })
}

async function alreadyRunning(sql: Transaction, topic: string): Promise<ApiError> {
  const id = await findRetryAll(sql, topic)
  return new ApiError('SYS_DLQ_CONFLICT', `topic ${topic} is being retried already by run ${id}`)
}

type Audited = { id: string; kind: RunKind; reason: string | null }

export async function auditRun(
  sql: Transaction,
  { id, reason }: Audited,
  {
    action,
    by,
    before = null,
    after = null,
  }: { action: string; by: Call['by']; before?: object | null; after?: object | null },
): Promise<void> {
  await writeAudit(sql, { ...by, action, target_type: 'run', target_id: id, reason, before, after })
}

export type RunChange = 'pause' | 'resume' | 'cancel'

const moves = {
  pause: { from: ['running'], to: 'paused' },
  resume: { from: ['paused'], to: 'running' },
} as const

/** @throws {ApiError} 404 where there is no such run to be seen, 409 where it is not in a state for that */
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
    await auditRun(sql, { ...run, reason }, { action: `run.${change}`, by, before: { status: run.status } })
    return findRun(sql, { id, scope })
  })
}

const pastOf = { pause: 'paused', resume: 'resumed', cancel: 'cancelled' } as const

export async function findRun(
  sql: Transaction | Database,
  { id, scope }: { id: string; scope: TopicScope },
): Promise<RunView> {
  const run = await getRun(sql, { id, scope })
  if (run === null) throw new ApiError('SYS_DLQ_NOT_FOUND', `run not found: ${id}`)
  return run
}

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
 * From when this commits nothing more of the run is claimed. The saga's row is locked before the run's, as its
 * own steps do.
 */
async function cancelRun(
  sql: Transaction,
  { id }: RunView,
  { by, reason }: { by: string; reason: string | null },
): Promise<boolean> {
  const sagaId = await sagaOf(sql, id)
  if (sagaId === null) return false
  const { outcome } = await cancelSaga(sql, { id: sagaId, by, reason })
  if (outcome !== 'cancelling') return false
  const why = `cancelled by ${by}${reason ? `: ${reason}` : ''}`
  // One that was never admitted has nothing to give back, and no step to compensate.
  if (await moveRun(sql, { id, from: ['queued'], to: 'cancelled', reason: why })) return true
  return moveRun(sql, { id, from: ['running', 'paused'], to: 'cancelling', reason: why })
}

async function sagaOf(sql: Transaction, runId: string): Promise<string | null> {
  const { sagas } = await listSagas(sql, { correlationId: runId, limit: 1, offset: 0 })
  return sagas[0]?.id ?? null
}
