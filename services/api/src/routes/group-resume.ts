// Lets the automatic retries of a paused error group go on before its probes have succeeded.

import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { listPausesOfGroups, resumeGroup } from 'dlq-core/queries/groups/group-pauses.ts'
import { getGroup } from 'dlq-core/queries/groups/groups.ts'
import * as v from 'valibot'
import { ApiError } from '../http/api-error.ts'
import { defineRoute } from '../http/define-route.ts'
import { shown } from '../masks/shown.ts'
import { seesAll } from '../masks/sight.ts'
import { groupPauseJson } from '../pauses/group-pause-json.ts'
import { idOf, reason, topicName } from '../request/request-schemas.ts'

export const groupResumeRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/groups/:id/resume',
      summary: 'Resume the automatic retries of a paused error group',
      description: [
        'For one original topic, or for all that the token covers. What failed again before does not count for another',
        'pause. Messages that were put off are retried at their own time; a run retries them now.',
      ].join(' '),
      role: 'write',
      masks: 'none',
      params: v.object({ id: idOf('group') }),
      body: v.optional(v.strictObject({ original_topic: v.exactOptional(topicName), reason }), {}),
      bodyExample: { original_topic: 'orders', reason: 'the consumer is fixed' },
      answers: {
        200: {
          description: 'The original topics for which it is resumed.',
          schema: v.strictObject({ resumed: v.array(v.string()) }),
          example: { resumed: ['orders'] },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT'],
    },
    async ({ c, sql, access: { topics: scope }, by, params: { id }, body, wakeRetriers }) => {
      const resumed = await sql.begin(async (sql) => {
        if (!(await getGroup(sql, { id, scope })))
          throw new ApiError('SYS_DLQ_NOT_FOUND', `error group not found: ${id}`)
        const pauses = (await listPausesOfGroups(sql, { groupIds: [id], scope })).filter(
          ({ original_topic: topic }) => body.original_topic === undefined || topic === body.original_topic,
        )
        if (pauses.length === 0) throw new ApiError('SYS_DLQ_CONFLICT', `error group ${id} is not paused`)
        for (const pause of pauses) {
          await resumeGroup(sql, pause)
          await writeAudit(sql, {
            ...by,
            ...{ action: 'group.resume', target_type: 'group', target_id: id, reason: body.reason ?? null },
            ...{
              original_topic: pause.original_topic, // As it was: the audit is masked when it is read.
              before: groupPauseJson(shown(pause, seesAll, 'anywhere')),
              after: null,
            },
          })
        }
        return pauses.map(({ original_topic: topic }) => topic)
      })
      wakeRetriers()
      return c.json({ resumed })
    },
  ),
]
