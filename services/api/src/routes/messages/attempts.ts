// The attempts of many messages at a glance, newest first.

import { checkRanges, messageFilterEntries } from 'dlq-core/domain/message/message-filter.ts'
import { statuses } from 'dlq-core/domain/retry/message-state.ts'
import {
  type AttemptPlace,
  type ListedAttempt,
  placeOf,
  searchAttempts,
} from 'dlq-core/queries/history/attempt-list.ts'
import * as v from 'valibot'
import { mapInSteps } from '../../answers/next-step.ts'
import { defineRoute } from '../../http/define-route.ts'
import { bindingOf, decodeCursor, encodeCursor, keyParts } from '../../lists/cursor.ts'
import { type Shown, shown } from '../../masks/shown.ts'
import { attemptEntries, attemptJson, exampleAttempt } from '../../messages/attempt-json.ts'
import { count } from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { listOf, wholeNumber } from '../../request/request-schemas.ts'
import { searchOf } from './message-lists.ts'

/** The attempts that are looked at for one page. */
const examine = 1000
const outcomes = ['published', 'resolved', 'failed', 'unknown'] as const

const { archived: _archived, ...filterEntries } = messageFilterEntries

/** When it was settled, its message and its number. */
const attemptKey = v.strictTuple([keyParts.time, keyParts.uuid, keyParts.int32])

const listedAttemptSchema = v.pipe(
  v.strictObject({
    message_id: v.pipe(v.string(), v.uuid()),
    original_topic: v.string(),
    dlq_topic: v.nullable(v.string()),
    consumer_group: v.nullable(v.string()),
    group_id: v.nullable(v.string()),
    status: v.pipe(v.picklist(statuses), v.description('Of the message, now.')),
    ...attemptEntries,
  }),
  v.title('ListedAttempt'),
)

export const attemptRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/attempts',
      summary: 'The attempts of the messages that a filter finds, newest first',
      description: [
        'Those that have an outcome, by the time of it; not those of archived messages. The filter is that of',
        'GET /api/v1/messages, so `from` and `to` are about the messages. Where it finds many of them, an answer looks at a',
        `thousand attempts at most: it may have fewer than \`limit\`, even none, and \`next_cursor\` continues behind them.`,
      ].join(' '),
      role: 'read',
      masks: 'shown',
      readsReplica: true,
      query: v.pipe(
        v.strictObject({
          ...filterEntries,
          outcome: v.exactOptional(v.pipe(listOf(outcomes), v.description('One or more, repeated or with commas.'))),
          limit: v.optional(wholeNumber('limit', { min: 1, max: 200 }), '50'),
          cursor: v.exactOptional(v.string('must be given once')),
        }),
        checkRanges(),
      ),
      answers: {
        200: {
          description: 'One page.',
          schema: v.strictObject({
            attempts: v.array(listedAttemptSchema),
            pagination: v.strictObject({
              limit: count,
              next_cursor: v.nullable(v.string()),
              searched_to: v.pipe(
                v.nullable(timestampText),
                v.description(
                  'The search has looked at all attempts back to this time. Null where it reached the end, or stopped at a message that the token may not see.',
                ),
              ),
            }),
          }),
          example: {
            attempts: [
              {
                message_id: '550e8400-e29b-41d4-a716-446655440000',
                original_topic: 'orders.events.v1',
                dlq_topic: 'orders.dlq.v1',
                consumer_group: 'billing',
                group_id: '8d0a1e0c-2a53-5b6f-9f6e-2f1f7c0b7a11',
                status: 'RESOLVED',
                ...exampleAttempt,
              },
            ],
            pagination: { limit: 50, next_cursor: null, searched_to: null },
          },
        },
      },
    },
    async ({ c, sql, access, sight, payloads, cursorSeal, query: { outcome, limit, cursor, ...filter } }) => {
      const binding = bindingOf('attempts', Object.entries({ ...filter, outcome }).sort())
      const key = cursor === undefined ? null : decodeCursor(cursor, binding, attemptKey, cursorSeal)
      const search = await searchOf({ sql, payloads }, { filter, sort: 'newest', scope: access.topics, sight })
      const { attempts, examinedTo, isEdgeInScope } = await searchAttempts(sql, {
        ...{ search, outcome: outcome ?? null, after: key && { at: key[0], messageId: key[1], number: key[2] } },
        // One more than is shown, to know whether there are more.
        ...{ limit: limit + 1, examine },
      })
      const listed = attempts.slice(0, limit)
      const isFull = attempts.length > limit
      const next = isFull ? placeOf(listed.at(-1)!) : examinedTo
      const isSealed = !isFull && !isEdgeInScope
      return c.json({
        attempts: await mapInSteps(listed, (attempt) => listedAttemptJson(shown(attempt, sight))),
        pagination: {
          limit,
          next_cursor: next && encodeCursor(keyOf(next), binding, isSealed ? cursorSeal : null),
          searched_to: next && !isSealed ? timestamp(new Date(next.at)) : null,
        },
      })
    },
  ),
]

function keyOf({ at, messageId, number }: AttemptPlace) {
  return [at, messageId, number]
}

function listedAttemptJson(attempt: Shown<ListedAttempt>) {
  const { message_id, original_topic, dlq_topic, consumer_group, group_id, status } = attempt
  return { message_id, original_topic, dlq_topic, consumer_group, group_id, status, ...attemptJson(attempt) }
}
