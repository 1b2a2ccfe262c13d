// The workflows behind bulk runs, with the log of their steps.

import { runWorkflows } from 'dlq-core/domain/message/run.ts'
import { beyondStorableText, isStorableText } from 'dlq-core/domain/record/text-for-postgres.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { cancelSaga } from 'saga-core/cancel-saga.ts'
import { sagaStatuses } from 'saga-core/decide.ts'
import { getSaga, listSagas, type SagaView, type StepLogView } from 'saga-core/store/saga-list.ts'
import * as v from 'valibot'
import { ApiError } from '../http/api-error.ts'
import { defineRoute } from '../http/define-route.ts'
import { hiddenEntries, type Shown, shown } from '../masks/shown.ts'
import { idOf, pageQuery, reason } from '../request/request-schemas.ts'
import { changeRun } from '../runs/change-run.ts'

const sagaPath = v.object({ id: idOf('saga') })
const instantText = v.pipe(v.string(), v.metadata({ format: 'date-time' }))
const count = v.pipe(v.number(), v.integer())

const sagaEntries = {
  id: v.string(),
  ...hiddenEntries,
  workflow_name: v.string(),
  current_step: count,
  status: v.picklist(sagaStatuses),
  payload: v.unknown(),
  correlation_id: v.nullable(v.string()),
  initiated_by: v.nullable(v.string()),
  error_message: v.nullable(v.string()),
  created_at: instantText,
  updated_at: instantText,
}
const sagaSchema = v.pipe(v.strictObject(sagaEntries), v.title('Saga'))
const stepSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    ...hiddenEntries,
    step_index: count,
    step_name: v.string(),
    action: v.picklist(['EXECUTE', 'COMPENSATE']),
    status: v.picklist(['SUCCESS', 'FAILED', 'TIMEOUT', 'SKIPPED']),
    request_payload: v.unknown(),
    response_payload: v.unknown(),
    error_message: v.nullable(v.string()),
    started_at: instantText,
    completed_at: v.nullable(instantText),
  }),
  v.title('SagaStep'),
)

const exampleSaga = {
  id: '0b7e4a52-93f6-4f0f-8f39-6b6c2f1a7d10',
  workflow_name: runWorkflows.sent,
  current_step: 3,
  status: 'RUNNING',
  payload: { run_id: '5f0c2d3e-7a51-4e64-9d0a-2f8f2b9a3c11' },
  correlation_id: '5f0c2d3e-7a51-4e64-9d0a-2f8f2b9a3c11',
  initiated_by: 'anna',
  error_message: null,
  created_at: '2026-02-20T10:30:00.000Z',
  updated_at: '2026-02-20T10:30:01.000Z',
}
const exampleStep = {
  id: '7c1d5e0a-55a5-4b9c-a0de-3d4b0a8e7f21',
  step_index: 0,
  step_name: 'admit',
  action: 'EXECUTE',
  status: 'SUCCESS',
  request_payload: exampleSaga.payload,
  response_payload: {},
  error_message: null,
  started_at: '2026-02-20T10:30:00.100Z',
  completed_at: '2026-02-20T10:30:00.110Z',
}

