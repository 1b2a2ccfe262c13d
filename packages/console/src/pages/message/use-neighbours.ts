// The messages before and after this one in the list that it was opened from, as far as that list was read.

import { useInfiniteQuery } from '@tanstack/react-query'
import { type ListSort, messagesQuery } from '../../data/queries/messages.ts'
import { filterOf, parseSearch } from '../../domain/addresses.ts'

export function useNeighbours(id: string, from: string | undefined): { previous: string | null; next: string | null } {
  const search = parseSearch(from ?? '')
  const limit = search.group_id !== undefined && Object.keys(search).length === 1 ? 50 : 100
  const list = useInfiniteQuery({
    ...messagesQuery(filterOf(search), (search.sort ?? 'newest') as ListSort, limit),
    enabled: from !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const ids = list.data?.pages.flatMap((page) => page.messages.map((message) => message.id)) ?? []
  const at = ids.indexOf(id)
  return { previous: at < 1 ? null : ids[at - 1]!, next: at < 0 ? null : (ids[at + 1] ?? null) }
}
