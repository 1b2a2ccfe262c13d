// One dead letter, changed: retried, deleted.

import { writeAudit } from 'dlq-core/queries/audit.ts'
import { deleteMessage } from 'dlq-core/queries/message-read.ts'
import * as v from 'valibot'
import { ApiError, notFound } from '../api-error.ts'
import { defineRoute } from '../define-route.ts'
import { messagePath, preferHeader, waitMsOf } from '../request-schemas.ts'
import { retryMessage } from '../retry-message.ts'

const retryAnswer = v.strictObject({ id: v.string(), status: v.string(), message: v.string() })
const exampleId = '550e8400-e29b-41d4-a716-446655440000'

export const messageChangeRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/dlq/messages/:id/retry',
      summary: 'Retry one dead letter, and wait for the outcome',
      role: 'write',
      params: messagePath,
      headers: preferHeader,
      waits: true,
      answers: {
        200: {
          description: 'A retrier has settled it.',
          schema: retryAnswer,
          example: { id: exampleId, status: 'RESOLVED', message: 'message retry initiated' },
        },
        202: {
          description: 'It is due, and will be sent; nobody has settled it within the time to wait.',
          schema: retryAnswer,
          example: {
            id: exampleId,
            status: 'PENDING',
            message: 'message retry accepted; no retrier has settled it yet',
          },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT', 'SYS_DLQ_KAFKA_UNAVAILABLE'],
    },
    async ({ c, sql, access, by, params: { id }, headers, signal, retryWaitMs, wakeRetriers }) => {
      const waitMs = waitMsOf(headers.prefer, retryWaitMs)
      const { done, body } = await retryMessage(sql, { id, scope: access.topics, by, waitMs, signal, wakeRetriers })
      return c.json(body, done ? 200 : 202)
    },
  ),

  defineRoute(
    {
      method: 'delete',
      path: '/api/v1/dlq/messages/:id',
      summary: 'Delete a dead letter with its history',
      role: 'write',
      params: messagePath,
      answers: {
        200: {
          description: 'It is gone.',
          schema: v.strictObject({ success: v.literal(true), message: v.string() }),
          example: { success: true, message: `message ${exampleId} deleted` },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT'],
    },
    async ({ c, sql, access, by, params: { id } }) => {
      await sql.begin(async (sql) => {
        const { outcome, ...message } = await deleteMessage(sql, { id, scope: access.topics })
        if (outcome === 'not_found') throw notFound(id)
        if (outcome === 'retrying')
          throw new ApiError('SYS_DLQ_CONFLICT', `message ${id} is being retried; delete it when that is settled`)
        await writeAudit(sql, { ...by, ...message, action: 'message.delete', target_type: 'message', target_id: id })
      })
      return c.json({ success: true, message: `message ${id} deleted` })
    },
  ),
]
