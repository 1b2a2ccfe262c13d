// Lists of dead letters: of all topics, of one topic, and as a download.

import { checkRanges, type MessageFilter, messageFilterEntries } from 'dlq-core/message-filter.ts'
import type { MessageSearch, MessageSort } from 'dlq-core/queries/message-scan.ts'
import { countMessages, pageOfTopic, type Total } from 'dlq-core/queries/message-search.ts'
import { resolveTopic } from 'dlq-core/queries/message-topic.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { countByFilter } from 'dlq-core/queries/summary.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import * as v from 'valibot'
import { ApiError, invalidField } from '../api-error.ts'
import { type Call, defineRoute } from '../define-route.ts'
import { exportFormats, exportMessages } from '../export-messages.ts'
import { findPage } from '../find-page.ts'
import { count, exampleListedMessage, exampleMessage, listedMessageSchema, messageListSchema } from '../message-json.ts'
import { sendMessages } from '../message-list.ts'
import { topicPath, wholeNumber } from '../request-schemas.ts'
import { totalSchema } from '../totals-json.ts'

const sorts = ['newest', 'oldest', 'next_due'] as const satisfies readonly MessageSort[]
/** Totals that no counter knows are counted up to here: along an index, or by rows that may lie anywhere on the disk. */
const maxTotal = { atMost: 10_000, atMostRead: 1000 }
const defaultLimit = 20

const sort = v.exactOptional(
  v.pipe(
    v.picklist(sorts, `must be one of ${sorts.join(', ')}`),
    v.description(
      'newest (default) and oldest go by id, whose time is the record’s; by created_at where from or to is what narrows the list. next_due: what is retried next by itself.',
    ),
  ),
)
const listEntries = {
  cursor: v.exactOptional(
    v.pipe(
      v.string('must be given once'),
      v.description('next_cursor or prev_cursor of a page with the same filter and sort.'),
    ),
  ),
  limit: v.exactOptional(v.pipe(wholeNumber('limit', { min: 1, max: 1000 }), v.description('Messages a page; 20.'))),
  sort,
}
const { topic: _topicOfPath, ...filterWithoutTopic } = messageFilterEntries

const listQuery = v.pipe(v.strictObject({ ...messageFilterEntries, ...listEntries }), checkRanges())
const topicListQuery = v.pipe(
  v.strictObject({
    page: v.exactOptional(v.pipe(wholeNumber('page', { min: 1, max: 1_000_000 }), v.description('Default 1.'))),
    page_size: v.exactOptional(v.pipe(wholeNumber('page_size', { min: 1, max: 1000 }), v.description('Default 20.'))),
    ...filterWithoutTopic,
    ...listEntries,
  }),
  checkRanges(),
)

const pageSchema = v.pipe(
  v.strictObject({
    messages: v.array(listedMessageSchema),
    pagination: v.strictObject({
      total: v.pipe(
        v.nullable(totalSchema),
        v.description(
          'Of the first page: exact where the filter names nothing but statuses, a topic, an error group and a consumer group; else of the first 10,000 rows along an index, or of the first 1,000 where rows have to be read; `gte` says that there are more. Null on other pages.',
        ),
      ),
      limit: count,
      next_cursor: v.nullable(v.string()),
      prev_cursor: v.nullable(v.string()),
      bounded: v.pipe(
        v.boolean(),
        v.description('Only a part was searched in the time of one answer; next_cursor goes on behind it.'),
      ),
    }),
  }),
  v.title('MessagePage'),
)
const examplePage = {
  messages: [exampleListedMessage],
  pagination: {
    total: { value: 10_000, relation: 'gte' },
    limit: 20,
    next_cursor: 'WyJzaFZ4bm9tWCIsImYiLCI1NTBlODQwMC1lMjliLTQxZDQtYTcxNi00NDY2NTU0NDAwMDAiXQ',
    prev_cursor: null,
    bounded: false,
  },
}

