// One dead letter, changed: retried, given up, revived, edited, deleted.

import { applyEdit, projectJson, type Wanted } from 'dlq-core/domain/message/edit-message.ts'
import { jsonPatchSchema } from 'dlq-core/domain/record/json-patch.ts'
import { deleteMessages } from 'dlq-core/queries/change/delete-messages.ts'
import { editMessage, type HeldMessage, readContent, writeSchedule } from 'dlq-core/queries/change/message-change.ts'
import { getMessage, type MessageView } from 'dlq-core/queries/reading/message-view.ts'
import * as v from 'valibot'
import { requireTag } from '../../answers/entity-tag.ts'
import { refuseTarget } from '../../fleet/refuse-target.ts'
import { ApiError, invalidField } from '../../http/api-error.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import { shown } from '../../masks/shown.ts'
import type { Sight } from '../../masks/sight.ts'
import {
  type Asked,
  auditMessage,
  beingRetried,
  changeState,
  holdAsSeen,
  requireEditable,
} from '../../messages/change-message.ts'
import { bytesOf, editInput, headersInput, headersOf, isDecoded } from '../../messages/message-content.ts'
import { exampleMessage, messageJson, messageSchema, sendJsonText } from '../../messages/message-json.ts'
import { retryMessage } from '../../messages/retry-message.ts'
import { whyHeld } from '../../messages/why-not-retried.ts'
import { adoptStored } from '../../origins/adopt-stored.ts'
import type { DecodedEdit } from '../../payloads/edit-decoded.ts'
import { encodeSeen, refuseUnseen } from '../../payloads/encode-seen.ts'
import {
  ifMatchHeader,
  instant,
  maxRetries,
  messagePath,
  preferHeader,
  reason,
  topicName,
  waitMsOf,
} from '../../request/request-schemas.ts'
import { requireBothTopics } from '../message-origins.ts'

const retryAnswer = v.strictObject({ id: v.string(), status: v.string(), message: v.string() })
const exampleId = exampleMessage.id

export const changeFaults = ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT', 'SYS_DLQ_PRECONDITION_FAILED'] as const
export const changedAnswer = {
  200: {
    description: 'The dead letter as it is now.',
    schema: messageSchema,
    example: exampleMessage,
    headers: { ETag: 'The ETag of the dead letter as it is now.' },
  },
}

export const reasonBody = v.optional(v.strictObject({ reason }), {})

