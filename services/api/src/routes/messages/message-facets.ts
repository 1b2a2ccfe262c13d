// Which values the messages of a filter have, for narrowing it.

import { checkRanges, messageFilterEntries } from 'dlq-core/domain/message/message-filter.ts'
import { countFacets, type FacetName, facetNames } from 'dlq-core/queries/reading/message-facets.ts'
import * as v from 'valibot'
import { defineRoute } from '../../http/define-route.ts'
import { count } from '../../messages/message-json.ts'
import { listOf } from '../../request/request-schemas.ts'
import { searchOf } from './message-lists.ts'

/** The newest messages that are looked at. */
const examine = 500
const maxValues = 50

const valuesSchema = v.pipe(
  v.array(v.pipe(v.strictObject({ value: v.nullable(v.string()), count }), v.title('FacetValue'))),
  v.description(`The most frequent first, ${maxValues} at most; null: messages without one.`),
)
const facetEntries = Object.fromEntries(facetNames.map((name) => [name, v.exactOptional(valuesSchema)])) as Record<
  FacetName,
  v.ExactOptionalSchema<typeof valuesSchema, undefined>
>

export const messageFacetRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/messages/facets',
      summary: 'Which values the messages of a filter have, and how often',
      description: `Looks at the newest ${examine} messages along the filter's index. Age is counted from created_at.`,
      role: 'read',
      masks: 'shown',
      readsReplica: true,
      query: v.pipe(
        v.strictObject({
          ...messageFilterEntries,
          by: v.exactOptional(
            v.pipe(listOf(facetNames), v.description('Repeated or with commas. Default: all of them.')),
          ),
        }),
        checkRanges(),
      ),
      answers: {
        200: {
          description: 'The values of each facet that was asked for.',
          schema: v.strictObject({
            facets: v.pipe(v.strictObject(facetEntries), v.title('MessageFacets')),
            found: v.pipe(count, v.description('The messages that match, of those that were looked at.')),
            examined: v.pipe(count, v.description('The messages that were looked at.')),
            complete: v.pipe(
              v.boolean(),
              v.description(
                'Whether these were all. False also where a token for some topics came upon ten thousand messages of others.',
              ),
            ),
          }),
          example: {
            facets: {
              status: [
                { value: 'PENDING', count: 343 },
                { value: 'DEAD', count: 27 },
              ],
            },
            found: 370,
            examined: 370,
            complete: true,
          },
        },
      },
    },
    async ({ c, sql, access, sight, payloads, query: { by = [...facetNames], ...filter } }) => {
      const search = await searchOf({ sql, payloads }, { filter, sort: 'newest', scope: access.topics, sight })
      const { values, examined, found, isComplete } = await countFacets(sql, { search, by, examine, limit: maxValues })
      const of = (name: FacetName) =>
        values.filter(({ facet }) => facet === name).map(({ value, count }) => ({ value, count }))
      return c.json({
        facets: Object.fromEntries(by.map((name) => [name, of(name)])),
        ...{ found, examined, complete: isComplete },
      })
    },
  ),
]
