// dlq_messages and its archive: pages of the messages that a filter finds, and their number.

import { listedChars, listedKeyBytes } from '../../domain/message/listed-text.ts'
import { exactTime } from '../exact-time.ts'
import { firstFailedAt, lastFailedAt } from '../failed-at.ts'
import type { Fragment, Sql } from '../sql.ts'
import type { TopicCondition } from '../topic-condition.ts'
import { countInScope, inScope, messageInScope, type TopicScope } from '../topic-scope.ts'
import { type MessageScan, type MessageSearch, scanMessages } from './message-scan.ts'
import type { SpecifiedMessage } from './message-view.ts'
import { lines } from './summary.ts'

/** A message as lists show it. Where it is `large`, its `payload` is null and its error text empty. */
export type MessageRow = SpecifiedMessage & {
  /** The payload was left out; `readLarge` reads it, with the error text. */
  large: boolean
  /** The bytes that it reads. Null where nobody knows before. */
  large_bytes: number | null
  /** The stored headers, where `unprojected_value` is given: they may say how it is to be read. */
  payload_headers: string | null
  value_schema: number | null
  decode_state: number | null
  dlq_topic: string | null
  dlq_partition: number | null
  dlq_offset: bigint | null
  original_partition: number | null
  original_offset: bigint | null
  consumer_group: string | null
  error_class: string | null
  group_id: string | null
  next_retry_at: Date | null
  failure_count: number
  first_failed_at: Date
  last_failed_at: Date
  /** The time at which a list that is sorted by time continues, with its microseconds. */
  sort_time: string | null
  /** Null where payloads are shown. */
  previewed: Previewed | null
}

/** What a list shows instead of the payload. */
export type Previewed = {
  /** The beginning of the value, as bytes; of a message without a record, of its payload as text. */
  value_start: Buffer | null
  /** The beginning of the key. */
  key_start: Buffer | null
  value_bytes: number | null
  edits: number
  run_id: string | null
  target_topic: string | null
}

export type Show = 'payload' | 'preview'

/** What a page holds of payloads and error texts, and what it holds of those of one row. The others are left out. */
const usualPageBytes = 4 * 1024 * 1024
const maxInlineBytes = 32 * 1024

/** The bytes of a preview: 300 characters of UTF-8. */
const previewBytes = 1200
/** PostgreSQL reads and unpacks a whole value to return its beginning. One that takes more on the disk has no preview. */
const maxPreviewedBytes = 256 * 1024

export type SearchPage = {
  rows: MessageRow[]
  /** How far the search came, if it ended before it had enough rows or had read all. Otherwise null. */
  examinedTo: readonly string[] | null
  /** False: the row at which it ended is one that the caller may not see, so nothing of it may be shown. */
  isEdgeInScope: boolean
  /** The rows that were looked at; those that were found, where they were enough. */
  examined: number
}

/**
 * The next `limit` messages behind `after` in the search's order, or against it where `backwards`. Reads at most
 * `examine` rows. If it stopped at that bound, `examinedTo` says where to continue.
 */
export async function searchMessages(
  sql: Sql,
  {
    search,
    after,
    backwards = false,
    limit,
    examine,
    show = 'payload',
    pageBytes = usualPageBytes,
  }: {
    search: MessageSearch
    after: readonly string[] | null
    backwards?: boolean
    limit: number
    examine: number
    show?: Show
    pageBytes?: number
  },
): Promise<SearchPage> {
  const scan = scanMessages(sql, { search, backwards })
  const scanned = scan.tests.length === 0 ? limit : Math.max(limit, boundOf(scan, examine))
  const page = sql`
    select ${shownColumns(sql, scan, show)}
    from ${scan.ids({ after, limit: scanned })} found
    cross join lateral ${tested(sql, scan)} m
    cross join lateral ${writtenPayload(sql, { show, limit, pageBytes })} written
    order by ${order(sql, scan)}
    limit ${limit}`
  const scope = search.scope
  const { rows: found, edge, isInScope } = await withEdge<ShownRow>(sql, { page, scan, scope, after, scanned, limit })
  const rows = found.map((row) => toMessageRow(row, show))
  return { rows, examinedTo: edge, isEdgeInScope: isInScope, examined: edge === null ? rows.length : scanned }
}

