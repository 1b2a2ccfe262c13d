// All dead letters of a topic at once.

import type { TopicColumn } from 'dlq-core/queries/message-retry.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { isDlqTopic } from 'dlq-core/queries/topics.ts'
import * as v from 'valibot'
import { defineRoute } from '../define-route.ts'
import { refuseWithoutKafka } from '../refuse-without-kafka.ts'
import { topicPath } from '../request-schemas.ts'
import { retryTopic } from '../retry-topic.ts'

export const topicMessageRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/dlq/:topic/retry-all',
      summary: 'Retry every dead letter of a topic that may be retried',
      description: 'Marks them due; the retriers send them, within the topic’s policy.',
      role: 'write',
      params: topicPath,
      answers: {
        200: {
          description: 'How many were marked.',
          schema: v.strictObject({ retried: v.pipe(v.number(), v.integer()), message: v.string() }),
          example: { retried: 15, message: '15 messages retried in topic orders.dlq.v1' },
        },
      },
      faults: ['SYS_DLQ_KAFKA_UNAVAILABLE'],
    },
    async ({ c, sql, policies, access, by, params: { topic }, wakeRetriers }) => {
      const column = await columnOf(sql, topic)
      await policies.refresh()
      const { policy } = policies.policyFor({ originalTopic: topic, dlqTopic: null })
      if (column === 'dlq_topic' || policy.delivery !== 'pull') await refuseWithoutKafka(sql)
      const retried = await retryTopic(sql, { column, topic, scope: access.topics, by, wakeRetriers })
      return c.json({ retried, message: `${retried} messages retried in topic ${topic}` })
    },
  ),
]

/** A known DLQ topic means what was read from it; any other name, what came from there. One index each, never an OR. */
async function columnOf(sql: Sql, topic: string): Promise<TopicColumn> {
  return (await isDlqTopic(sql, topic)) ? 'dlq_topic' : 'original_topic'
}
