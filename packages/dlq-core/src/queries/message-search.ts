// dlq_messages and its archive: pages of what a filter means, and how many that are.

import type { Status } from '../message.ts'
import { type MessageScan, type MessageSearch, scanMessages } from './message-scan.ts'
import type { TopicCondition } from './message-topic.ts'
import type { Sql } from './sql.ts'

/** A message as lists show it. */
export type MessageRow = {
  id: string
  original_topic: string
  error_message: string
  retry_count: number
  max_retries: number
  /** JSON text; null where it is null, `large`, or not stored. */
  payload: string | null
  /** The value, where no payload is stored: the reader may find JSON in it. */
  unprojected_value: Buffer | null
  /** The payload was left out; `getPayload` has it. */
  large: boolean
  status: Status
  created_at: Date
  updated_at: Date
  last_retry_at: Date | null
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
  /** Where a list that is sorted by a time goes on: the time with its microseconds. */
  sort_time: string | null
}

/** What a page of a thousand rows may hold in memory is this times a thousand. */
const maxInlineBytes = 32 * 1024

/** What the index's rows are tested by and shown with. */
const scannedColumns = [
  'id',
  'original_topic',
  'error_message',
  'retry_count',
  'max_retries',
  'payload',
  'record_key',
  'record_value',
  'status',
  'created_at',
  'updated_at',
  'last_retry_at',
  'dlq_topic',
  'dlq_partition',
  'dlq_offset',
  'original_partition',
  'original_offset',
  'consumer_group',
  'error_class',
  'group_id',
  'next_retry_at',
  'failure_count',
  'first_failed_at',
  'last_failed_at',
] as const

export type SearchPage = {
  rows: MessageRow[]
  /** Where the search has come, if it ended before it had enough rows or had seen all; else null. */
  examinedTo: readonly string[] | null
}

/**
 * The next `limit` messages behind `after`, as the search is sorted, or against it where `backwards`. Looks at
 * `examine` rows at most; where that was the end of it, `examinedTo` is where to go on.
 */
export async function searchMessages(
  sql: Sql,
  {
    search,
    after,
    backwards = false,
    limit,
    examine,
  }: { search: MessageSearch; after: readonly string[] | null; backwards?: boolean; limit: number; examine: number },
): Promise<SearchPage> {
  const scan = scanMessages(sql, { search, backwards })
  const scanned = scan.tests.length === 0 ? limit : Math.max(limit, boundOf(scan, examine))
  const columns = sql`${sql(scannedColumns)}`
  const rows = await sql<MessageRow[]>`
    select ${shownColumns(sql, scan)}
    from ${scan.rows({ columns, after, limit: scanned })} m, lateral ${payloadSize(sql)} size
    where ${allOf(sql, scan)}
    order by ${scan.order}
    limit ${limit}`
  const sawEnough = scan.tests.length === 0 || rows.length === limit
  return { rows, examinedTo: sawEnough ? null : await keyAt(sql, { scan, after, place: scanned }) }
}

/** The ids alone, oldest first, up to and including `untilId`: for those who work through a selection in chunks. */
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
  const scanned = scan.tests.length === 0 ? limit : Math.max(limit, examine)
  const columns = sql`${sql(scannedColumns)}`
  const rows = await sql<{ id: string }[]>`
    select id from ${scan.rows({ columns, after, limit: scanned })} m
    where id <= ${untilId} and ${allOf(sql, scan)}
    order by ${scan.order}
    limit ${limit}`
  const ids = rows.map(({ id }) => id)
  if (scan.tests.length === 0 || ids.length === limit) return { ids, examinedTo: null }
  const key = await keyAt(sql, { scan, after, place: scanned })
  return { ids, examinedTo: key === null || key[0]! >= untilId ? null : key[0]! }
}

export type Total = { value: number; relation: 'eq' | 'gte' }

/** How many messages the search finds, of the first `atMost` rows along its index; `gte` where there are more rows. */
export async function countMessages(
  sql: Sql,
  { search, atMost }: { search: MessageSearch; atMost: number },
): Promise<Total> {
  const scan = scanMessages(sql, { search })
  const bound = boundOf(scan, atMost)
  // Without tests only the index is read.
  const columns = scan.tests.length === 0 ? sql`m.id ${sortColumns(sql, scan)}` : sql`${sql(scannedColumns)}`
  const [row] = await sql<{ examined: number; found: number }[]>`
    select count(*)::int as examined, (count(*) filter (where ${allOf(sql, scan)}))::int as found
    from ${scan.rows({ columns, after: null, limit: bound + 1 })} m`
  const { examined, found } = row!
  return examined <= bound
    ? { value: found, relation: 'eq' }
    : { value: scan.tests.length === 0 ? bound : found, relation: 'gte' }
}

