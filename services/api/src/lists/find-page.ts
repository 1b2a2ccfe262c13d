// One page of a search. One statement looks at a bounded number of rows. It is repeated from where it stopped
// until the page is full, all rows are seen, or the time for one answer is up. In the last case the page is
// marked as bounded, and its cursor continues there: rare messages are found in several short answers instead
// of one that takes minutes.

import { canonicalFilter, type MessageFilter } from 'dlq-core/domain/message/message-filter.ts'
import { isStorableTime } from 'dlq-core/domain/message/storable-time.ts'
import { type MessageSearch, sortColumnOf } from 'dlq-core/queries/reading/message-scan.ts'
import { type MessageRow, type Show, searchMessages } from 'dlq-core/queries/reading/message-search.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import * as v from 'valibot'
import { invalidField } from '../http/api-error.ts'
import { bindingOf, decodeCursor, encodeCursor, isSealedCursor, keyParts } from './cursor.ts'
import type { CursorSeal } from './cursor-seal.ts'

/** Rows that one statement looks at, and how long further statements are started. */
const defaultEffort = { examine: 5_000, budgetMs: 500 }
export type Effort = typeof defaultEffort

/** Forwards or backwards from a row: its time, where the list is sorted by one, and its id. */
const direction = v.picklist(['f', 'b'])
const pageKey = v.union([
  v.strictTuple([direction, keyParts.uuid]),
  v.strictTuple([direction, keyParts.time, keyParts.uuid]),
])

export type Page = {
  rows: MessageRow[]
  nextCursor: string | null
  prevCursor: string | null
  /** The time was up before the page was full: more rows may match behind the next cursor. */
  bounded: boolean
  /**
   * The time of the row at which the search ended, in the order of the sort. Null where it came to the end of the list, and
   * where the caller may not see that row.
   */
  searchedTo: Date | null
  /** The rows that were looked at, at least: of the statement that filled the page, only what it found is counted. */
  examined: number
}

export async function findPage(
  sql: Sql,
  {
    search,
    cursor: text,
    limit,
    seal,
    signal,
    show = 'payload',
    effort = defaultEffort,
    asked = search.filter,
  }: {
    search: MessageSearch
    cursor: string | undefined
    limit: number
    /** Of cursors whose row the caller may not see. */
    seal: CursorSeal
    signal: AbortSignal
    show?: Show
    effort?: Effort
    /** The filter as it was sent, to which the cursor is bound: a hash of an opened pseudonym could be tried out. */
    asked?: MessageFilter
  },
): Promise<Page> {
  const binding = bindingOf(canonicalFilter(asked), search.sort)
  const [direction, ...key] = text === undefined ? (['f'] as const) : decodeCursor(text, binding, pageKey, seal)
  // A glob may match more topics than it did for the page before, and its list then has another order.
  if (text !== undefined && key.length !== (sortColumnOf(search) === null ? 1 : 2))
    throw invalidField('cursor', 'the list is in another order by now; begin again without a cursor')
  const backwards = direction === 'b'
  const deadline = performance.now() + effort.budgetMs

  const found: MessageRow[] = []
  const from: readonly string[] | null = key.length === 0 ? null : key
  let after = from
  let examinedTo: readonly string[] | null
  let isEdgeInScope = true
  let examined = 0
  do {
    // One more than the page has, to know whether there are more.
    const wanted = limit + 1 - found.length
    const part = await searchMessages(sql, { search, after, backwards, limit: wanted, examine: effort.examine, show })
    found.push(...part.rows)
    examinedTo = after = part.examinedTo
    isEdgeInScope = part.isEdgeInScope
    examined += part.examined
  } while (examinedTo !== null && found.length <= limit && performance.now() < deadline && !signal.aborted)

  const rows = found.slice(0, limit)
  const place = (key: readonly string[] | null, isSealed = false) => key && { key, isSealed }
  const onwards = found.length > limit ? place(keyOf(rows.at(-1)!)) : place(examinedTo, !isEdgeInScope)
  const backTo = from === null ? null : rows.length > 0 ? place(keyOf(rows[0]!)) : place(from, isSealedCursor(text))
  const encode = (to: ReturnType<typeof place>, direction: 'f' | 'b') => {
    if (to === null) return null
    return encodeCursor([direction, ...to.key], binding, to.isSealed ? seal : null)
  }
  return {
    rows: backwards ? rows.toReversed() : rows,
    nextCursor: encode(backwards ? backTo : onwards, 'f'),
    prevCursor: encode(backwards ? onwards : backTo, 'b'),
    bounded: found.length <= limit && examinedTo !== null,
    searchedTo: onwards && !onwards.isSealed ? timeOfKey(onwards.key) : null,
    examined,
  }
}

/** An id begins with its record's time. Null for a time that no answer can write. */
function timeOfKey(key: readonly string[]): Date | null {
  const [first] = key as [string, ...string[]]
  const time = new Date(key.length === 1 ? Number.parseInt(first.replace('-', '').slice(0, 12), 16) : first)
  return isStorableTime(time) ? time : null
}

export function keyOf({ sort_time, id }: MessageRow): readonly string[] {
  return sort_time === null ? [id] : [sort_time, id]
}
