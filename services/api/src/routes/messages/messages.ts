// Reads one dead letter: all that is stored about it, its attempts, and its bytes.

import { isUtf8 } from 'node:buffer'
import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { hidesKey } from 'dlq-core/domain/masks/create-masks.ts'
import { projectPayload } from 'dlq-core/domain/record/payload-projection.ts'
import { getMessageDetail, getRecordBytes } from 'dlq-core/queries/reading/message-detail.ts'
import { listAttempts } from 'dlq-core/queries/retry/attempts.ts'
import { listStaleness } from 'dlq-core/queries/staleness/answers.ts'
import { listNewerDeadLetters } from 'dlq-core/queries/staleness/newer-dead-letters.ts'
import * as v from 'valibot'
import { mapInSteps } from '../../answers/next-step.ts'
import { notFound } from '../../http/api-error.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import { refusePart } from '../../masks/refuse-hidden.ts'
import { shown } from '../../masks/shown.ts'
import { attemptJson, attemptSchema, exampleAttempt } from '../../messages/attempt-json.ts'
import { detailJson, detailSchema, exampleDetail, withDecoded } from '../../messages/message-detail-json.ts'
import { sendJsonText } from '../../messages/message-json.ts'
import { maxNewer } from '../../messages/staleness-json.ts'
import { decodeMessage } from '../../payloads/decode-message.ts'
import { messagePath } from '../../request/request-schemas.ts'

export const messageRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/dlq/messages/:id',
      summary: 'One dead letter',
      description: 'Also finds archived messages; archived_at then says since when.',
      role: 'read',
      masks: 'shown',
      showsPayloads: true,
      params: messagePath,
      answers: {
        200: {
          description: 'The dead letter.',
          schema: detailSchema,
          example: exampleDetail,
          headers: { ETag: 'Changes with every change of the message; send it as If-Match with changes.' },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access, sight, policies, payloads, params: { id } }) => {
      const [message] = await Promise.all([getMessageDetail(sql, { id, scope: access.topics }), policies.refresh()])
      if (!message) throw notFound(id)
      // Not beside the message: the time that it takes would tell of messages of others.
      const attempts = await listAttempts(sql, id)
      c.header('ETag', message.etag)
      // Whoever writes a DLQ topic may name any original topic: that alone must not show them its policy.
      const { held_by_route, dlq_topic, original_topic } = message
      const isOthers = held_by_route && access.topics !== null && !matchesTopicGlobs(access.topics, original_topic)
      const policy = policies.effectivePolicyOf({
        dlq_topic,
        original_topic: isOthers && dlq_topic !== null ? dlq_topic : original_topic,
      })
      // Of a key that the sender may have chosen, and may not see, what else has it would tell whether it was guessed.
      const seesKey = !hidesKey(sight.maskOf(message))
      const mayBeGuessed = dlq_topic === null && !seesKey
      const newer = mayBeGuessed
        ? []
        : await listNewerDeadLetters(sql, { message, scope: access.topics, seesKey, limit: maxNewer })
      const [staleness = null] =
        mayBeGuessed || policy.policy.staleness === 'ignore' ? [] : await listStaleness(sql, [id])
      const decoded = withDecoded(message, await decodeMessage(payloads, message))
      const ofMessage = await mapInSteps(attempts, (attempt) => shown(attempt, sight, message))
      return sendJsonText(c, detailJson(shown(decoded, sight), { attempts: ofMessage, policy, newer, staleness }))
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/dlq/messages/:id/attempts',
      summary: 'The attempts of a dead letter',
      role: 'read',
      masks: 'shown',
      params: messagePath,
      answers: {
        200: {
          description: 'The attempts, the first one first.',
          schema: v.strictObject({ attempts: v.array(attemptSchema) }),
          example: { attempts: [exampleAttempt] },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access, sight, params: { id } }) => {
      const message = await getMessageDetail(sql, { id, scope: access.topics })
      if (!message) throw notFound(id)
      const attempts = await listAttempts(sql, id)
      return c.json({ attempts: await mapInSteps(attempts, (one) => attemptJson(shown(one, sight, message))) })
    },
  ),

  bytesRoute('key', 'record_key', ['text/plain', 'application/octet-stream']),
  bytesRoute('value', 'record_value', ['application/json', 'text/plain', 'application/octet-stream']),
]

function bytesRoute(name: 'key' | 'value', part: 'record_key' | 'record_value', types: readonly string[]) {
  return defineRoute(
    {
      method: 'get',
      path: `/api/v1/dlq/messages/:id/${name}`,
      summary: `The record’s ${name}, byte for byte, as a download`,
      role: 'read',
      masks: 'bytes',
      showsPayloads: true,
      params: messagePath,
      answers: {
        200: { description: 'The bytes.', types, headers: { 'Content-Disposition': 'A name for the file.' } },
        204: { description: `The record has no ${name}.` },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    (call) => sendBytes(call, { name, part }),
  )
}

async function sendBytes(
  { c, sql, access, sight, params: { id } }: Call<typeof messagePath>,
  { name, part }: { name: 'key' | 'value'; part: 'record_key' | 'record_value' },
): Promise<Response> {
  const record = await getRecordBytes(sql, { id, scope: access.topics, part })
  if (!record) throw notFound(id)
  refusePart(name, sight.maskOf(record))
  sight.unmasked?.note(id, record)
  const bytes = record.payload === null ? record.bytes : Buffer.from(record.payload)
  if (bytes === null) return c.body(null, 204)
  const [type, ending] = kindOf(bytes, part)
  return c.body(new Uint8Array(bytes), 200, {
    'content-type': type,
    // Always a download, because HTML of a stranger would run in the browser's window.
    'content-disposition': `attachment; filename="${id}.${name}.${ending}"`,
  })
}

function kindOf(bytes: Buffer, part: 'record_key' | 'record_value'): [type: string, ending: string] {
  if (part === 'record_value' && projectPayload(bytes) !== null) return ['application/json', 'json']
  return isUtf8(bytes) && !bytes.includes(0)
    ? ['text/plain; charset=utf-8', 'txt']
    : ['application/octet-stream', 'bin']
}
