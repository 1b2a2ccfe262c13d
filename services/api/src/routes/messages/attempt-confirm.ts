// A consumer says that the work of a retry is done. Always optional: nothing waits for it.

import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import { confirmAttempt } from 'dlq-core/queries/readers/confirmations.ts'
import * as v from 'valibot'
import { ApiError, invalidField } from '../../http/api-error.ts'
import { defineRoute } from '../../http/define-route.ts'
import { exampleAttempt } from '../../messages/attempt-json.ts'
import { auditMessage } from '../../messages/change-message.ts'
import { exampleMessage } from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { idOf } from '../../request/request-schemas.ts'

export const attemptConfirmRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/attempts/:attempt_id/confirm',
      summary: 'Say that the work of a retry is done',
      description: [
        'For consumers that want their retries to end as `confirmed`; `confirmRetry()` of dlq-client calls it after the',
        'work. The ids are those of the record’s headers `dlq-attempt-id`, `dlq-message-id` and `dlq-attempt`. Asking',
        'again changes nothing. A message that fails again later has come back all the same.',
      ].join(' '),
      role: 'write',
      masks: 'none',
      params: v.strictObject({ attempt_id: idOf('attempt') }),
      body: v.strictObject({
        message_id: v.pipe(idOf('message'), v.description('The header `dlq-message-id`.')),
        attempt: v.pipe(
          v.number('must be a number'),
          v.integer('must be a whole number'),
          v.minValue(1, 'must be at least 1'),
          v.maxValue(1_000_000, 'must be at most 1000000'),
          v.description('The header `dlq-attempt`.'),
        ),
      }),
      bodyExample: { message_id: exampleMessage.id, attempt: 1 },
      answers: {
        200: {
          description: 'It is confirmed, now or before.',
          schema: v.strictObject({
            attempt_id: v.pipe(v.string(), v.uuid()),
            confirmed_at: timestampText,
            confirmed_by: v.string(),
          }),
          example: {
            attempt_id: exampleAttempt.attempt_id,
            confirmed_at: '2026-02-20T10:36:00.000+00:00',
            confirmed_by: 'billing',
          },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access, by, params: { attempt_id: attemptId }, body }) => {
      const { message_id: messageId, attempt: number } = body
      if (deriveAttemptId(messageId, number) !== attemptId)
        throw invalidField(
          'message_id',
          'is not that of the attempt id, or attempt is not: take all three from one record',
        )
      const confirmed = await sql.begin(async (sql) => {
        const found = await confirmAttempt(sql, {
          ...{ messageId, number, attemptId, actor: access.actor, scope: access.topics },
        })
        if (found === null) return null
        if (found.is_new) {
          await auditMessage(
            sql,
            { id: messageId, ...found },
            { action: 'attempt.confirm', asked: { by, reason: null }, after: { attempt: number } },
          )
        }
        return found
      })
      if (confirmed === null) throw new ApiError('SYS_DLQ_NOT_FOUND', `attempt not found: ${attemptId}`)
      return c.json({
        attempt_id: attemptId,
        confirmed_at: timestamp(confirmed.confirmed_at),
        confirmed_by: confirmed.confirmed_by,
      })
    },
  ),
]