export const messageChangeRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/dlq/messages/:id/retry',
      summary: 'Retry one dead letter, and wait for the outcome',
      description: [
        'Waits for an attempt that is already under way. DEAD, RESOLVED and a spent budget answer 409, unless',
        '`force` is set; `force` needs a reason. A record that Kafka refuses answers 409 SYS_DLQ_PUBLISH_REFUSED, with the',
        'reason, the status of the message and what comes next as details.',
      ].join(' '),
      role: 'write',
      masks: 'shown',
      params: messagePath,
      headers: v.object({ ...preferHeader, ...ifMatchHeader }),
      body: v.optional(
        v.pipe(
          v.strictObject({ force: v.optional(v.boolean('must be true or false'), false), reason }),
          v.metadata({
            if: { properties: { force: { const: true } }, required: ['force'] },
            // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word
            then: { properties: { force: {}, reason: { pattern: '[A-Za-z0-9]' } }, required: ['reason'] },
          }),
          v.forward(
            v.check(({ force, reason }) => !force || Boolean(reason?.trim()), 'is required with force'),
            ['reason'],
          ),
        ),
        {},
      ),
      bodyExample: { force: true, reason: 'the consumer is fixed' },
      waits: true,
      answers: {
        200: {
          description: 'The message was sent, and is RESOLVED.',
          schema: retryAnswer,
          example: { id: exampleId, status: 'RESOLVED', message: 'message retry initiated' },
        },
        202: {
          description: 'The message is due and will be sent; no retrier settled it within the time to wait.',
          schema: retryAnswer,
          example: {
            id: exampleId,
            status: 'PENDING',
            message: 'message retry accepted; no retrier has settled it yet',
          },
        },
      },
      faults: [...changeFaults, 'SYS_DLQ_PUBLISH_REFUSED', 'SYS_DLQ_KAFKA_UNAVAILABLE'],
    },
    async (call) => {
      const { c, headers, body, signal, retryWaitMs } = call
      const waitMs = waitMsOf(headers.prefer, retryWaitMs)
      const { done, body: answer } = await retryMessage(call, { ...askedOf(call), force: body.force, waitMs, signal })
      return c.json(answer, done ? 200 : 202)
    },
  ),

  defineRoute(
    {
      method: 'post',
      path: '/api/v1/dlq/messages/:id/dead',
      summary: 'Give a dead letter up',
      description: 'PENDING becomes DEAD: the message is not retried until somebody revives it.',
      role: 'write',
      masks: 'shown',
      params: messagePath,
      headers: v.object(ifMatchHeader),
      body: reasonBody,
      bodyExample: { reason: 'the order was cancelled' },
      answers: changedAnswer,
      faults: changeFaults,
    },
    (call) => move(call, { event: 'marked_dead', action: 'message.dead' }),
  ),

  defineRoute(
    {
      method: 'post',
      path: '/api/v1/dlq/messages/:id/revive',
      summary: 'Let a DEAD letter be retried again',
      description: 'DEAD becomes PENDING. The policy decides when it is retried; a spent budget is renewed.',
      role: 'write',
      masks: 'shown',
      params: messagePath,
      headers: v.object(ifMatchHeader),
      body: reasonBody,
      bodyExample: { reason: 'the consumer is fixed' },
      answers: changedAnswer,
      faults: changeFaults,
    },
    (call) => move(call, { event: 'revived', action: 'message.revive' }),
  ),

  defineRoute(
    {
      method: 'patch',
      path: '/api/v1/dlq/messages/:id',
      summary: 'Edit a dead letter, or set when it is retried',
      description: [
        'Only fields that the body names change. `…/edits` keeps and shows the replaced values. The next retry sends the',
        'edited message. A message that was sent, or is being sent, cannot be edited: RESOLVED and RETRYING answer 409.',
        'With `next_retry_at` null, the message waits until somebody retries it.',
        'A `decoded` key or value is the JSON that answers show of it, and `patch` changes that of the value: it is written',
        'with the same schema, frame and compression.',
      ].join(' '),
      role: 'write',
      masks: 'shown',
      params: messagePath,
      headers: v.object(ifMatchHeader),
      body: v.strictObject({
        key: v.optional(editInput),
        value: v.optional(editInput),
        patch: v.optional(
          v.pipe(jsonPatchSchema, v.description('A JSON Patch (RFC 6902) of the decoded value, instead of a value.')),
        ),
        reencode: v.optional(
          v.pipe(
            v.boolean('must be true or false'),
            v.description(
              'Accepts that more bytes than those of the change differ. Otherwise that answers 409 SYS_DLQ_NOT_EXACT.',
            ),
          ),
          false,
        ),
        headers: v.optional(headersInput),
        record: v.optional(
          v.pipe(
            v.literal('origin', 'must be "origin"'),
            v.description(
              'Puts the record that failed in the place of the copy, as POST …/origin found it. One that is unproved needs `force` and a reason.',
            ),
          ),
        ),
        force: v.optional(
          v.pipe(
            v.boolean('must be true or false'),
            v.description(
              'With a reason: adopts an original that is unproved, and writes a value that its JSON Schema does not allow.',
            ),
          ),
          false,
        ),
        target_topic: v.optional(v.nullable(topicName)),
        max_retries: v.optional(maxRetries),
        next_retry_at: v.optional(v.nullable(instant)),
        reason,
      }),
      bodyExample: { value: { json: { order_id: '123', amount: 10 } }, reason: 'the amount was missing' },
      maxBodyBytes: 6 * 1024 * 1024,
      answers: changedAnswer,
      faults: [...changeFaults, 'SYS_DLQ_PRECONDITION_REQUIRED', 'SYS_DLQ_NOT_EXACT', 'SYS_DLQ_FORBIDDEN'],
    },
    async (call) => {
      const { c, sql, now, access, sight, policies, payloads, body, exactJson, params } = call
      const asked = askedOf(call)
      if (body.patch !== undefined && body.value !== undefined)
        throw invalidField('patch', 'changes the value, so a value cannot be given beside it')
      const { record } = body
      if (record && [body.patch, body.key, body.value, body.headers].some((given) => given !== undefined))
        throw invalidField('record', 'replaces key, value and headers, so none of them can be given beside it')
      if (asked.ifMatch === undefined)
        throw new ApiError('SYS_DLQ_PRECONDITION_REQUIRED', 'send the ETag of the message as If-Match')
      if (body.target_topic) await refuseTarget(call, body.target_topic)
      await policies.refresh()
      const edit: DecodedEdit = {
        ...(isDecoded(body.key) && { key: exactJson('key', 'decoded') }),
        ...(isDecoded(body.value) && { value: exactJson('value', 'decoded') }),
        ...(body.patch !== undefined && { patch: exactJson('patch') }),
      }
      const force = body.force && Boolean(asked.reason?.trim())
      const encoded = Object.keys(edit).length > 0 ? await encodeSeen(call, asked, { edit, force }) : null
      const changed = await sql.begin(async (sql) => {
        const message = await holdAsSeen(sql, asked)
        refuseUnseen(body, sight.maskOf(message))
        if (message.status === 'RETRYING') throw beingRetried(message.id)
        // One of several tags of If-Match, or "*", may be that of a message which has changed since.
        requireTag(encoded?.etag, message.etag, 'the message')
        if (record) {
          requireBothTopics(message, access.topics)
          await adoptStored(sql, message, { asked, force: body.force, now, policies, payloads })
        }
        const content = await readContent(sql, message.id)
        const wanted: Wanted = {
          ...(body.key !== undefined &&
            !isDecoded(body.key) && { key: bytesOf(body.key, () => exactJson('key', 'json')) }),
          ...(body.value !== undefined &&
            !isDecoded(body.value) && { value: bytesOf(body.value, () => exactJson('value', 'json')) }),
          ...encoded?.wanted,
          ...(body.headers !== undefined && { headers: headersOf(body.headers) }),
          ...(body.target_topic !== undefined && { targetTopic: body.target_topic }),
        }
        const policy = policies.policyOf(message)
        const project = payloads?.projectFor(message) ?? projectJson
        const { fields, after } = applyEdit(content, wanted, policy, encoded?.projectWith(project) ?? project)
        if (fields.length > 0) {
          requireEditable(message)
          const { actor, request_id } = call.by
          await editMessage(sql, { id: message.id, actor, request_id, reason: asked.reason, fields, after })
          await auditMessage(sql, message, { action: 'message.edit', asked, after: { fields } })
        }
        await reschedule(sql, message, { body, asked })
        // Read under the lock. After the transaction the ETag could be that of another client's change.
        return getMessage(sql, { id: params.id, scope: access.topics })
      })
      return sendMessage(c, changed!, sight)
    },
  ),

  defineRoute(
    {
      method: 'delete',
      path: '/api/v1/dlq/messages/:id',
      summary: 'Delete a dead letter with its history',
      description: 'The reason, in the query or in the body, goes into the audit.',
      role: 'write',
      masks: 'none',
      params: messagePath,
      query: v.strictObject({ reason }),
      headers: v.object(ifMatchHeader),
      body: reasonBody,
      bodyExample: { reason: 'a test record' },
      answers: {
        200: {
          description: 'It is deleted.',
          schema: v.strictObject({ success: v.literal(true), message: v.string() }),
          example: { success: true, message: `message ${exampleId} deleted` },
        },
      },
      faults: changeFaults,
    },
    async (call) => {
      const { c, sql, query } = call
      const asked = { ...askedOf(call), reason: call.body.reason ?? query.reason ?? null }
      await sql.begin(async (sql) => {
        const message = await holdAsSeen(sql, { ...asked, evenErased: true })
        if (message.status === 'RETRYING')
          throw new ApiError('SYS_DLQ_CONFLICT', `message ${asked.id} is being retried; delete it when that is settled`)
        await deleteMessages(sql, { ids: [asked.id], archived: false })
        await auditMessage(sql, message, { action: 'message.delete', asked, before: { status: message.status } })
      })
      return c.json({ success: true, message: `message ${asked.id} deleted` })
    },
  ),
]

