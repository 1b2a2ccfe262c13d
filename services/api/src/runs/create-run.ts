// Creates a run: its row, its saga and the audit entry in one transaction.

import { hash } from 'node:crypto'
import { isAsExpected, type RunSelection, runPriority, workflowOf } from 'dlq-core/domain/message/run.ts'
import { greatestId } from 'dlq-core/domain/record/message-id.ts'
import { greatestMessageId } from 'dlq-core/queries/runs/greatest-message-id.ts'
import { countOwnRuns } from 'dlq-core/queries/runs/own-runs.ts'
import { findRetryAll, freezeNow, insertRun, type NewRun, noteSaga } from 'dlq-core/queries/runs/runs.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import { workerSchemaMissing } from 'dlq-core/queries/upkeep/workers.ts'
import type { Database, Transaction } from 'dlq-core/runtime/database/database.ts'
import { startSaga } from 'saga-core/start-saga.ts'
import { hasJobQueue } from 'saga-core/store/saga-jobs.ts'
import { ApiError } from '../http/api-error.ts'
import type { Call } from '../http/define-route.ts'
import { type Made, makeOnce, type Once } from '../request/make-once.ts'
import { auditRun } from './audit-run.ts'
import { countSelection } from './run-selection.ts'

export type WantedRun = Pick<
  NewRun,
  | 'kind'
  | 'is_forced'
  | 'reason'
  | 'retry_all_topic'
  | 'target_topic'
  | 'rate_per_second'
  | 'max_lag'
  | 'staleness'
  | 'on_refailure'
  | 'max_refailure'
  | 'canary'
  | 'patch'
  | 'erase_mode'
  | 'adopts'
> & {
  selection: RunSelection
  scope: TopicScope
  expect: { expected: number; tolerance: number } | null
}

/** A token for some topics has at most this many runs that have not ended: each takes turns with all others in the workers. */
const maxUnended = 100

/**
 * Creates the run, once per Idempotency-Key. @throws {ApiError} 409 where more or fewer match than expected, or another run
 * retries the whole topic; 429 where too many runs of a token for some topics have not ended
 */
export function createRun(
  sql: Database,
  wanted: WantedRun,
  { by, once }: Pick<Call, 'by'> & { once: Once },
): Promise<Made> {
  return sql.begin((sql) => makeOnce(sql, once, async () => ({ run_id: await startRun(sql, wanted, by) })))
}

/** Returns the run's id. */
async function startRun(sql: Transaction, wanted: WantedRun, by: Call['by']): Promise<string> {
  const { kind, is_forced, scope, selection, expect } = wanted
  if (!(await hasJobQueue(sql))) throw new ApiError('SYS_DLQ_UNAVAILABLE', workerSchemaMissing)
  if (scope !== null) await refuseMany(sql, by.actor)
  const cutoff = await freezeNow(sql)
  const targetsArchive = 'filter' in selection && selection.filter.archived === true
  const until_id = targetsArchive ? greatestId : ((await greatestMessageId(sql)) ?? greatestId)
  const matched = await countSelection(sql, selection, {
    ...{ kind, is_forced, scope, literally: wanted.retry_all_topic !== null },
  })
  if (expect !== null && !isAsExpected(matched, expect)) {
    const found = `${matched.relation === 'gte' ? 'at least ' : ''}${matched.value}`
    throw new ApiError('SYS_DLQ_CONFLICT', `${found} messages match, not ${expect.expected}`)
  }
  const retry_all_topic = retryAllOf(wanted)
  const id = await insertRun(sql, {
    ...wanted,
    retry_all_topic,
    actor: by.actor,
    selection: JSON.stringify(selection),
    ...{ cutoff, until_id, matched: matched.value, matched_relation: matched.relation },
  })
  if (id === null) throw await alreadyRunning(sql, wanted.retry_all_topic!, retry_all_topic!)
  const workflow = { name: workflowOf(kind), priority: runPriority }
  const saga = await startSaga(sql, workflow, { payload: { run_id: id }, correlationId: id, initiatedBy: by.actor })
  await noteSaga(sql, { id, sagaId: saga.id })
  await auditRun(
    sql,
    { id, kind, reason: wanted.reason },
    {
      action: 'run.create',
      by,
      after: {
        kind,
        matched: matched.value,
        ...(is_forced && { force: true }),
        ...(wanted.staleness && { staleness: 'send' }),
      },
    },
  )
  return id
}

async function refuseMany(sql: Transaction, actor: string): Promise<void> {
  const { unended } = await countOwnRuns(sql, { actor, limited: true })
  if (unended >= maxUnended)
    throw new ApiError(
      'SYS_DLQ_TOO_MANY_REQUESTS',
      `${unended} of your runs have not ended; wait until some have, or cancel some`,
    )
}

/**
 * What there may be one run of. Tokens for other topics retry other messages of a shared topic: their runs neither stop
 * each other nor are named to each other.
 */
function retryAllOf({ retry_all_topic: topic, scope }: Pick<WantedRun, 'retry_all_topic' | 'scope'>): string | null {
  if (topic === null || scope === null) return topic
  return `${topic} of ${hash('sha256', JSON.stringify([...scope].sort())).slice(0, 32)}`
}

async function alreadyRunning(sql: Transaction, topic: string, retryAll: string): Promise<ApiError> {
  const id = await findRetryAll(sql, retryAll)
  return new ApiError('SYS_DLQ_CONFLICT', `topic ${topic} is being retried already by run ${id}`)
}
