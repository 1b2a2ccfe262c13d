// One dead letter, read.

import { getMessage } from 'dlq-core/queries/message-read.ts'
import { notFound } from '../api-error.ts'
import { defineRoute } from '../define-route.ts'
import { exampleMessage, messageJson, messageSchema, sendJsonText } from '../message-json.ts'
import { messagePath } from '../request-schemas.ts'

export const messageRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/dlq/messages/:id',
      summary: 'One dead letter',
      role: 'read',
      params: messagePath,
      answers: {
        200: {
          description: 'The dead letter.',
          schema: messageSchema,
          example: exampleMessage,
          headers: { ETag: 'Changes with every change of the message; send it as If-Match with changes.' },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access, params: { id } }) => {
      const message = await getMessage(sql, { id, scope: access.topics })
      if (!message) throw notFound(id)
      c.header('ETag', message.etag)
      return sendJsonText(c, messageJson(message))
    },
  ),
]
