// Gives topics and consumer groups names that people know.

import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { textForPostgres } from 'dlq-core/domain/record/text-for-postgres.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { type NamedKind, setName } from 'dlq-core/queries/ingest/display-names.ts'
import * as v from 'valibot'
import { ApiError } from '../../http/api-error.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import { reason, topicPath } from '../../request/request-schemas.ts'
import { findTopic } from '../../topics/find-topics.ts'
import { namesOf } from '../../topics/names-of.ts'

const maxChars = 200
const body = v.strictObject({
  display_name: v.pipe(
    v.nullable(
      v.pipe(
        v.string('must be text, or null'),
        v.metadata({ pattern: '\\S', maxLength: maxChars }),
        v.transform((text) => textForPostgres(text.trim(), maxChars * 4)),
        v.minLength(1, 'must not be empty'),
        v.maxLength(maxChars, `must be at most ${maxChars} characters`),
      ),
    ),
    v.description('Null: the name of the configuration, or none.'),
  ),
  reason,
})

const displayName = v.pipe(v.nullable(v.string()), v.description('The name that is shown now.'))

export const nameRoutes = [
  defineRoute(
    {
      method: 'patch',
      path: '/api/v1/topics/:topic',
      summary: 'Give a topic a name',
      description: 'A DLQ topic or an original topic. The name is shown beside that of Kafka, which stays the id.',
      role: 'write',
      masks: 'none',
      params: topicPath,
      body,
      bodyExample: { display_name: 'Order Events' },
      answers: {
        200: {
          description: 'The name.',
          schema: v.pipe(v.strictObject({ topic: v.string(), display_name: displayName }), v.title('TopicName')),
          example: { topic: 'orders.events.v1', display_name: 'Order Events' },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async (call) => {
      const { c, sql, access, params, body } = call
      const { topic } = params
      const found = await findTopic(sql, { topic, scope: access.topics })
      if (!found) throw new ApiError('SYS_DLQ_NOT_FOUND', `topic not found: ${topic}`)
      if (access.topics !== null && !matchesTopicGlobs(access.topics, topic))
        throw new ApiError('SYS_DLQ_FORBIDDEN', `this token covers some messages of ${topic}, and not the topic itself`)
      await rename(call, { kind: 'topic', id: topic, body })
      return c.json({ topic, display_name: (await namesOf(call, 'topic', [topic]))(topic) })
    },
  ),

  defineRoute(
    {
      method: 'patch',
      path: '/api/v1/consumer-groups/:group',
      summary: 'Give a consumer group a name',
      role: 'write',
      masks: 'none',
      // A group may consume topics that the token may not see.
      allTopics: true,
      params: v.object({
        group: v.pipe(
          v.string(),
          v.metadata({ pattern: '^[^\\u0000-\\u001f]*$' }),
          v.maxLength(255, 'invalid consumer group: it must be at most 255 characters'),
          v.check(
            // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
            (name) => !/[\u0000-\u001f]/.test(name) && name.isWellFormed(),
            'invalid consumer group: it must not hold control characters',
          ),
        ),
      }),
      body,
      bodyExample: { display_name: 'Payment Service' },
      answers: {
        200: {
          description: 'The name.',
          schema: v.pipe(
            v.strictObject({ consumer_group: v.string(), display_name: displayName }),
            v.title('ConsumerGroupName'),
          ),
          example: { consumer_group: 'payment-service', display_name: 'Payment Service' },
        },
      },
    },
    async (call) => {
      const { c, params, body } = call
      const { group } = params
      await rename(call, { kind: 'consumer_group', id: group, body })
      return c.json({ consumer_group: group, display_name: (await namesOf(call, 'consumer_group', [group]))(group) })
    },
  ),
]

async function rename(
  { sql, by }: Pick<Call, 'sql' | 'by'>,
  { kind, id, body: { display_name, reason } }: { kind: NamedKind; id: string; body: v.InferOutput<typeof body> },
): Promise<void> {
  await sql.begin(async (sql) => {
    const before = await setName(sql, { kind, id, name: display_name })
    if (before === display_name) return
    await writeAudit(sql, {
      ...by,
      ...{ action: `${kind}.rename`, target_type: kind, target_id: id, reason },
      ...(kind === 'topic' && { original_topic: id, dlq_topic: id }),
      ...{ before: { display_name: before }, after: { display_name } },
    })
  })
}
