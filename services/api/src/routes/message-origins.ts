// A dead letter beside the record that failed. Only retriers ask Kafka for it; the answer is stored and read here.

import { setTimeout as sleep } from 'node:timers/promises'
import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { compareTask, findOrigin, type StoredOrigin } from 'dlq-core/queries/origin/origins.ts'
import { getMessageDetail, type MessageDetail } from 'dlq-core/queries/reading/message-detail.ts'
import { addJob } from 'dlq-core/queries/upkeep/workers.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import * as v from 'valibot'
import { refuseWithoutKafka } from '../fleet/refuse-without-kafka.ts'
import { ApiError, notFound } from '../http/api-error.ts'
import { type Call, defineRoute } from '../http/define-route.ts'
import { refusePart } from '../masks/refuse-hidden.ts'
import { sendJsonText } from '../messages/message-json.ts'
import { exampleOrigin, originJson, originSchema } from '../origins/origin-json.ts'
import { fetchSchemasOf } from '../payloads/edit-decoded.ts'
import { pollPause } from '../request/poll-pause.ts'
import { messagePath, preferHeader, waitMsOf } from '../request/request-schemas.ts'

const pollMs = 50
const maxWaitMs = 10_000

const compared = { description: 'The comparison.', schema: originSchema, example: exampleOrigin }

export const messageOriginRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/dlq/messages/:id/origin',
      summary: 'Compare a dead letter with the record that failed',
      description: [
        'A retrier fetches the record at the original place, and the answer waits for it, at most ten seconds. Nothing of the',
        'message changes. A token needs both topics of the message.',
      ].join(' '),
      role: 'write',
      masks: 'bytes',
      showsPayloads: true,
      params: messagePath,
      headers: v.object(preferHeader),
      waits: true,
      answers: {
        200: compared,
        202: {
          description: 'No retrier has compared it within the time to wait: ask with GET.',
          schema: v.strictObject({ id: v.string(), message: v.string() }),
          example: { id: '550e8400-e29b-41d4-a716-446655440000', message: 'the comparison was asked for' },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT', 'SYS_DLQ_FORBIDDEN', 'SYS_DLQ_KAFKA_UNAVAILABLE'],
    },
    async (call) => {
      const { c, sql, params, headers, signal, retryWaitMs } = call
      const message = await readMessage(call)
      const { id } = params
      refuseIncomparable(message)
      await refuseWithoutKafka(sql)
      const before = await findOrigin(sql, id)
      await addJob(sql, { task: compareTask, payload: { id }, key: `${compareTask} ${id}`, maxAttempts: 3 })
      const startedAt = monotonicNow()
      const deadline = startedAt + Math.min(maxWaitMs, waitMsOf(headers.prefer, retryWaitMs))
      for (;;) {
        const origin = await findOrigin(sql, id)
        if (origin !== null && origin.tries !== (before?.tries ?? 0)) return sendOrigin(call, { message, origin })
        if (monotonicNow() + pollMs > deadline || signal.aborted)
          return c.json({ id, message: 'the comparison was asked for; no retrier has made it yet' }, 202)
        await sleep(pollPause({ startedAt, deadline, pollMs }))
      }
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/dlq/messages/:id/origin',
      summary: 'How a dead letter compares with the record that failed',
      description:
        'As it was last compared. The patch is from the message as it is now. A token needs both topics of it.',
      role: 'read',
      masks: 'bytes',
      showsPayloads: true,
      params: messagePath,
      answers: { 200: compared },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_FORBIDDEN'],
    },
    async (call) => {
      const message = await readMessage(call)
      const origin = await findOrigin(call.sql, call.params.id)
      if (origin === null)
        throw new ApiError('SYS_DLQ_NOT_FOUND', `message ${call.params.id} has not been compared: POST …/origin first`)
      return sendOrigin(call, { message, origin })
    },
  ),
]

type OriginCall = Pick<Call<typeof messagePath>, 'c' | 'sql' | 'access' | 'sight' | 'payloads' | 'params'>

/** The original shows what stands in another topic, so both count. */
async function readMessage({ sql, access: { topics }, sight, params: { id } }: OriginCall): Promise<MessageDetail> {
  const message = await getMessageDetail(sql, { id, scope: topics })
  if (!message) throw notFound(id)
  requireBothTopics(message, topics)
  const mask = sight.maskOf(message)
  for (const part of ['key', 'value', 'headers'] as const) refusePart(part, mask)
  sight.unmasked?.note(id, message)
  return message
}

/** @throws {ApiError} 403 where the token does not see the DLQ topic and the original topic */
export function requireBothTopics(
  { original_topic, dlq_topic }: Pick<MessageDetail, 'original_topic' | 'dlq_topic'>,
  scope: readonly string[] | null,
): void {
  const hidden = [original_topic, dlq_topic].find(
    (topic) => scope !== null && topic !== null && !matchesTopicGlobs(scope, topic),
  )
  if (hidden !== undefined)
    throw new ApiError('SYS_DLQ_FORBIDDEN', `the original needs a token whose topics include ${hidden}`)
}

function refuseIncomparable({ id, status, edits, dlq_topic, archived_at, record_source }: MessageDetail): void {
  const conflict = (why: string) => new ApiError('SYS_DLQ_CONFLICT', `message ${id} ${why}`)
  if (archived_at !== null) throw conflict('is archived; restore it first')
  if (dlq_topic === null) throw conflict('did not come from a DLQ topic, so it has no original')
  if (status === 'RETRYING') throw conflict('is being retried; compare it when that is settled')
  if (edits > 0)
    throw conflict(record_source === 'origin' ? 'has adopted its original' : 'was edited, which ends all comparing')
}

async function sendOrigin(
  call: OriginCall,
  { message, origin }: { message: MessageDetail; origin: StoredOrigin },
): Promise<Response> {
  await fetchSchemasOf(call, message.id)
  return sendJsonText(call.c, await originJson(call.sql, { message, origin, payloads: call.payloads }))
}
