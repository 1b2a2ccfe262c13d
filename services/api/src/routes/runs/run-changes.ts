// Changes a run that is under way: pauses, resumes or cancels it, or changes how fast it sends.

import { isSent } from 'dlq-core/domain/message/run.ts'
import { changeRate } from 'dlq-core/queries/runs/runs.ts'
import * as v from 'valibot'
import { ApiError } from '../../http/api-error.ts'
import { defineRoute } from '../../http/define-route.ts'
import { idOf, reason } from '../../request/request-schemas.ts'
import { auditRun } from '../../runs/audit-run.ts'
import { changeRun, type RunChange } from '../../runs/change-run.ts'
import { describeRun } from '../../runs/describe-run.ts'
import { findRun } from '../../runs/find-run.ts'
import { exampleRun, runSchema } from '../../runs/run-json.ts'
import { rateSchema } from '../../runs/run-request.ts'

const runPath = v.object({ id: idOf('run') })

const oneRun = { 200: { description: 'The run as it is now.', schema: runSchema, example: exampleRun } }
const changeFaults = ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT'] as const

function changeRoute(change: RunChange, { summary, description }: { summary: string; description: string }) {
  return defineRoute(
    {
      ...{
        method: 'post',
        path: `/api/v1/runs/:id/${change}`,
        summary,
        description,
        role: 'write',
        masks: 'shown',
        params: runPath,
      },
      body: v.optional(v.strictObject({ reason }), {}),
      bodyExample: { reason: 'the consumer is down' },
      answers: oneRun,
      faults: changeFaults,
    },
    async (call) => {
      const { c, sql, access, by, body, wakeRetriers } = call
      const { id } = call.params
      const run = await changeRun(sql, { id, scope: access.topics, change, by, reason: body.reason ?? null })
      wakeRetriers()
      return c.json(await describeRun(call, run))
    },
  )
}

export const runChangeRoutes = [
  changeRoute('pause', {
    summary: 'Pause a run',
    description:
      'From this answer on, no further message is claimed for the run. Retriers finish the batches that they hold.',
  }),
  changeRoute('resume', {
    summary: 'Resume a paused run',
    description: 'Also resumes a run that its canary paused.',
  }),
  changeRoute('cancel', {
    summary: 'Cancel a run',
    description:
      'From this answer on, no further message is claimed for the run. Messages that were not sent become as they were before it.',
  }),

  defineRoute(
    {
      method: 'patch',
      path: '/api/v1/runs/:id',
      summary: 'Change how fast a run sends',
      role: 'write',
      masks: 'shown',
      params: runPath,
      body: v.strictObject({ rate_per_second: v.nullable(rateSchema), reason }),
      bodyExample: { rate_per_second: 10 },
      answers: oneRun,
      faults: changeFaults,
    },
    async (call) => {
      const { c, sql, by, wakeRetriers } = call
      const { id } = call.params
      const { rate_per_second: ratePerSecond, reason } = call.body
      const scope = call.access.topics
      const run = await sql.begin(async (sql) => {
        const before = await findRun(sql, { id, scope })
        if (!isSent(before.kind))
          throw new ApiError(
            'SYS_DLQ_CONFLICT',
            `run ${id} is of kind ${before.kind}: it sends nothing, so it has no rate`,
          )
        if (!(await changeRate(sql, { id, ratePerSecond })))
          throw new ApiError('SYS_DLQ_CONFLICT', `run ${id} is ${before.status}: it sends nothing any more`)
        if (ratePerSecond !== before.rate_per_second)
          await auditRun(
            sql,
            { ...before, reason: reason ?? null },
            {
              ...{ action: 'run.rate', by, before: { rate_per_second: before.rate_per_second } },
              after: { rate_per_second: ratePerSecond },
            },
          )
        return findRun(sql, { id, scope })
      })
      wakeRetriers()
      return c.json(await describeRun(call, run))
    },
  ),
]