/** The ids alone, oldest first, up to and including `untilId`: for callers that handle a selection in chunks. */
export async function searchIds(
  sql: Sql,
  {
    search,
    afterId,
    untilId,
    limit,
    examine,
  }: { search: Omit<MessageSearch, 'sort'>; afterId: string | null; untilId: string; limit: number; examine: number },
): Promise<{ ids: string[]; examinedTo: string | null }> {
  const scan = scanMessages(sql, { search: { ...search, sort: 'oldest' }, alongIds: true })
  const after = afterId === null ? null : [afterId]
  const scanned = scan.tests.length === 0 ? limit : Math.max(limit, boundOf(scan, examine))
  const page = sql`
    select found.id
    from ${scan.ids({ after, limit: scanned })} found
    ${scan.tests.length === 0 ? sql`` : sql`cross join lateral ${tested(sql, scan)} m`}
    where found.id <= ${untilId}
    order by found.id
    limit ${limit}`
  const { rows, edge } = await withEdge<{ id: string }>(sql, { page, scan, scope: search.scope, after, scanned, limit })
  return { ids: rows.map(({ id }) => id), examinedTo: edge === null || edge[0]! >= untilId ? null : edge[0]! }
}

export type Total = { value: number; relation: 'eq' | 'gte' }

/**
 * How many messages the search finds among `atMost` rows along its index, or among `atMostRead` where the index does not
 * suffice and rows have to be read. `gte` where there are more rows.
 */
export async function countMessages(
  sql: Sql,
  { search, atMost, atMostRead = atMost }: { search: MessageSearch; atMost: number; atMostRead?: number },
): Promise<Total> {
  const scan = scanMessages(sql, { search })
  const bound = scan.tests.length === 0 ? atMost : atMostRead
  const rows =
    scan.tests.length === 0
      ? sql`select count(*)::int as examined, count(*)::int as found from ${scan.places(bound + 1)} found`
      : sql`
        select count(*)::int as examined, count(m.id)::int as found
        from ${scan.someIds(bound + 1)} found left join lateral ${tested(sql, scan)} m on true`
  const [row] = await sql<{ examined: number; found: number }[]>`${rows}`
  const { examined, found: value } = row!
  return examined <= bound ? { value, relation: 'eq' } : { value: Math.min(value, bound), relation: 'gte' }
}

/**
 * The page behind the first `offset` messages of a topic, and the topic's number of messages, in one statement and so
 * in one snapshot. The messages before the page are skipped along the index. Their rows are read only where an original
 * topic has messages of other DLQ topics, too, or where the scope has to be tested. The summary gives the number; until
 * its first full count, all of the topic's messages are counted.
 */
export async function pageOfTopic(
  sql: Sql,
  {
    topic,
    scope,
    limit,
    offset,
  }: Pick<MessageSearch, 'scope'> & { topic: TopicCondition; limit: number; offset: number },
): Promise<{ total: number; rows: MessageRow[] }> {
  // Such a page has no cursor, so the rows of other DLQ topics in the same original topics are passed over, however many.
  const search = { filter: { topic: topic.names![0]! }, topic: { ...topic, isMixed: false }, scope }
  const scan = scanMessages(sql, { search: { ...search, sort: 'newest' } })
  const isTested = scan.tests.length > 0
  // Rows that the scope hides are passed over as well. Mostly there are none, so all rows are read only where it takes that.
  for (let places = Math.min(offset + limit, maxRows); ; places = Math.min(places * 10, maxRows)) {
    const page = await pageAmong(sql, { topic, scope, limit, offset, scan, places })
    if (!isTested || places === maxRows || page.rows.length >= Math.min(limit, page.most - offset)) return page
  }
}

/**
 * The page among the first `places` rows along the index. `most`: no more rows than this are in scope. It is more than
 * `total` where a route was closed behind some of its messages: they stay in sight, and no count says how many they are.
 */
async function pageAmong(
  sql: Sql,
  {
    topic,
    scope,
    limit,
    offset,
    scan,
    places,
  }: Parameters<typeof pageOfTopic>[1] & { scan: MessageScan; places: number },
): Promise<{ total: number; most: number; rows: MessageRow[] }> {
  const matches = scan.tests.length === 0 ? sql`` : sql`cross join lateral ${tested(sql, scan)} m`
  const all = (limit: number, where = sql``) =>
    sql`select found.id from ${scan.ids({ after: null, limit })} found ${matches} ${where} order by found.id desc`
  const summed = (condition: Fragment) => sql`
    (select coalesce(sum(count), 0)::float8 from ${lines(sql)} where ${sql(topic.column)} = ${topic.names![0]!} and ${condition})`
  const rows = await sql<({ total: number; most: number } & (ShownRow | { id: null }))[]>`
    with every as (
      select count(*)::float8 as n from (${all(maxRows)}) every_one
      where (select counted_at from dlq.dlq_summary_state) is null
    ),
    total as (
      select case when counted_at is null then n else ${summed(countInScope(sql, scope, 'line'))} end as total,
             case when counted_at is null then n else ${summed(inScope(sql, scope, 'line.'))} end as most
      from every cross join (select max(counted_at) as counted_at from dlq.dlq_summary_state) state
    ),
    -- Behind the last page, no row is passed over.
    page as (${all(places, sql`where (select most from total) > ${offset}`)} limit ${limit} offset ${offset})
    select total.total, total.most, shown.*
    from total
    left join (
      select ${shownColumns(sql, scan, 'payload')}
      from page found
      cross join lateral ${tested(sql, { ...scan, tests: [] })} m
      cross join lateral ${writtenPayload(sql, { show: 'payload', limit, pageBytes: usualPageBytes })} written
    ) shown on true
    order by shown.id desc`
  const { total, most } = rows[0]!
  return { total, most, rows: rows.flatMap((row) => (row.id === null ? [] : [toMessageRow(row, 'payload')])) }
}