function sagaJson(saga: Shown<SagaView>) {
  const { payload, created_at, updated_at, ...rest } = saga
  return {
    ...rest,
    payload: parse(payload),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}

function stepJson({ request_payload, response_payload, started_at, completed_at, ...rest }: Shown<StepLogView>) {
  return {
    ...rest,
    request_payload: parse(request_payload),
    response_payload: parse(response_payload),
    started_at: started_at.toISOString(),
    completed_at: completed_at?.toISOString() ?? null,
  }
}

function parse(json: string | null): unknown {
  return json === null ? null : JSON.parse(json)
}

function notFound(id: string): ApiError {
  return new ApiError('SYS_DLQ_NOT_FOUND', `saga not found: ${id}`)
}

const name = v.pipe(v.string(), v.check(isStorableText, beyondStorableText))

export const sagaRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/sagas',
      summary: 'Sagas, newest first',
      // A saga belongs to no topic, so a caller who may see only some topics sees no saga.
      description: 'By workflow, status and correlation id. The correlation id of a run’s saga is the run’s id.',
      role: 'read',
      masks: 'shown',
      query: v.strictObject({
        ...pageQuery.entries,
        workflow_name: v.optional(name),
        status: v.optional(v.picklist(sagaStatuses)),
        correlation_id: v.optional(name),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: v.strictObject({ sagas: v.array(sagaSchema), total_count: count }),
          example: { sagas: [exampleSaga], total_count: 1 },
        },
      },
    },
    async ({
      c,
      sql,
      access,
      sight,
      query: { page, page_size: limit, workflow_name: workflow, status, correlation_id: correlationId },
    }) => {
      if (access.topics !== null) return c.json({ sagas: [], total_count: 0 })
      const { sagas, total } = await listSagas(sql, {
        workflow,
        status,
        correlationId,
        limit,
        offset: (page - 1) * limit,
      })
      return c.json({ sagas: sagas.map((saga) => sagaJson(shown(saga, sight, 'anywhere'))), total_count: total })
    },
  ),

  defineRoute(
    {
      ...{
        method: 'get',
        path: '/api/v1/sagas/:id',
        summary: 'One saga with its steps',
        role: 'read',
        masks: 'shown',
        params: sagaPath,
      },
      answers: {
        200: {
          description: 'The saga, its steps in order.',
          schema: v.strictObject({ ...sagaEntries, steps: v.array(stepSchema) }),
          example: { ...exampleSaga, steps: [exampleStep] },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access, sight, params: { id } }) => {
      const saga = access.topics === null ? await getSaga(sql, id) : null
      if (saga === null) throw notFound(id)
      const { steps, ...rest } = saga
      return c.json({
        ...sagaJson(shown(rest, sight, 'anywhere')),
        steps: steps.map((step) => stepJson(shown(step, sight, 'anywhere'))),
      })
    },
  ),

  defineRoute(
    {
      method: 'post',
      path: '/api/v1/sagas/:id/cancel',
      summary: 'Cancel a saga',
      description:
        'The saga compensates its executed steps in reverse order; then it is CANCELLED. Cancelling the saga of a run cancels the run.',
      role: 'write',
      masks: 'shown',
      params: sagaPath,
      body: v.optional(v.strictObject({ reason }), {}),
      bodyExample: { reason: 'the wrong topic' },
      answers: {
        202: {
          description: 'The saga compensates its steps.',
          schema: sagaSchema,
          example: { ...exampleSaga, status: 'COMPENSATING' },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT'],
    },
    async ({ c, sql, access, sight, by, params: { id }, body }) => {
      const saga = access.topics === null ? await getSaga(sql, id) : null
      if (saga === null) throw notFound(id)
      const reason = body.reason ?? null
      const isRun = Object.values<string>(runWorkflows).includes(saga.workflow_name)
      if (isRun) await changeRun(sql, { id: saga.correlation_id!, scope: access.topics, change: 'cancel', by, reason })
      else
        await sql.begin(async (sql) => {
          const { outcome, status } = await cancelSaga(sql, { id, by: by.actor, reason })
          if (outcome !== 'cancelling')
            throw new ApiError('SYS_DLQ_CONFLICT', `saga ${id} is ${status}: it cannot be cancelled`)
          await writeAudit(sql, {
            ...{ ...by, action: 'saga.cancel', target_type: 'saga', target_id: id, reason },
            ...{ before: { status: saga.status }, after: { status } },
          })
        })
      const { steps: _, ...after } = (await getSaga(sql, id))!
      return c.json(sagaJson(shown(after, sight, 'anywhere')), 202)
    },
  ),
]
