// Takes back what somebody did to a dead letter: brings it out of the archive, or gives it the content it had before an edit.

import { applyEdit, sentValue } from 'dlq-core/domain/message/edit-message.ts'
import { readHeaders } from 'dlq-core/domain/record/header-json.ts'
import { editMessage, findEdit, readContent } from 'dlq-core/queries/change/message-change.ts'
import { getMessage } from 'dlq-core/queries/reading/message-view.ts'
import { listArchived } from 'dlq-core/queries/runs/run-messages.ts'
import { readableValue } from 'dlq-core/runtime/schemas/payload-reader.ts'
import * as v from 'valibot'
import { refuseTarget } from '../../fleet/refuse-target.ts'
import { ApiError, notFound } from '../../http/api-error.ts'
import { defineRoute } from '../../http/define-route.ts'
import { refuseTarget as refuseMaskedTarget } from '../../masks/refuse-hidden.ts'
import { auditMessage, beingRetried, holdAsSeen, requireEditable } from '../../messages/change-message.ts'
import { idOf, ifMatchHeader, messagePath, wholeNumberInPath } from '../../request/request-schemas.ts'
import { askedOf, changedAnswer, changeFaults, reasonBody, sendMessage } from './message-changes.ts'

export const messageUndoRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/dlq/messages/:id/restore',
      summary: 'Bring an archived dead letter back',
      description: 'It is live again with its attempts, in the status that it had. A live one answers 409.',
      role: 'write',
      masks: 'shown',
      params: messagePath,
      headers: v.object(ifMatchHeader),
      body: reasonBody,
      bodyExample: { reason: 'the customer asks again' },
      answers: changedAnswer,
      faults: changeFaults,
    },
    async (call) => {
      const { c, sql, access, sight, params } = call
      const asked = askedOf(call)
      const message = await sql.begin(async (sql) => {
        if ((await listArchived(sql, { ids: [params.id], scope: access.topics })).length === 0) {
          if (!(await getMessage(sql, { id: params.id, scope: access.topics }))) throw notFound(params.id)
          throw new ApiError('SYS_DLQ_CONFLICT', `message ${params.id} is not archived`)
        }
        const held = await holdAsSeen(sql, { ...asked, evenErased: true })
        await auditMessage(sql, held, { action: 'message.restore', asked, after: { status: held.status } })
        return getMessage(sql, { id: params.id, scope: access.topics })
      })
      return sendMessage(c, message!, sight)
    },
  ),

  defineRoute(
    {
      method: 'post',
      path: '/api/v1/dlq/messages/:id/edits/:number/undo',
      summary: 'Give a dead letter the content it had before an edit',
      description: [
        'Edit 1 holds the message as it arrived. Undoing an edit also takes back all edits after it, and is an edit itself, so',
        'nothing is lost. Where the message has that content already, nothing changes.',
      ].join(' '),
      role: 'write',
      masks: 'shown',
      params: v.object({ id: idOf('message'), number: wholeNumberInPath('edit') }),
      headers: v.object(ifMatchHeader),
      body: reasonBody,
      bodyExample: { reason: 'the edit was for another order' },
      answers: changedAnswer,
      faults: changeFaults,
    },
    async (call) => {
      const { c, sql, access, sight, policies, payloads, by, params } = call
      const { id, number } = params
      const asked = askedOf(call)
      await policies.refresh()
      const message = await sql.begin(async (sql) => {
        const held = await holdAsSeen(sql, asked)
        if (held.status === 'RETRYING') throw beingRetried(id)
        const edit = await findEdit(sql, { messageId: id, number })
        if (!edit) throw new ApiError('SYS_DLQ_NOT_FOUND', `message ${id} has no edit ${number}`)
        if (edit.target_topic !== null && edit.target_topic !== held.target_topic)
          refuseMaskedTarget(sight.maskOf(held))
        // The token may be limited to fewer topics than that of whoever chose this target.
        if (edit.target_topic !== null && edit.target_topic !== held.target_topic)
          await refuseTarget(call, edit.target_topic)
        const headers = edit.record_headers && readHeaders(edit.record_headers)
        if (edit.record_headers !== null && headers === null)
          throw new ApiError(
            'SYS_DLQ_CONFLICT',
            `the headers before edit ${number} cannot be read: edit the message instead`,
          )
        const wanted = {
          key: edit.record_key,
          value: sentValue(edit),
          // What never was a record has no headers to go back to.
          ...(headers && { headers }),
          targetTopic: edit.target_topic,
        }
        const project = await payloads?.projectLoaded(readableValue(edit, wanted.value, held), { sql })
        const { fields, after } = applyEdit(await readContent(sql, id), wanted, policies.policyOf(held), project)
        if (fields.length > 0) {
          requireEditable(held)
          const { actor, request_id } = by
          await editMessage(sql, { id, actor, request_id, reason: asked.reason, fields, after })
          await auditMessage(sql, held, { action: 'message.edit', asked, after: { fields, undoes: number } })
        }
        return getMessage(sql, { id, scope: access.topics })
      })
      return sendMessage(c, message!, sight)
    },
  ),
]
