// The list of error groups, and how many there are of each kind.

import { escapeLike } from 'dlq-core/domain/message/message-filter.ts'
import { isUuid } from 'dlq-core/domain/record/message-id.ts'
import { statuses } from 'dlq-core/domain/retry/message-state.ts'
import { countGroups, type GroupFilter, groupSorts, listGroups } from 'dlq-core/queries/groups/group-list.ts'
import { groupStates } from 'dlq-core/queries/groups/groups.ts'
import * as v from 'valibot'
import { defineRoute } from '../http/define-route.ts'
import { bindingOf, decodeCursor, encodeCursor, keyParts } from '../lists/cursor.ts'
import { refuseTextSearch } from '../masks/refuse-hidden.ts'
import { count } from '../messages/message-json.ts'
import { instant, listOf, wholeNumber } from '../request/request-schemas.ts'
import { exampleGroup, groupSchema, groupText, withCounts } from './groups.ts'

const maxIds = 100
const idList = v.pipe(
  v.union([v.string(), v.array(v.string())], 'must be ids of error groups'),
  v.metadata({
    anyOf: [
      { type: 'string', format: 'uuid' },
      { type: 'array', items: { type: 'string', format: 'uuid' }, minItems: 1, maxItems: maxIds },
    ],
  }),
  v.transform((list) => [...new Set([list].flat().flatMap((item) => item.toLowerCase().split(',')))].sort()),
  v.check((list) => list.every(isUuid), 'must be ids of error groups'),
  v.maxLength(maxIds, `must be at most ${maxIds} ids`),
)

/** A group is new for this long, unless it has an owner. */
const newForMs = 24 * 3_600_000

const totalsSchema = v.pipe(
  v.nullable(
    v.pipe(
      v.strictObject({
        open: count,
        mine: count,
        new: count,
        regressed: count,
        snoozed: count,
        ignored: count,
        resolved: count,
      }),
      v.title('ErrorGroupTotals'),
    ),
  ),
  v.description(
    'How many groups the list has of each kind, whatever `state`, `owner`, `regressed` and `first_seen_from` say. mine: open, with the actor as owner; new: open, without an owner, first seen within 24 hours. Null on further pages.',
  ),
)

/** The value that the list is sorted by, and the id. */
const timeKey = v.strictTuple([keyParts.time, keyParts.uuid])
const countKey = v.strictTuple([v.pipe(v.string(), v.regex(/^\d{1,15}$/)), keyParts.uuid])

const groupsQuery = v.strictObject({
  state: v.exactOptional(v.pipe(listOf(groupStates), v.description('One or more states, repeated or with commas.'))),
  dlq_topic: v.exactOptional(
    v.pipe(
      groupText(255),
      v.description('Groups of this DLQ topic. `with`, `consumer_group` and `sort` then look at its messages alone.'),
    ),
  ),
  q: v.exactOptional(v.pipe(groupText(200), v.description('Text within the title, in any case.'))),
  sort: v.optional(
    v.pipe(
      v.picklist(groupSorts, `must be one of ${groupSorts.join(', ')}`),
      v.description('By time, the latest first; or by the number of messages, the most first.'),
    ),
    'last_seen',
  ),
  regressed: v.exactOptional(
    v.pipe(
      v.picklist(['true'], 'must be true'),
      v.description('Groups in which a message arrived after they were set to resolved.'),
    ),
  ),
  owner: v.exactOptional(v.pipe(groupText(200), v.description('Exactly; `none`: groups without an owner.'))),
  with: v.exactOptional(
    v.pipe(listOf(statuses), v.description('Groups with a message in one of these statuses, repeated or with commas.')),
  ),
  error_class: v.exactOptional(v.pipe(groupText(512), v.description('Exactly.'))),
  consumer_group: v.exactOptional(
    v.pipe(groupText(255), v.description('Groups with a message of this consumer group.')),
  ),
  first_seen_from: v.exactOptional(v.pipe(instant, v.description('First seen at this time or later.'))),
  ids: v.exactOptional(v.pipe(idList, v.description(`These groups, repeated or with commas, ${maxIds} at most.`))),
  trend: v.optional(
    v.pipe(
      v.picklist(['true', 'false'], 'must be true or false'),
      v.transform((text) => text === 'true'),
    ),
    'false',
  ),
  limit: v.optional(wholeNumber('limit', { min: 1, max: 100 }), '20'),
  cursor: v.exactOptional(v.string('must be given once')),
})

function filterOf(query: v.InferOutput<typeof groupsQuery>): GroupFilter {
  return {
    state: query.state,
    dlqTopic: query.dlq_topic,
    likePattern: query.q === undefined ? undefined : `%${escapeLike(query.q)}%`,
    regressed: query.regressed && true,
    owner: query.owner === 'none' ? null : query.owner,
    withStatus: query.with,
    errorClass: query.error_class,
    consumerGroup: query.consumer_group,
    firstSeenFrom: query.first_seen_from,
    ids: query.ids,
  }
}

export const groupListRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/groups',
      summary: 'Error groups that have messages',
      description: 'Their messages: GET /api/v1/messages?group_id=…',
      role: 'read',
      masks: 'shown',
      revalidates: true,
      query: groupsQuery,
      answers: {
        200: {
          description: 'One page.',
          schema: v.strictObject({
            groups: v.array(groupSchema),
            totals: totalsSchema,
            next_cursor: v.nullable(v.string()),
          }),
          example: {
            groups: [exampleGroup],
            totals: { open: 9, mine: 2, new: 1, regressed: 0, snoozed: 4, ignored: 1, resolved: 12 },
            next_cursor: null,
          },
        },
      },
    },
    async ({ c, sql, log, access: { actor, topics: scope }, sight, query }) => {
      if (query.q !== undefined) refuseTextSearch(sight.anywhere)
      const { sort, limit, cursor, trend } = query
      const filter = filterOf(query)
      const binding = bindingOf('groups', filter, sort)
      const key = sort === 'last_seen' || sort === 'first_seen' ? timeKey : countKey
      const after = cursor === undefined ? null : decodeCursor(cursor, binding, key)
      const listed = async () => {
        const groups = await listGroups(sql, { filter, scope, sort, after, limit: limit + 1 })
        const page = groups.slice(0, limit)
        const last = groups.length > limit ? page.at(-1)! : null
        return { groups: await withCounts({ sql, log, sight }, page, { scope, trend }), last }
      }
      const [{ groups, last }, totals] = await Promise.all([
        listed(),
        after === null
          ? countGroups(sql, { filter, scope, owner: actor, newSince: new Date(Date.now() - newForMs) })
          : null,
      ])
      return c.json({
        groups,
        totals,
        next_cursor: last && encodeCursor([last.place, last.id], binding),
      })
    },
  ),
]
