// saga.saga_states and saga.saga_step_logs. State and log entry are always written in one transaction. It
// is the caller's, which has locked the saga's row first. JSON passes as text.

import type { Position, SagaStatus, StepAction, StepStatus } from '../decide.ts'
import type { Sql, Transaction } from './sql.ts'

export type LockedSaga = Position & {
  id: string
  workflow: string
  /** JSON text. */
  payload: string | null
  correlationId: string | null
  /** Whether a step has failed or timed out so far. */
  hadFault: boolean
  /** By PostgreSQL's clock; text, because a Date has no microseconds. */
  now: string
}

/** Locks a saga against all other changes, until the transaction ends. */
export async function lockSaga(sql: Transaction, id: string): Promise<LockedSaga | null> {
  const [row] = await sql<LockedSaga[]>`
    select id, workflow_name as workflow, status, current_step as "currentStep", payload::text as payload,
           correlation_id as "correlationId", clock_timestamp()::text as now,
           exists (select from saga.saga_step_logs l where l.saga_id = s.id and l.status in ('FAILED', 'TIMEOUT')) as "hadFault"
    from saga.saga_states s
    where id = ${id}
    for update`
  return row ?? null
}

/** The step at which the saga is, without a lock: it may be another one soon. Null where there is none. */
export async function readPlace(sql: Sql, id: string): Promise<Pick<LockedSaga, 'currentStep' | 'payload'> | null> {
  const [row] = await sql<Pick<LockedSaga, 'currentStep' | 'payload'>[]>`
    select current_step as "currentStep", payload::text as payload from saga.saga_states where id = ${id}`
  return row ?? null
}

export type NewSaga = {
  workflow: string
  /** JSON text. */
  payload: string
  correlationId: string | null
  initiatedBy: string | null
}

/**
 * Inserts a saga, unless the workflow has one with that correlation id. The specification's table has no unique
 * index for it, so callers with the same id wait for each other by a lock; this needs a transaction.
 */
export async function insertSaga(sql: Transaction, saga: NewSaga): Promise<{ id: string; isNew: boolean }> {
  const { workflow, payload, correlationId, initiatedBy } = saga
  if (correlationId !== null) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`saga:${workflow}:${correlationId}`}, 0))`
    // A separate statement, so that its snapshot begins after the wait.
    const [known] = await sql<{ id: string }[]>`
      select id from saga.saga_states where correlation_id = ${correlationId} and workflow_name = ${workflow}
      order by created_at limit 1`
    if (known) return { id: known.id, isNew: false }
  }
  const [row] = await sql<{ id: string }[]>`
    insert into saga.saga_states (workflow_name, payload, correlation_id, initiated_by)
    values (${workflow}, ${payload}::text::jsonb, ${correlationId}, ${initiatedBy})
    returning id`
  return { id: row!.id, isNew: true }
}

/** How a saga's error message changes: kept, replaced (null: removed), or extended. */
export type MessageChange =
  | { type: 'keep' }
  | { type: 'set'; message: string | null }
  | { type: 'add'; message: string }

/** Writes the saga's state. */
export async function updateSaga(
  sql: Transaction,
  { id, status, currentStep, message }: Position & { id: string; message: MessageChange },
): Promise<void> {
  const errorMessage =
    message.type === 'keep'
      ? sql`error_message`
      : message.type === 'set'
        ? sql`${message.message}`
        : sql`concat_ws('; ', error_message, ${message.message}::text)`
  await sql`
    update saga.saga_states
    set status = ${status}, current_step = ${currentStep}, updated_at = now(), error_message = ${errorMessage}
    where id = ${id}`
}

export type StepLogEntry = {
  sagaId: string
  stepIndex: number
  stepName: string
  action: StepAction
  status: StepStatus
  /** JSON text. */
  request: string | null
  /** JSON text; null keeps what an earlier chunk wrote. */
  response: string | null
  error: string | null
  startedAt: string
  /** False for a step with another chunk to come: its row stays open, without completed_at. */
  isOver: boolean
}

/** Writes the log's row of an action of a step; a step in many chunks has one row, which its chunks move on. */
export async function writeStepLog(sql: Transaction, entry: StepLogEntry): Promise<void> {
  const { sagaId, stepIndex, stepName, action, status, request, response, error, startedAt, isOver } = entry
  const completedAt = isOver ? sql`clock_timestamp()` : sql`null`
  const updated = await sql`
    update saga.saga_step_logs set
      status = ${status}, response_payload = coalesce(${response}::text::jsonb, response_payload),
      error_message = ${error}, completed_at = ${completedAt}
    where saga_id = ${sagaId} and step_index = ${stepIndex} and action = ${action} and completed_at is null`
  if (updated.count > 0) return
  await sql`
    insert into saga.saga_step_logs (
      saga_id, step_index, step_name, action, status, request_payload, response_payload, error_message, started_at, completed_at)
    values (
      ${sagaId}, ${stepIndex}, ${stepName}, ${action}, ${status}, ${request}::text::jsonb, ${response}::text::jsonb, ${error},
      ${startedAt}::text::timestamptz, ${completedAt})`
}

export type StepAnswer = { stepIndex: number; stepName: string; action: StepAction; response: string | null }

/** The results of the saga's steps so far: one row per step and action with a result. */
export async function readAnswers(sql: Sql, id: string): Promise<StepAnswer[]> {
  return sql<StepAnswer[]>`
    select step_index as "stepIndex", step_name as "stepName", action, response_payload::text as response
    from saga.saga_step_logs
    where saga_id = ${id}`
}

/** Unfinished sagas without a job that will be performed, oldest first; locked ones are left out. */
export async function lockUnfinished(
  sql: Transaction,
  { workflows, limit }: { workflows: readonly string[]; limit: number },
): Promise<{ id: string; workflow: string; status: SagaStatus }[]> {
  return sql<{ id: string; workflow: string; status: SagaStatus }[]>`
    select id, workflow_name as workflow, status
    from saga.saga_states s
    where status in ('STARTED', 'RUNNING', 'COMPENSATING') and workflow_name = any(${sql.array([...workflows])}::text[])
      -- A job that failed with an error waits longer and longer, up to six hours.
      and not exists (
        select from graphile_worker.jobs j
        where j.key = 'saga:' || s.id and (j.locked_at is not null or j.last_error is null or j.run_at <= now()))
    order by created_at
    limit ${limit}
    for update skip locked`
}

/** Sagas with these correlation ids forget why they ended: people write the reason of a cancellation. */
export async function eraseReasons(sql: Sql, correlationIds: readonly string[]): Promise<void> {
  await sql`
    update saga.saga_states set error_message = 'erased'
    where correlation_id = any(${sql.array([...correlationIds])}::text[]) and error_message is not null`
}

/** Deletes sagas that ended before that time, with their logs. Returns how many. */
export async function deleteEndedSagas(sql: Sql, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const result = await sql`
    delete from saga.saga_states where id in (
      select id from saga.saga_states
      where created_at < ${before} and updated_at < ${before} and status in ('COMPLETED', 'FAILED', 'CANCELLED')
      order by created_at limit ${limit})`
  return result.count
}
