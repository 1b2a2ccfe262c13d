// A long list of messages, of which only the pages around the place that is looked at are kept.

import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { MessageFilter } from '../../../domain/addresses.ts'
import { matchTotal } from '../../../domain/lists/match-total.ts'
import { keptPages, type PagePlace, placeOf, toRead, windowOf } from '../../../domain/lists/page-window.ts'
import { type ListSort, messagesQuery, readMessages } from '../messages.ts'

const pageRows = 100
const fewestRows = 1000

type Seen = { key: string; last: PagePlace | null; rows: number }
const nothing: Seen = { key: '', last: null, rows: 0 }

export function useMessageWindow(filter: MessageFilter, sort: ListSort) {
  const client = useQueryClient()
  const query = messagesQuery(filter, sort, pageRows)
  const kept = client.getQueryData(query.queryKey)?.pages.reduce((sum, { messages }) => sum + messages.length, 0) ?? 0
  // A search that finds little has many pages with few rows: these are kept, or what is in sight would be among the dropped.
  const list = useInfiniteQuery({
    ...query,
    maxPages: kept < fewestRows ? Number.POSITIVE_INFINITY : keptPages,
    staleTime: 60_000,
  })
  const places = list.data?.pageParams ?? []
  const pages = list.data?.pages ?? []
  const window = windowOf(
    pages.map(({ messages }) => messages),
    places,
  )
  const reading = useRef(false)
  const [seen, setSeen] = useState<Seen>(nothing)
  const key = JSON.stringify(query.queryKey)
  const last = places.at(-1) ?? null
  // The list is as long as what was seen of it: pages that are dropped behind the place leave their height.
  const isLonger = seen.key !== key || window.end > seen.rows || !list.hasNextPage
  if (!list.isPlaceholderData && last !== null && isLonger && (seen.key !== key || seen.rows !== window.end))
    setSeen({ key, last, rows: window.end })
  const known = list.isPlaceholderData || !list.hasNextPage ? window.end : Math.max(window.end, seen.rows)

  /** Reads what is missing of the rows in sight. */
  const show = async (first: number, lastRow: number) => {
    if (reading.current || list.isFetching || list.error !== null || last === null || list.isPlaceholderData) return
    const what = toRead({ first, last: lastRow }, window, { pageRows, known })
    if (what === null || (what === 'after' && !list.hasNextPage)) return
    if (what === 'before') await list.fetchPreviousPage({ cancelRefetch: false })
    else if (what === 'after') await list.fetchNextPage({ cancelRefetch: false })
    else await jump(first, last)
  }

  const jump = async (first: number, last: PagePlace) => {
    reading.current = true
    try {
      const place = placeOf(first, seen.key === key && seen.last !== null ? seen.last : last)
      const page = await readMessages(filter, { sort, limit: pageRows, cursor: place.cursor })
      client.setQueryData(query.queryKey, { pages: [page], pageParams: [place] })
    } catch {
      // The rows stay empty; the next look at them asks again.
    } finally {
      reading.current = false
    }
  }
  /** Begins at the newest again. */
  const refresh = async () => {
    if (!places[0]?.before) return void (await list.refetch())
    setSeen(nothing)
    scrollTo(0, 0)
    await client.resetQueries({ queryKey: query.queryKey })
  }
  const isWhole = list.data !== undefined && !list.isPlaceholderData && !list.hasNextPage
  const total = matchTotal(pages[0]?.pagination.total ?? places[0]?.total ?? null, { rows: known, isWhole })
  return { list, window, known, show, refresh, total, last: pages.at(-1) }
}