/**
 * The page behind the first `offset` messages of a topic, and how many the topic has, in one statement and so in
 * one snapshot. The messages passed over are counted off along the index, without their rows.
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
  const scan = scanMessages(sql, { search: { filter: { topic: topic.names![0]! }, topic, scope, sort: 'newest' } })
  const columns = scan.tests.length === 0 ? sql`m.id` : sql`m.id, m.original_topic, m.dlq_topic`
  const all = (limit: number) => sql`
    select id from ${scan.rows({ columns, after: null, limit })} m where ${allOf(sql, scan)} order by ${scan.order}`
  // What is tested row by row is not known to be a page before it was tested.
  const places = scan.tests.length === 0 ? offset + limit : maxRows
  const rows = await sql<({ total: number } & (MessageRow | { id: null }))[]>`
    with total as (select count(*)::int as total from (${all(maxRows)}) every),
    page as (${all(places)} limit ${limit} offset ${offset})
    select total.total, ${shownColumns(sql, scan)}
    from total
    left join (page join dlq.dlq_messages m using (id) cross join lateral ${payloadSize(sql)} size) on true
    order by m.id desc`
  return { total: rows[0]!.total, rows: rows.flatMap((row) => (row.id === null ? [] : [row])) }
}

const maxRows = 2_147_483_647

/** The payload of one message, however large; JSON text. */
export async function getPayload(
  sql: Sql,
  { id, archived }: { id: string; archived: boolean },
): Promise<{ payload: string | null; unprojected_value: Buffer | null } | null> {
  const [row] = await sql<{ payload: string | null; unprojected_value: Buffer | null }[]>`
    select payload, case when payload is null then record_value end as unprojected_value
    from ${archived ? sql`dlq.dlq_messages_archive` : sql`dlq.dlq_messages`} where id = ${id}`
  return row ?? null
}

function shownColumns(sql: Sql, scan: MessageScan) {
  return sql`
    m.id, m.original_topic, m.error_message, m.retry_count, m.max_retries, m.status, m.created_at, m.updated_at, m.last_retry_at,
    case when not large then m.payload end as payload,
    case when not large and m.payload is null and octet_length(m.record_value) > 0 then m.record_value end as unprojected_value,
    large, m.dlq_topic, m.dlq_partition, m.dlq_offset, m.original_partition, m.original_offset, m.consumer_group, m.error_class,
    m.group_id, m.next_retry_at, m.failure_count, m.first_failed_at, m.last_failed_at, ${sortTime(sql, scan)} as sort_time`
}

/** Whether the payload is large. The sizes stand in the row; nothing is fetched to know them. */
function payloadSize(sql: Sql) {
  return sql`(select greatest(octet_length(m.record_value), pg_column_size(m.payload)) > ${maxInlineBytes} is true as large)`
}

/** Over the topics that have something due, so many rows of each would be read. */
function boundOf(scan: MessageScan, examine: number): number {
  return scan.sortColumn === 'next_retry_at' ? Math.min(examine, 500) : examine
}

function allOf(sql: Sql, { tests }: MessageScan) {
  return tests.reduce((all, test) => sql`${all} and ${test}`, sql`true`)
}

function sortColumns(sql: Sql, { sortColumn }: MessageScan) {
  return sortColumn === null ? sql`` : sql`, m.${sql(sortColumn)}`
}

function sortTime(sql: Sql, { sortColumn }: MessageScan) {
  if (sortColumn === null) return sql`null`
  const column = sql`m.${sql(sortColumn)}`
  return sql`case when isfinite(${column}) then (${column} at time zone 'UTC')::text || '+00' else ${column}::text end`
}

/** The sort columns of the row at the place along the index; null where there are not so many. */
async function keyAt(
  sql: Sql,
  { scan, after, place }: { scan: MessageScan; after: readonly string[] | null; place: number },
): Promise<string[] | null> {
  const columns = sql`m.id ${sortColumns(sql, scan)}`
  const [row] = await sql<{ id: string; sort_time: string | null }[]>`
    select id, ${sortTime(sql, scan)} as sort_time
    from ${scan.rows({ columns, after, limit: place })} m
    order by ${scan.order}
    offset ${place - 1}`
  if (!row) return null
  return row.sort_time === null ? [row.id] : [row.sort_time, row.id]
}
