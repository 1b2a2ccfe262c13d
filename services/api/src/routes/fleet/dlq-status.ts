// The endpoints of the observability specification. In its words a channel is an original topic, a consumer is a
// consumer group of it, and a job is a dead letter.

import { smallestId } from 'dlq-core/domain/record/message-id.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { deleteSpent, purgeSpent } from 'dlq-core/queries/change/message-purge.ts'
import { countDeadByConsumer } from 'dlq-core/queries/reading/summary.ts'
import * as v from 'valibot'
import { brokerHeaders } from '../../access/broker-tokens.ts'
import { requireExactCounts } from '../../fleet/exact-counts.ts'
import { noConsumer } from '../../fleet/no-consumer.ts'
import { ApiError, notFound } from '../../http/api-error.ts'
import { defineRoute } from '../../http/define-route.ts'
import { idOf, topicPath } from '../../request/request-schemas.ts'
import { namesOf } from '../../topics/names-of.ts'

const consumerPath = { channelId: topicPath.entries.topic, consumerId: topicPath.entries.topic }

const brokerToken = (what: string) =>
  v.exactOptional(v.pipe(v.string(), v.description(`The token of the ${what}; both instead of a bearer token.`)))
const brokerTokenHeaders = v.object({
  [brokerHeaders.channel]: brokerToken('channel'),
  [brokerHeaders.consumer]: brokerToken('consumer'),
})

const statusSchema = v.pipe(
  v.strictObject({
    consumers: v.array(
      v.strictObject({
        channelId: v.string(),
        channelName: v.string(),
        consumerId: v.string(),
        consumerName: v.string(),
        deadCount: v.pipe(v.number(), v.integer()),
      }),
    ),
  }),
  v.title('DLQStatus'),
)

const deletedSchema = v.strictObject({ deleted: v.pipe(v.number(), v.integer()), message: v.string() })

/** Up to so many messages are deleted in one transaction; a larger purge goes chunk by chunk. */
const atOnce = 10_000
const chunkSize = 2000

export const dlqStatusRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/dlq-status',
      summary: 'The number of DEAD messages per original topic and consumer group',
      description: [
        'Exact, and as fast with 23 million messages as with a hundred. Every topic and consumer group that has messages is',
        `listed, also with \`deadCount\` 0. Messages that name no consumer group stand under \`${noConsumer}\`.`,
      ].join(' '),
      role: 'read',
      masks: 'none',
      answers: {
        200: {
          description: 'The counts.',
          schema: statusSchema,
          example: {
            consumers: [
              {
                channelId: 'order-events',
                channelName: 'Order Events',
                consumerId: 'payment-service',
                consumerName: 'payment-service',
                deadCount: 23469224,
              },
            ],
          },
        },
      },
    },
    async (call) => {
      await requireExactCounts(call)
      const counts = await countDeadByConsumer(call.sql, { scope: call.access.topics })
      const topics = counts.flatMap(({ original_topic, dlq_topics }) => [original_topic, ...dlq_topics])
      const groups = counts.flatMap(({ consumer_group: group }) => (group === null ? [] : [group]))
      const [topicName, groupName] = await Promise.all([
        namesOf(call, 'topic', topics),
        namesOf(call, 'consumer_group', groups),
      ])
      // A name that was given to its DLQ topic only is the name of the channel, too.
      const channelName = (topic: string, dlqTopics: readonly string[]) =>
        topicName(topic) ?? dlqTopics.map(topicName).find((name) => name !== null) ?? topic
      return call.c.json({
        consumers: counts.map(({ original_topic, consumer_group, dlq_topics, dead }) => ({
          channelId: original_topic,
          channelName: channelName(original_topic, dlq_topics),
          consumerId: consumer_group ?? noConsumer,
          consumerName: consumer_group === null ? 'no consumer group' : (groupName(consumer_group) ?? consumer_group),
          deadCount: dead,
        })),
      })
    },
  ),

  defineRoute(
    {
      method: 'delete',
      path: '/channel/:channelId/consumer/:consumerId/dlq',
      summary: 'Delete the messages of a consumer group that are DEAD with their budget spent',
      description: [
        `Up to ${atOnce} DEAD messages of the topic are examined in one transaction, with their count and audit entry. A`,
        `larger purge is made in chunks of ${chunkSize}, each a transaction of its own: a request that is cut off has`,
        'deleted what the counts say, and can be repeated for the rest. Messages that were given up with attempts left stay.',
      ].join(' '),
      role: 'write',
      masks: 'none',
      headers: brokerTokenHeaders,
      params: v.object(consumerPath),
      answers: {
        200: {
          description: 'How many were deleted.',
          schema: deletedSchema,
          example: { deleted: 1204, message: '1204 dead messages of consumer payment-service deleted' },
        },
      },
    },
    async ({ c, sql, access, by, params, signal }) => {
      const consumer = consumerOf(params)
      let deleted = 0
      let limit = atOnce
      for (let afterId: string | null = smallestId; afterId !== null && !signal.aborted; ) {
        const from: string = afterId
        const chunk = await sql.begin(async (sql) => {
          const chunk = await purgeSpent(sql, { ...consumer, scope: access.topics, afterId: from, limit })
          if (chunk.deleted > 0) {
            await writeAudit(sql, {
              ...by,
              action: 'consumer.purge',
              target_type: 'consumer',
              target_id: `${params.channelId}/${params.consumerId}`,
              original_topic: params.channelId,
              before: { status: 'DEAD', messages: chunk.deleted },
            })
          }
          return chunk
        })
        deleted += chunk.deleted
        afterId = chunk.lastId
        limit = chunkSize
      }
      return c.json({ deleted, message: `${deleted} dead messages of consumer ${params.consumerId} deleted` })
    },
  ),

  defineRoute(
    {
      method: 'delete',
      path: '/channel/:channelId/consumer/:consumerId/job/:jobId',
      summary: 'Delete one message that is DEAD with its budget spent',
      role: 'write',
      masks: 'none',
      headers: brokerTokenHeaders,
      params: v.object({ ...consumerPath, jobId: idOf('job') }),
      answers: {
        200: {
          description: 'It is deleted.',
          schema: deletedSchema,
          example: { deleted: 1, message: 'message 019cb95a-6fea-7b63-9f9e-5cd0e2a4e29b deleted' },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT'],
    },
    async ({ c, sql, access, by, params }) => {
      const { jobId: id, channelId } = params
      await sql.begin(async (sql) => {
        const outcome = await deleteSpent(sql, { id, ...consumerOf(params), scope: access.topics })
        if (outcome === 'not_found') throw notFound(id)
        if (outcome === 'not_spent')
          throw new ApiError(
            'SYS_DLQ_CONFLICT',
            `message ${id} is not DEAD with its retries spent, so it is not deleted`,
          )
        await writeAudit(sql, {
          ...by,
          action: 'message.delete',
          target_type: 'message',
          target_id: id,
          original_topic: channelId,
          dlq_topic: outcome.dlq_topic,
          before: { status: 'DEAD' },
        })
      })
      return c.json({ deleted: 1, message: `message ${id} deleted` })
    },
  ),
]

function consumerOf({ channelId, consumerId }: { channelId: string; consumerId: string }) {
  return { originalTopic: channelId, consumerGroup: consumerId === noConsumer ? null : consumerId }
}