const maxRows = 2_147_483_647

type Large = Pick<MessageRow, 'id' | 'payload' | 'unprojected_value' | 'payload_headers' | 'error_message'>

/** What was left out of large rows, of any size. Messages that are gone by now are missing. */
export async function readLarge(
  sql: Sql,
  { ids, archived }: { ids: readonly string[]; archived: boolean },
): Promise<Large[]> {
  return sql<Large[]>`
    select id, payload, case when payload is null then record_value end as unprojected_value,
           case when payload is null then record_headers end as payload_headers, error_message
    from ${archived ? sql`dlq.dlq_messages_archive` : sql`dlq.dlq_messages`} where id = any(${sql.array([...ids])}::uuid[])`
}

type ShownRow = Omit<MessageRow, 'previewed'> & Partial<Previewed>

function toMessageRow(row: ShownRow, show: Show): MessageRow {
  if (show === 'payload') return { ...row, previewed: null }
  const { value_start, key_start, value_bytes, edits, run_id, target_topic, ...rest } = row as ShownRow & Previewed
  return { ...rest, previewed: { value_start, key_start, value_bytes, edits, run_id, target_topic } }
}

function shownColumns(sql: Sql, scan: MessageScan, show: Show) {
  const payload =
    show === 'payload'
      ? sql`
        case when not large then written.payload end as payload,
        case when not large and m.payload is null and octet_length(m.record_value) > 0 then m.record_value end as unprojected_value,
        case when not large and m.payload is null and octet_length(m.record_value) > 0
                  and pg_column_size(m.record_headers) <= ${maxInlineBytes} then m.record_headers end as payload_headers,
        large, large_bytes`
      : sql`
        null as payload, null::bytea as unprojected_value, null::json as payload_headers, false as large, null as large_bytes,
        case when m.decode_state = 1 and pg_column_size(m.payload) <= ${maxPreviewedBytes}
               then substring(convert_to(m.payload::text, 'UTF8') from 1 for ${previewBytes})
             when m.record_value is not null then
               case when pg_column_size(m.record_value) <= ${maxPreviewedBytes} then substring(m.record_value from 1 for ${previewBytes}) end
             when m.record_headers is null and pg_column_size(m.payload) <= ${maxPreviewedBytes}
               then substring(convert_to(m.payload::text, 'UTF8') from 1 for ${previewBytes}) end as value_start,
        substring(m.record_key from 1 for ${listedKeyBytes}) as key_start,
        octet_length(m.record_value) as value_bytes, m.edits, m.run_id, m.target_topic`
  const errorMessage =
    show === 'payload'
      ? sql`case when large then '' else m.error_message end as error_message`
      : sql`left(m.error_message, ${listedChars}) as error_message`
  return sql`
    m.id, m.original_topic, ${errorMessage}, m.retry_count, m.max_retries, m.status, m.created_at, m.updated_at, m.last_retry_at,
    ${payload}, m.dlq_topic, m.dlq_partition, m.dlq_offset, m.original_partition, m.original_offset, m.consumer_group, m.error_class,
    m.group_id, m.next_retry_at, m.failure_count,
    ${firstFailedAt(sql)} as first_failed_at, ${lastFailedAt(sql)} as last_failed_at,
    m.value_schema, m.decode_state, ${sortTime(sql, scan)} as sort_time`
}

/**
 * The payload as text, and whether the row is large: as it is stored, which the row itself says, or written out. PostgreSQL
 * packs what repeats to a 255th, and writes the exponents of numbers out, so only its text tells how much a page would
 * hold. "offset 0", because it is written once, for both.
 */
