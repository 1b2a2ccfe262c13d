// The edits of a dead letter, with the values that each replaced. The first one holds the message as it arrived.

import { sentValue } from 'dlq-core/domain/message/edit-message.ts'
import { findEdit, listEdits } from 'dlq-core/queries/change/message-change.ts'
import { getMessage } from 'dlq-core/queries/reading/message-view.ts'
import * as v from 'valibot'
import { mapInSteps } from '../../answers/next-step.ts'
import { ApiError, notFound } from '../../http/api-error.ts'
import { defineRoute } from '../../http/define-route.ts'
import { refusePart } from '../../masks/refuse-hidden.ts'
import { hiddenEntries, shown } from '../../masks/shown.ts'
import { contentJson, contentSchema, headersSchema, shownHeaders } from '../../messages/message-content.ts'
import { count, sendJsonText } from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { idOf, messagePath, wholeNumberInPath } from '../../request/request-schemas.ts'

const summaryEntries = {
  ...hiddenEntries,
  number: count,
  at: timestampText,
  actor: v.string(),
  reason: v.nullable(v.string()),
  fields: v.array(v.picklist(['key', 'value', 'headers', 'target_topic'])),
}
const exampleEdit = {
  number: 1,
  at: '2026-02-20T10:30:00.000+00:00',
  actor: 'maria',
  reason: 'the amount was missing',
  fields: ['value'],
}

export const messageEditRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/dlq/messages/:id/edits',
      summary: 'The edits of a dead letter',
      role: 'read',
      masks: 'shown',
      params: messagePath,
      answers: {
        200: {
          description: 'The last thousand edits, oldest first.',
          schema: v.strictObject({ edits: v.array(v.pipe(v.strictObject(summaryEntries), v.title('Edit'))) }),
          example: { edits: [exampleEdit] },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access, sight, params: { id } }) => {
      const message = await getMessage(sql, { id, scope: access.topics })
      if (!message) throw notFound(id)
      const edits = await mapInSteps(await listEdits(sql, id), (edit) => shown(edit, sight, message))
      return c.json({ edits: edits.map((edit) => ({ ...edit, at: timestamp(edit.at) })) })
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/dlq/messages/:id/edits/:number',
      summary: 'One edit, with the values that it replaced',
      role: 'read',
      masks: 'bytes',
      showsPayloads: true,
      params: v.object({ id: idOf('message'), number: wholeNumberInPath('edit') }),
      answers: {
        200: {
          description: 'The message as it was before the edit.',
          schema: v.strictObject({
            ...summaryEntries,
            before: v.strictObject({
              key: contentSchema,
              value: contentSchema,
              headers: headersSchema,
              target_topic: v.nullable(v.string()),
            }),
          }),
          example: {
            ...exampleEdit,
            before: {
              key: { text: 'order-123' },
              value: { json: { order_id: '123' } },
              headers: [],
              target_topic: null,
            },
          },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access, sight, params: { id, number } }) => {
      const message = await getMessage(sql, { id, scope: access.topics })
      if (!message) throw notFound(id)
      const mask = sight.maskOf(message)
      for (const part of ['key', 'value', 'headers'] as const) refusePart(part, mask)
      sight.unmasked?.note(id, message)
      const edit = await findEdit(sql, { messageId: id, number })
      if (!edit) throw new ApiError('SYS_DLQ_NOT_FOUND', `message ${id} has no edit ${number}`)
      const { at, actor, reason, fields } = edit
      const summary = JSON.stringify({ number, at: timestamp(at), actor, reason, fields })
      const before = [
        `"key":${contentJson(edit.record_key)}`,
        `"value":${contentJson(sentValue(edit))}`,
        `"headers":${JSON.stringify(shownHeaders(edit.record_headers))}`,
        `"target_topic":${JSON.stringify(edit.target_topic)}`,
      ]
      return sendJsonText(c, `${summary.slice(0, -1)},"before":{${before.join()}}}`)
    },
  ),
]
