// Lists of dead letters: of all topics, of one topic, and as a download.

import { listedChars } from 'dlq-core/domain/message/listed-text.ts'
import { checkRanges, type MessageFilter, messageFilterEntries } from 'dlq-core/domain/message/message-filter.ts'
import type { MessageSearch, MessageSort } from 'dlq-core/queries/reading/message-scan.ts'
import { countMessages, pageOfTopic, type Show, type Total } from 'dlq-core/queries/reading/message-search.ts'
import { resolveTopic } from 'dlq-core/queries/reading/message-topic.ts'
import { countByFilter } from 'dlq-core/queries/reading/summary.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import { topicWithin } from 'dlq-core/queries/topic-within.ts'
import { hasDeferredPayloads } from 'dlq-core/queries/upkeep/deferred-payloads.ts'
import * as v from 'valibot'
import { totalSchema } from '../../fleet/totals-json.ts'
import { ApiError, invalidField } from '../../http/api-error.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import { exportFormats, exportMessages } from '../../lists/export-messages.ts'
import { findPage } from '../../lists/find-page.ts'
import { sendMessages } from '../../lists/message-list.ts'
import { allowedFilter } from '../../masks/refuse-hidden.ts'
import type { Sight } from '../../masks/sight.ts'
import {
  count,
  exampleListedMessage,
  exampleMessage,
  listedMessageSchema,
  messageListSchema,
} from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { type EncodingDeps, withEncodedKey } from '../../payloads/encode-keys.ts'
import { topicPath, wholeNumber } from '../../request/request-schemas.ts'

const sorts = ['newest', 'oldest', 'next_due'] as const satisfies readonly MessageSort[]
/** A total that the summary lacks is counted up to these: along an index, or by reading rows anywhere on the disk. */
const maxTotal = { atMost: 10_000, atMostRead: 1000 }
const defaultLimit = 20
const shows = ['payload', 'preview'] as const satisfies readonly Show[]

const sort = v.exactOptional(
  v.pipe(
    v.picklist(sorts, `must be one of ${sorts.join(', ')}`),
    v.description(
      'newest (default) and oldest sort by id, which holds the record’s time, or by created_at where the filter has from or to and nothing narrower. next_due sorts by the time of the next automatic retry.',
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
  limit: v.exactOptional(
    v.pipe(wholeNumber('limit', { min: 1, max: 1000 }), v.description('Messages a page. Default 20.')),
  ),
  sort,
  show: v.exactOptional(
    v.pipe(
      v.picklist(shows, `must be one of ${shows.join(', ')}`),
      v.description(
        `payload (default), or preview: the beginning of the value instead, and key, size, edits and run. A preview has the first ${listedChars} characters of the error message.`,
      ),
    ),
  ),
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
          'On the first page: exact where the filter has only statuses, a topic, an error group and a consumer group, or where the page has all messages. Otherwise counted among the first 10,000 rows along an index, or the first 1,000 where rows have to be read; `gte` says that there may be more. Null on other pages.',
        ),
      ),
      limit: count,
      next_cursor: v.nullable(v.string()),
      prev_cursor: v.nullable(v.string()),
      bounded: v.pipe(
        v.boolean(),
        v.description(
          'The time for one answer was up before the whole list was searched; next_cursor continues the search.',
        ),
      ),
      searched_to: v.pipe(
        v.nullable(timestampText),
        v.description(
          'The search has looked at all messages up to this time, in the order of the sort. Null where it reached the end, or stopped at a message that the token may not see.',
        ),
      ),
      examined: v.pipe(count, v.description('The rows that were looked at for this page, at least.')),
      payloads_deferred: v.exactOptional(
        v.pipe(
          v.literal(true),
          v.description(
            'The filter has `payload`, and came upon a time in which a backlog was stored without payloads (`payload: auto` of a policy): messages of it may be missing, until the cron job `payloads` has stored theirs.',
          ),
        ),
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
    searched_to: '2026-02-20T10:29:58.000+00:00',
    examined: 20,
  },
}