export const messageListRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/messages',
      summary: 'Dead letters of all topics, by any filter',
      role: 'read',
      readsReplica: true,
      query: listQuery,
      answers: { 200: { description: 'One page.', schema: pageSchema, example: examplePage } },
    },
    (call) => answerPage(call, call.query),
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/messages/export',
      summary: 'Every dead letter that a filter means, as a download',
      description:
        'Streamed, as fast as it is read. What is stored meanwhile may or may not be in it. A cut-off answer is incomplete. In CSV, text that a spreadsheet would take for a formula begins with an apostrophe.',
      role: 'read',
      readsReplica: true,
      query: v.pipe(
        v.strictObject({
          ...messageFilterEntries,
          format: v.optional(v.picklist(exportFormats, `must be one of ${exportFormats.join(', ')}`), 'ndjson'),
          sort: v.exactOptional(v.picklist(['newest', 'oldest'], 'must be newest or oldest')),
        }),
        checkRanges(),
      ),
      answers: {
        200: {
          description: 'The messages.',
          types: ['application/x-ndjson', 'application/json', 'text/csv'],
          headers: { 'Content-Disposition': 'A name for the file.' },
        },
      },
    },
    async ({ c, sql, access, query: { format, sort = 'newest', ...filter }, signal }) =>
      exportMessages(c, sql, { search: await searchOf(sql, { filter, sort, scope: access.topics }), format, signal }),
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/dlq/:topic',
      summary: 'The dead letters of a topic, newest first',
      description:
        'A known DLQ topic means what was read from it, any other name what came from there. Paged by page and page_size; with a filter, a sort, a limit or a cursor as GET /api/v1/messages.',
      role: 'read',
      readsReplica: true,
      params: topicPath,
      query: topicListQuery,
      answers: {
        200: {
          description: 'One page.',
          schema: v.union([messageListSchema, pageSchema]),
          example: {
            messages: [exampleMessage],
            pagination: { total_count: 150, page: 1, page_size: 20, has_next: true },
          },
        },
      },
    },
    async (call) => {
      const { c, sql, access, params, query } = call
      const { page, page_size: pageSize = defaultLimit, ...rest } = query
      const isPaged = page !== undefined || query.page_size !== undefined
      const isSearch = Object.keys(rest).length > 0
      if (isPaged && isSearch)
        throw invalidField('page', 'pages go through a whole topic; with anything else, use limit and cursor')
      if (isSearch) return answerPage(call, { ...rest, topic: params.topic })

      const topic = { ...(await resolveTopic(sql, params.topic, { literally: true })) }
      const offset = ((page ?? 1) - 1) * pageSize
      const { total, rows } = await pageOfTopic(sql, { topic, scope: access.topics, limit: pageSize, offset })
      const pagination = {
        total_count: total,
        page: page ?? 1,
        page_size: pageSize,
        has_next: offset + pageSize < total,
      }
      return sendMessages(c, sql, { rows, archived: false, fields: 'specified', tail: { pagination } })
    },
  ),
]

type ListQuery = v.InferOutput<typeof listQuery>

async function answerPage(
  { c, sql, access, signal }: Pick<Call, 'c' | 'sql' | 'access' | 'signal'>,
  { cursor, limit = defaultLimit, sort = 'newest', ...filter }: ListQuery,
): Promise<Response> {
  const search = await searchOf(sql, { filter, sort, scope: access.topics })
  const [total, page] = await Promise.all([
    // Whoever goes on knows it already.
    cursor === undefined ? totalOf(sql, search) : null,
    findPage(sql, { search, cursor, limit, signal }),
  ])
  const pagination = {
    total,
    limit,
    next_cursor: page.nextCursor,
    prev_cursor: page.prevCursor,
    bounded: page.bounded,
  }
  const archived = filter.archived ?? false
  return sendMessages(c, sql, { rows: page.rows, archived, fields: 'listed', tail: { pagination } })
}

/** Exact at once where the counts have what the filter names; else counted along the index, up to a bound. */
async function totalOf(sql: Sql, search: MessageSearch): Promise<Total> {
  const counted = search.sort === 'next_due' ? null : await countByFilter(sql, search)
  return counted === null ? countMessages(sql, { search, ...maxTotal }) : { value: counted, relation: 'eq' }
}

async function searchOf(
  sql: Sql,
  { filter, sort, scope }: { filter: MessageFilter; sort: MessageSort; scope: TopicScope },
): Promise<MessageSearch> {
  if (filter.archived && sort === 'next_due')
    throw new ApiError('SYS_DLQ_VALIDATION_ERROR', 'sort: what is archived is never due', [
      { field: 'sort', message: 'what is archived is never due' },
    ])
  const topic = filter.topic === undefined ? null : await resolveTopic(sql, filter.topic)
  return { filter, topic, scope, sort }
}