function writtenPayload(sql: Sql, { show, limit, pageBytes }: { show: Show; limit: number; pageBytes: number }) {
  if (show === 'preview') return sql`(select)`
  const ofRow = Math.min(maxInlineBytes, Math.floor(pageBytes / limit))
  return sql`(
    select case when bytes <= ${ofRow} then payload end as payload, bytes is null or bytes > ${ofRow} as large, bytes as large_bytes
    from (
      select payload, case when not is_stored_large then
               coalesce(octet_length(payload), octet_length(m.record_value), 0) + octet_length(m.error_message) end as bytes
      from (
        select case when not is_stored_large then m.payload::text end as payload, is_stored_large
        from (select greatest(octet_length(m.record_value), pg_column_size(m.payload)) > ${maxInlineBytes} is true as is_stored_large) stored
        offset 0
      ) text
    ) sized)`
}

/** A scan over many topics reads this number of entries of each topic, so it gets a smaller bound. */
function boundOf({ isMerged }: MessageScan, examine: number): number {
  return isMerged ? Math.min(examine, 500) : examine
}

/**
 * The row of one id that was found, if it passes the tests. "offset 0" keeps it a look-up per id: for a join
 * PostgreSQL might merge the ids with all earlier entries of the primary key.
 */
export function tested(sql: Sql, { table, tests }: Pick<MessageScan, 'table' | 'tests'>) {
  return sql`(select m.* from ${table} m where m.id = found.id and ${passes(sql, { tests })} offset 0)`
}

/**
 * The rows of all of these ids, in no order: for many ids a third of the cost of a look-up for each. The bound is the
 * caller's. "offset 0" keeps other conditions away from the primary key, and other indexes from the ids.
 */
export function rowsOf(sql: Sql, { table, ids }: Pick<MessageScan, 'table'> & { ids: Fragment }) {
  return sql`(select m.* from ${table} m where m.id = any(array(${ids})) offset 0)`
}

export function passes(sql: Sql, { tests }: Pick<MessageScan, 'tests'>) {
  return tests.reduce((all, test) => sql`${all} and ${test}`, sql`true`)
}

function order(sql: Sql, { sortColumn, direction }: MessageScan) {
  return sortColumn === null
    ? sql`found.id ${direction}`
    : sql`found.${sql(sortColumn)} ${direction}, found.id ${direction}`
}

function sortTime(sql: Sql, { sortColumn }: MessageScan) {
  if (sortColumn === null) return sql`null`
  const column = sql`found.${sql(sortColumn)}`
  return sql`case when isfinite(${column}) then ${exactTime(sql, column)} else ${column}::text end`
}

/**
 * The rows of `page`; and where it has fewer than `limit`, although the scan stopped at its bound, the sort columns of the
 * row at which it stopped. Both are of one snapshot: if messages leave the filter in between, that row moves on along the
 * index, and the rows before it would be in no page.
 */
async function withEdge<Row extends { id: string }>(
  sql: Sql,
  {
    page,
    scan,
    scope,
    after,
    scanned,
    limit,
  }: {
    page: Fragment
    scan: MessageScan
    scope: TopicScope
    after: readonly string[] | null
    scanned: number
    limit: number
  },
): Promise<{ rows: Row[]; edge: string[] | null; isInScope: boolean }> {
  if (scan.tests.length === 0) return { rows: await sql<Row[]>`${page}`, edge: null, isInScope: true }
  const seen = { table: scan.table, tests: [messageInScope(sql, scope, 'm.')] }
  const rows = await sql<(Edge & (Row | { id: null }))[]>`
    with page as materialized (${page}),
    edge as (
      select id, ${sortTime(sql, scan)} as sort_time
      from ${scan.ids({ after, limit: scanned })} found
      where (select count(*) from page) < ${limit}
      order by ${order(sql, scan)}
      offset ${scanned - 1}
    )
    select edge.id as edge_id, edge.sort_time as edge_time, edge.is_in_scope as edge_in_scope, found.*
    from (select) one
    left join (select found.*, exists (select from ${tested(sql, seen)} m) as is_in_scope from edge found) edge on true
    left join page found on true
    order by ${order(sql, scan)}`
  const { edge_id: id, edge_time: time, edge_in_scope: isInScope } = rows[0]!
  return {
    rows: rows.flatMap(({ edge_id: _, edge_time: __, edge_in_scope: ___, ...row }) =>
      row.id === null ? [] : [row as unknown as Row],
    ),
    edge: id === null ? null : time === null ? [id] : [time, id],
    isInScope: isInScope ?? true,
  }
}

type Edge = { edge_id: string | null; edge_time: string | null; edge_in_scope: boolean | null }
