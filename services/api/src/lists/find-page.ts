// One page of a search. The query looks at a bounded number of rows; here it is asked again from where it came
// to, until the page is full, all is seen, or the time for one answer is up. Then the page says that it is
// bounded, and its cursor goes on from there: what is rare is found in several short answers instead of one
// that takes minutes.

import { type Cursor, decodeCursor, encodeCursor } from 'dlq-core/message-cursor.ts'
import { bindingOf, canonicalFilter } from 'dlq-core/message-filter.ts'
import type { MessageSearch } from 'dlq-core/queries/message-scan.ts'
import { type MessageRow, searchMessages } from 'dlq-core/queries/message-search.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { ApiError } from './api-error.ts'

/** Rows looked at by one statement, and how long further ones are sent. */
const defaultEffort = { examine: 5_000, budgetMs: 500 }
export type Effort = typeof defaultEffort

export type Page = {
  rows: MessageRow[]
  nextCursor: string | null
  prevCursor: string | null
  /** There may be more between here and the next cursor's place. */
  bounded: boolean
}

export async function findPage(
  sql: Sql,
  {
    search,
    cursor: text,
    limit,
    signal,
    effort = defaultEffort,
  }: { search: MessageSearch; cursor: string | undefined; limit: number; signal: AbortSignal; effort?: Effort },
): Promise<Page> {
  const binding = bindingOf(canonicalFilter(search.filter), search.sort)
  const cursor = text === undefined ? null : readCursor(text, binding)
  const backwards = cursor?.direction === 'back'
  const deadline = performance.now() + effort.budgetMs

  const found: MessageRow[] = []
  let after = cursor?.key ?? null
  let examinedTo: readonly string[] | null
  do {
    // One more than the page has, to know whether there are more.
    const wanted = limit + 1 - found.length
    const part = await searchMessages(sql, { search, after, backwards, limit: wanted, examine: effort.examine })
    found.push(...part.rows)
    examinedTo = after = part.examinedTo
  } while (examinedTo !== null && found.length <= limit && performance.now() < deadline && !signal.aborted)

  const rows = found.slice(0, limit)
  const onwards = found.length > limit ? keyOf(rows.at(-1)!) : examinedTo
  const backTo = cursor === null ? null : rows.length > 0 ? keyOf(rows[0]!) : cursor.key
  const encode = (key: readonly string[] | null, direction: Cursor['direction']) =>
    key && encodeCursor({ direction, key }, binding)
  return {
    rows: backwards ? rows.toReversed() : rows,
    nextCursor: encode(backwards ? backTo : onwards, 'forward'),
    prevCursor: encode(backwards ? onwards : backTo, 'back'),
    bounded: found.length <= limit && examinedTo !== null,
  }
}

/** @throws {ApiError} 400 where it is none, or belongs to another filter or order */
export function readCursor(text: string, binding: string, id?: RegExp): Cursor {
  const cursor = decodeCursor(text, binding, id)
  if (typeof cursor !== 'string') return cursor
  const message =
    cursor === 'invalid' ? 'cursor: invalid cursor' : 'cursor: it belongs to a list with another filter or sort'
  throw new ApiError('SYS_DLQ_VALIDATION_ERROR', message, [{ field: 'cursor', message }])
}

export function keyOf({ sort_time, id }: MessageRow): readonly string[] {
  return sort_time === null ? [id] : [sort_time, id]
}