export const messageListRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/messages',
      summary: 'Dead letters of all topics, by any filter',
      role: 'read',
      masks: 'shown',
      readsReplica: true,
      showsPayloads: true,
      query: listQuery,
      answers: { 200: { description: 'One page.', schema: pageSchema, example: examplePage } },
    },
    (call) => answerPage(call, call.query),
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/messages/export',
      summary: 'All dead letters that match a filter, as a download',
      description:
        'Streamed as fast as the client reads. Messages that arrive meanwhile may be missing. An answer that breaks off is incomplete. In CSV, an apostrophe precedes text that a spreadsheet would take for a formula.',
      role: 'read',
      masks: 'shown',
      readsReplica: true,
      showsPayloads: true,
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
    async ({ c, sql, access, sight, payloads, query: { format, sort = 'newest', ...filter }, signal }) => {
      if (!access.exports)
        throw new ApiError('SYS_DLQ_FORBIDDEN', 'this token may not export messages (exports: false)')
      const search = await searchOf({ sql, payloads }, { filter, sort, scope: access.topics, sight })
      return exportMessages(c, sql, { search, payloads, format, sight, signal })
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/dlq/:topic',
      summary: 'The dead letters of a topic, newest first',
      description:
        'The name of a known DLQ topic lists the messages that were read from it. Any other name is an original topic. Pages go by page and page_size; with a filter, a sort, a limit or a cursor they go as in GET /api/v1/messages.',
      role: 'read',
      masks: 'shown',
      readsReplica: true,
      showsPayloads: true,
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
      const { c, sql, access, sight, payloads, params, query } = call
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
      return sendMessages(c, sql, { rows, payloads, archived: false, fields: 'specified', tail: { pagination }, sight })
    },
  ),
]

type ListQuery = v.InferOutput<typeof listQuery>

async function answerPage(
  {
    c,
    sql,
    access,
    sight,
    payloads,
    cursorSeal: seal,
    signal,
  }: Pick<Call, 'c' | 'sql' | 'access' | 'sight' | 'payloads' | 'cursorSeal' | 'signal'>,
  { cursor, limit = defaultLimit, sort = 'newest', show = 'payload', ...filter }: ListQuery,
): Promise<Response> {
  const search = await searchOf({ sql, payloads }, { filter, sort, scope: access.topics, sight })
  const [counted, page] = await Promise.all([
    // The client has the total from the first page.
    cursor === undefined ? totalOf(sql, search) : null,
    findPage(sql, { search, asked: filter, cursor, limit, seal, signal, show }),
  ])
  // A first page that comes to the end of the list has all of it.
  const isWhole = counted?.relation === 'gte' && page.nextCursor === null
  const pagination = {
    total: isWhole ? { value: page.rows.length, relation: 'eq' } : counted,
    limit,
    next_cursor: page.nextCursor,
    prev_cursor: page.prevCursor,
    bounded: page.bounded,
    searched_to: page.searchedTo && timestamp(page.searchedTo),
    examined: page.examined,
    ...(filter.payload !== undefined && (await hasDeferredPayloads(sql)) && { payloads_deferred: true }),
  }
  const archived = filter.archived ?? false
  return sendMessages(c, sql, {
    rows: page.rows,
    payloads,
    archived,
    fields: show === 'preview' ? 'previewed' : 'listed',
    tail: { pagination },
    sight,
  })
}

/** The summary's exact count where it has every field of the filter; else counted along the index, up to a bound. */
async function totalOf(sql: Sql, search: MessageSearch): Promise<Total> {
  const counted = search.sort === 'next_due' ? null : await countByFilter(sql, search)
  return counted === null ? countMessages(sql, { search, ...maxTotal }) : { value: counted, relation: 'eq' }
}

/** @throws {ApiError} 403 where the filter asks for something hidden */
export async function searchOf(
  { sql, payloads }: EncodingDeps,
  { filter: asked, sort, scope, sight }: { filter: MessageFilter; sort: MessageSort; scope: TopicScope; sight: Sight },
): Promise<MessageSearch> {
  const filter = await withEncodedKey({ sql, payloads }, allowedFilter(asked, sight))
  if (filter.archived && sort === 'next_due')
    throw new ApiError('SYS_DLQ_VALIDATION_ERROR', 'sort: what is archived is never due', [
      { field: 'sort', message: 'what is archived is never due' },
    ])
  const { archived } = filter
  const named = filter.topic === undefined ? null : await resolveTopic(sql, filter.topic, { archived })
  const topic = await topicWithin(sql, { filter, topic: named, scope })
  return { filter, topic, scope, sort }
}