type ChangeCall = Pick<Call, 'access' | 'by'> & {
  params: { id: string }
  headers: { 'if-match'?: string | undefined }
  body: { reason?: string | undefined }
}

export function askedOf({ params, access, by, headers, body }: ChangeCall): Asked {
  return { id: params.id, scope: access.topics, by, ifMatch: headers['if-match'], reason: body.reason ?? null }
}

async function move(
  call: ChangeCall & Pick<Call, 'c' | 'sql' | 'now' | 'policies' | 'sight'>,
  { event, action }: { event: 'marked_dead' | 'revived'; action: string },
): Promise<Response> {
  const { c, sql, access, policies, params } = call
  const asked = askedOf(call)
  await policies.refresh()
  const message = await sql.begin(async (sql) => {
    const held = await holdAsSeen(sql, asked)
    await changeState(sql, held, { event, action, asked, policies, now: call.now() })
    return getMessage(sql, { id: params.id, scope: access.topics })
  })
  return sendMessage(c, message!, call.sight)
}

export function sendMessage(c: Call['c'], message: MessageView, sight: Sight): Response {
  c.header('ETag', message.etag)
  return sendJsonText(c, messageJson(shown(message, sight)))
}

type Schedule = { max_retries?: number | undefined; next_retry_at?: Date | null | undefined }

async function reschedule(
  sql: Parameters<typeof writeSchedule>[0],
  message: HeldMessage,
  { body, asked }: { body: Schedule; asked: Asked },
): Promise<void> {
  const { max_retries, next_retry_at } = body
  if ((max_retries ?? message.max_retries) === message.max_retries && next_retry_at === undefined) return
  if (next_retry_at && message.status !== 'PENDING')
    throw new ApiError(
      'SYS_DLQ_CONFLICT',
      `message ${message.id} is ${message.status}: only PENDING messages are retried at a time`,
    )
  const stored = await writeSchedule(sql, { id: message.id, max_retries: max_retries ?? null, next_retry_at })
  // As it is now: the same request may have given it the value that it waited for.
  if (next_retry_at && stored === null)
    throw new ApiError('SYS_DLQ_CONFLICT', `message ${message.id} is held and gets no time: ${whyHeld(message)}`)
  await auditMessage(sql, message, {
    action: 'message.schedule',
    asked,
    before: { max_retries: message.max_retries, next_retry_at: message.next_retry_at },
    after: { max_retries: max_retries ?? message.max_retries, next_retry_at: stored },
  })
}
