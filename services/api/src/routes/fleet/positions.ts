// The positions of the DLQ topics, and a request to move one.

import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { lockPosition, resetPosition } from 'dlq-core/queries/ingest/positions.ts'
import { listAllPositions, type Position } from 'dlq-core/queries/topic-lists/topic-overview.ts'
import * as v from 'valibot'
import { ApiError, invalidField } from '../../http/api-error.ts'
import { defineRoute } from '../../http/define-route.ts'
import { bindingOf, decodeCursor, encodeCursor, keyParts } from '../../lists/cursor.ts'
import { count } from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { clusterId, reason, topicName, wholeNumber } from '../../request/request-schemas.ts'

const positionSchema = v.pipe(
  v.strictObject({
    cluster: v.string(),
    topic: v.string(),
    partition: count,
    generation: v.pipe(count, v.description('How often the topic was deleted and created again.')),
    next_offset: v.pipe(v.string(), v.description('All records before this offset are stored.')),
    updated_at: timestampText,
  }),
  v.title('Position'),
)
const examplePosition = {
  cluster: 'bqzHLZgsR8ahKlMZHYcfLg',
  topic: 'orders.dlq.v1',
  partition: 0,
  generation: 0,
  next_offset: '4712',
  updated_at: '2026-02-20T10:30:01.000+00:00',
}

const maxInt32 = 2_147_483_647
const int32 = v.pipe(
  v.number('must be a number'),
  v.integer('must be whole'),
  v.minValue(0, 'must not be negative'),
  v.maxValue(maxInt32, `must be at most ${maxInt32}`),
)
const offset = v.pipe(
  v.string('must be an offset, as text'),
  v.regex(/^\d{1,18}$/, 'must be an offset, as text'),
  v.transform((text) => BigInt(text)),
)

/** Cluster, topic and partition. */
const positionKey = v.strictTuple([keyParts.text, keyParts.text, keyParts.int32])

export const positionRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/positions',
      summary: 'The position of each partition',
      role: 'read',
      masks: 'none',
      query: v.strictObject({
        topic: v.exactOptional(topicName),
        limit: v.optional(wholeNumber('limit', { min: 1, max: 1000 }), '200'),
        cursor: v.exactOptional(v.string('must be given once')),
      }),
      answers: {
        200: {
          description: 'By cluster, topic and partition.',
          schema: v.strictObject({ positions: v.array(positionSchema), next_cursor: v.nullable(v.string()) }),
          example: { positions: [examplePosition], next_cursor: null },
        },
      },
    },
    async ({ c, sql, access: { topics: scope }, query: { topic, limit, cursor } }) => {
      const binding = bindingOf('positions', topic)
      const key = cursor === undefined ? null : decodeCursor(cursor, binding, positionKey)
      const after = key && { cluster: key[0], topic: key[1], partition: key[2] }
      const positions = await listAllPositions(sql, { scope, topic, after, limit: limit + 1 })
      const shown = positions.slice(0, limit)
      const last = positions.length > limit ? shown.at(-1)! : null
      return c.json({
        positions: shown.map(positionJson),
        next_cursor: last && encodeCursor([last.cluster, last.topic, last.partition], binding),
      })
    },
  ),

  defineRoute(
    {
      method: 'post',
      path: '/api/v1/positions/reset',
      summary: 'Read a partition again from an offset, or skip to one',
      description:
        'Stored and archived messages stay as they are; deleted messages are stored again. Takes effect within 5 seconds where it goes back, and with the next record where it skips. An offset beyond the log’s end counts as a topic that was created again. Needs a token for all topics.',
      role: 'admin',
      masks: 'none',
      allTopics: true,
      body: v.strictObject({
        cluster: clusterId,
        topic: topicName,
        partition: int32,
        next_offset: offset,
        confirm: v.pipe(v.string('must be text'), v.description('"TOPIC/PARTITION" again, to confirm.')),
        reason,
      }),
      bodyExample: {
        cluster: 'bqzHLZgsR8ahKlMZHYcfLg',
        topic: 'orders.dlq.v1',
        partition: 0,
        next_offset: '4000',
        confirm: 'orders.dlq.v1/0',
        reason: 'deleted by mistake',
      },
      answers: { 200: { description: 'The position as it is now.', schema: positionSchema, example: examplePosition } },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, by, body: { cluster, topic, partition, next_offset: nextOffset, confirm, reason } }) => {
      if (confirm !== `${topic}/${partition}`) throw invalidField('confirm', `must be "${topic}/${partition}"`)
      const place = { cluster, topic, partition }
      const position = await sql.begin(async (sql) => {
        const known = await positionAt(sql, place)
        if (!known)
          throw new ApiError('SYS_DLQ_NOT_FOUND', `no position of ${topic}/${partition} in cluster ${cluster}`)
        // This waits for an ingester that is storing a batch. The next batch begins at the new position.
        const { next_offset: before } = await lockPosition(sql, place)
        await resetPosition(sql, { ...place, next_offset: nextOffset })
        await writeAudit(sql, {
          ...by,
          ...{
            action: 'position.reset',
            target_type: 'position',
            target_id: `${cluster}/${topic}/${partition}`,
            reason,
          },
          dlq_topic: topic,
          ...{ before: { next_offset: before }, after: { next_offset: nextOffset } },
        })
        return (await positionAt(sql, place))!
      })
      return c.json(positionJson(position))
    },
  ),
]

async function positionAt(
  sql: Parameters<typeof listAllPositions>[0],
  { cluster, topic, partition }: Pick<Position, 'cluster' | 'topic' | 'partition'>,
): Promise<Position | undefined> {
  const after = { cluster, topic, partition: partition - 1 }
  const [position] = await listAllPositions(sql, { scope: null, topic, after, limit: 1 })
  return position?.cluster === cluster && position.partition === partition ? position : undefined
}

function positionJson({ next_offset, updated_at, ...position }: Position) {
  return { ...position, next_offset: String(next_offset), updated_at: timestamp(updated_at) }
}
