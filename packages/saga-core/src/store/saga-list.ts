// Reading sagas, for people and programs. JSON comes as text.

import type { SagaStatus, StepAction, StepStatus } from '../decide.ts'
import type { Sql } from './sql.ts'

export type SagaView = {
  id: string
  workflow_name: string
  current_step: number
  status: SagaStatus
  payload: string | null
  correlation_id: string | null
  initiated_by: string | null
  error_message: string | null
  created_at: Date
  updated_at: Date
}

export type StepLogView = {
  id: string
  step_index: number
  step_name: string
  action: StepAction
  status: StepStatus
  request_payload: string | null
  response_payload: string | null
  error_message: string | null
  started_at: Date
  /** Null while the step continues in further chunks. */
  completed_at: Date | null
}

export type SagaFilter = {
  readonly workflow?: string | undefined
  readonly status?: SagaStatus | undefined
  readonly correlationId?: string | undefined
}

const columns = (sql: Sql) => sql`
  id, workflow_name, current_step, status, payload::text as payload, correlation_id, initiated_by, error_message,
  created_at, updated_at`

/** One page, newest first, and how many there are in all. */
export async function listSagas(
  sql: Sql,
  { workflow, status, correlationId, limit, offset }: SagaFilter & { limit: number; offset: number },
): Promise<{ sagas: SagaView[]; total: number }> {
  // Fragments instead of "$1 is null or …", so that each filter finds its index also with a generic plan.
  const where = sql`
    where true
      ${workflow === undefined ? sql`` : sql`and workflow_name = ${workflow}`}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${correlationId === undefined ? sql`` : sql`and correlation_id = ${correlationId}`}`
  const sagas = await sql<SagaView[]>`
    select ${columns(sql)} from saga.saga_states ${where} order by created_at desc, id limit ${limit} offset ${offset}`
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from saga.saga_states ${where}`
  return { sagas: [...sagas], total: row!.total }
}

/** One saga with its steps in order; null where there is none. */
export async function getSaga(sql: Sql, id: string): Promise<(SagaView & { steps: StepLogView[] }) | null> {
  const [saga] = await sql<SagaView[]>`select ${columns(sql)} from saga.saga_states where id = ${id}`
  if (!saga) return null
  const steps = await sql<StepLogView[]>`
    select id, step_index, step_name, action, status, request_payload::text as request_payload,
           response_payload::text as response_payload, error_message, started_at, completed_at
    from saga.saga_step_logs
    where saga_id = ${id}
    order by step_index, started_at`
  return { ...saga, steps: [...steps] }
}
