// The consumer groups that read a topic, as a retrier last saw them.

import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { listTopicReaders } from 'dlq-core/queries/readers/verdicts.ts'
import * as v from 'valibot'
import { defineRoute } from '../../http/define-route.ts'
import { count } from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { topicName } from '../../request/request-schemas.ts'

const readerSchema = v.pipe(
  v.strictObject({
    consumer_group: v.string(),
    type: v.pipe(
      v.string(),
      v.description(
        'classic, consumer (KIP-848), share (KIP-932) or streams (KIP-1071); unknown where Kafka does not say.',
      ),
    ),
    state: v.pipe(
      v.string(),
      v.description(
        'As Kafka says: Stable, Empty, Dead and others; not_allowed where Kafka tells the retrier nothing.',
      ),
    ),
    members: v.pipe(v.nullable(count), v.description('Those that read this topic; null where Kafka does not say.')),
    lag: v.pipe(
      v.nullable(v.string()),
      v.description('The records that it has not read, over the partitions where it has committed an offset.'),
    ),
    partitions: count,
    read_partitions: v.pipe(count, v.description('Those where it has committed an offset.')),
    looked_at: timestampText,
  }),
  v.title('TopicReader'),
)

const exampleReader = {
  consumer_group: 'billing',
  type: 'classic',
  state: 'Stable',
  members: 3,
  lag: '12',
  partitions: 8,
  read_partitions: 8,
  looked_at: '2026-02-20T10:30:01.000+00:00',
}

export const readerRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/topics/:topic/readers',
      summary: 'The consumer groups that read a topic',
      description:
        'Groups of a topic that messages were sent to, as a retrier last saw them; none of other topics, and none outside the token’s topics.',
      role: 'read',
      masks: 'none',
      params: v.strictObject({ topic: topicName }),
      answers: {
        200: {
          description: 'By name.',
          schema: v.strictObject({ readers: v.array(readerSchema) }),
          example: { readers: [exampleReader] },
        },
      },
    },
    async ({ c, sql, params: { topic }, access: { topics: scope } }) => {
      const readers = scope !== null && !matchesTopicGlobs(scope, topic) ? [] : await listTopicReaders(sql, topic)
      return c.json({
        readers: readers.map(({ lag, looked_at: lookedAt, ...reader }) => ({
          ...reader,
          lag: lag === null ? null : String(lag),
          looked_at: timestamp(lookedAt),
        })),
      })
    },
  ),
]
