// Who is on call stops the retries of a topic, or the ingestion of a DLQ topic, and lets them go on.

import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { beyondStorableText, isStorableText } from 'dlq-core/domain/record/text-for-postgres.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { isDlqTopic } from 'dlq-core/queries/ingest/topics.ts'
import { countByValue } from 'dlq-core/queries/reading/summary.ts'
import {
  listTopicPauses,
  type Pausable,
  pausables,
  pauseTopic,
  resumeTopic,
  type TopicPause,
} from 'dlq-core/queries/retry/topic-pauses.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import * as v from 'valibot'
import { ApiError, invalidField } from '../../http/api-error.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import { exampleTopicPause, pauseOf, topicPauseJson, topicPauseSchema } from '../../pauses/pause-json.ts'
import { instant, reason, topicPath } from '../../request/request-schemas.ts'

const what = v.optional(
  v.pipe(
    v.picklist(pausables, `must be one of ${pausables.join(', ')}`),
    v.description('What is paused: the retries of the topic, or the ingestion of a DLQ topic.'),
  ),
  'retries',
)

const answers = {
  200: {
    description: 'What is paused of the topic now.',
    schema: v.pipe(
      v.strictObject({
        topic: v.string(),
        paused: v.nullable(topicPauseSchema),
        ingestion_paused: v.nullable(topicPauseSchema),
      }),
      v.title('TopicPauses'),
    ),
    example: { topic: 'orders', paused: exampleTopicPause, ingestion_paused: null },
  },
}
const faults = ['SYS_DLQ_FORBIDDEN', 'SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT'] as const

export const topicPauseRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/topics/:topic/pause',
      summary: 'Stop the retries of a topic, or the ingestion of a DLQ topic',
      description: [
        'An original topic or a DLQ topic, by its exact name. From the answer on nothing of it is claimed: what falls due',
        'by itself, what somebody asks for, and what runs hold waits; retriers finish the batches that they hold. The',
        'pause ends at `until`, or when somebody resumes the topic. A pause that is set again keeps its `since`.',
      ].join(' '),
      role: 'write',
      masks: 'shown',
      params: topicPath,
      body: v.strictObject({
        what,
        until: v.optional(v.nullable(instant), null),
        reason: v.pipe(
          v.string('must say why'),
          v.metadata({ pattern: '\\S', maxLength: 1000 }),
          v.check((text) => text.trim() !== '', 'must say why'),
          v.maxLength(1000, 'must be at most 1000 characters'),
          v.check(isStorableText, beyondStorableText),
        ),
      }),
      bodyExample: { reason: 'the card network is down' },
      answers,
      faults,
    },
    async (call) => {
      const { params, body } = call
      if (body.until !== null && body.until.getTime() <= Date.now())
        throw invalidField('until', 'must be in the future')
      return change(call, { topic: params.topic, what: body.what, reason: body.reason, action: 'pause' }, (sql) =>
        pauseTopic(sql, { topic: params.topic, ...body, by: call.by.actor }),
      )
    },
  ),

  defineRoute(
    {
      method: 'post',
      path: '/api/v1/topics/:topic/resume',
      summary: 'Let the retries of a paused topic, or its ingestion, go on',
      description: 'Nothing happens where it is not paused.',
      role: 'write',
      masks: 'shown',
      params: topicPath,
      body: v.optional(v.strictObject({ what, reason }), {}),
      bodyExample: { reason: 'the card network is back' },
      answers,
      faults,
    },
    async (call) => {
      const { params, body } = call
      return change(
        call,
        { topic: params.topic, what: body.what, reason: body.reason ?? null, action: 'resume' },
        (sql) => resumeTopic(sql, { topic: params.topic, what: body.what }),
      )
    },
  ),
]

type Change = { topic: string; what: Pausable; reason: string | null; action: 'pause' | 'resume' }

/** `write` returns the pause before the change; null where none was in force. */
async function change(
  { c, sql, access, sight, by, wakeRetriers }: Pick<Call, 'c' | 'sql' | 'access' | 'sight' | 'by' | 'wakeRetriers'>,
  { topic, what, reason, action }: Change,
  write: (sql: Sql) => Promise<TopicPause | null>,
): Promise<Response> {
  // First of all, and whether the topic exists or not: who may not see it learns nothing of it.
  if (access.topics !== null && !matchesTopicGlobs(access.topics, topic))
    throw new ApiError('SYS_DLQ_FORBIDDEN', `this token may not pause or resume ${topic}`)
  await refuseUnknown(sql, { topic, what })
  const pauses = await sql.begin(async (sql) => {
    const before = await write(sql)
    const after = await listTopicPauses(sql, { scope: null, topics: [topic] })
    const now = after.find((one) => one.what === what) ?? null
    if (before !== null || now !== null) {
      const isDlq = await isDlqTopic(sql, topic)
      await writeAudit(sql, {
        ...by,
        ...{ action: `topic.${action}`, target_type: 'topic', target_id: topic, reason },
        ...(isDlq ? { dlq_topic: topic } : { original_topic: topic }),
        before: before && { what, ...topicPauseJson(before) },
        after: now && { what, ...topicPauseJson(now) },
      })
    }
    return after
  })
  if (action === 'resume') wakeRetriers()
  return c.json({
    topic,
    paused: pauseOf(pauses, topic, { what: 'retries', sight }),
    ingestion_paused: pauseOf(pauses, topic, { what: 'ingestion', sight }),
  })
}

/** A slip of the pen would pause nothing, and look as if it had. */
async function refuseUnknown(sql: Sql, { topic, what }: { topic: string; what: Pausable }): Promise<void> {
  if (await isDlqTopic(sql, topic)) return
  const [asDlq, asOriginal] = await Promise.all(
    (['dlq_topic', 'original_topic'] as const).map((column) =>
      countByValue(sql, { column, values: [topic], scope: null }),
    ),
  )
  if (!asDlq!.has(topic) && !asOriginal!.has(topic))
    throw new ApiError('SYS_DLQ_NOT_FOUND', `no DLQ topic and no original topic is known by the name ${topic}`)
  if (what === 'ingestion' && !asDlq!.has(topic))
    throw new ApiError('SYS_DLQ_CONFLICT', `${topic} is no DLQ topic, so nothing is ingested from it`)
}
