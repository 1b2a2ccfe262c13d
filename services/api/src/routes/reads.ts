// Who was shown what behind masks.

import { beyondStorableText, isStorableText } from 'dlq-core/domain/record/text-for-postgres.ts'
import { type ListedRead, listReads } from 'dlq-core/queries/change/reads.ts'
import * as v from 'valibot'
import { mapInSteps } from '../answers/next-step.ts'
import { defineRoute } from '../http/define-route.ts'
import { bindingOf, decodeCursor, encodeCursor, keyParts } from '../lists/cursor.ts'
import { hiddenEntries, hiddenOf, type Shown, shown } from '../masks/shown.ts'
import { count } from '../messages/message-json.ts'
import { timestamp, timestampText } from '../messages/timestamp.ts'
import { idOf, instant, wholeNumber } from '../request/request-schemas.ts'

const readSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    ...hiddenEntries,
    at: timestampText,
    actor: v.string(),
    request_id: v.string(),
    action: v.pipe(v.string(), v.description('The route.')),
    target: v.pipe(v.nullable(v.string()), v.description('What its path named: a message, a run, a topic.')),
    ids: v.pipe(v.array(v.string()), v.description('The messages that were shown, a thousand at most.')),
    filter: v.pipe(v.nullable(v.looseObject({})), v.description('What the request looked for.')),
    shown: v.pipe(
      v.nullable(count),
      v.description('How many messages were shown. Null: an export that goes on, or broke off.'),
    ),
    reason: v.nullable(v.string()),
  }),
  v.title('Read'),
)

/** When it was, and its id. */
const readKey = v.strictTuple([keyParts.time, keyParts.uuid])

export const readRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/reads',
      summary: 'Who was shown what behind masks, newest first',
      description:
        'Each answer to `unmask=true` that showed something of a topic with masks, written before it was sent. Kept as long as the audit.',
      role: 'admin',
      masks: 'shown',
      allTopics: true,
      query: v.strictObject({
        actor: v.exactOptional(
          v.pipe(
            v.string('must be given once'),
            v.maxLength(512, 'must be at most 512 characters'),
            v.check(isStorableText, beyondStorableText),
          ),
        ),
        message_id: v.exactOptional(v.pipe(idOf('message'), v.description('Reads that showed this message.'))),
        from: v.exactOptional(instant),
        to: v.exactOptional(instant),
        limit: v.optional(wholeNumber('limit', { min: 1, max: 1000 }), '50'),
        cursor: v.exactOptional(v.string('must be given once')),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: v.strictObject({ reads: v.array(readSchema), next_cursor: v.nullable(v.string()) }),
          example: {
            reads: [
              {
                id: '0194f2c8-7a51-7e64-9d0a-2f8f2b9a3c11',
                at: '2026-02-20T10:30:00.000+00:00',
                actor: 'maria',
                request_id: 'req_abc123def456',
                action: 'GET /api/v1/dlq/messages/:id',
                target: '550e8400-e29b-41d4-a716-446655440000',
                ids: ['550e8400-e29b-41d4-a716-446655440000'],
                filter: null,
                shown: 1,
                reason: 'ticket 4711',
              },
            ],
            next_cursor: null,
          },
        },
      },
    },
    async ({ c, sql, sight, query: { limit, cursor, ...filter } }) => {
      const binding = bindingOf('reads', Object.entries(filter).sort())
      const key = cursor === undefined ? null : decodeCursor(cursor, binding, readKey)
      // One more than is shown, to know whether there are more.
      const found = await listReads(sql, { filter, before: key && { at: key[0], id: key[1] }, limit: limit + 1 })
      const reads = found.slice(0, limit)
      const last = found.length > limit ? reads.at(-1)! : null
      return c.json({
        reads: await mapInSteps(reads, (read) => readJson(shown(read, sight, 'anywhere'))),
        next_cursor: last && encodeCursor([last.place, last.id], binding),
      })
    },
  ),
]

function readJson(read: Shown<ListedRead>) {
  const { id, at, actor, request_id, action, target, ids, filter, shown: count, reason } = read
  return {
    ...{ id, at: timestamp(at), actor, request_id, action, target, ids, reason, shown: count },
    filter: filter === null ? null : (JSON.parse(filter) as object),
    ...hiddenOf(read),
  }
}
