// Error groups.

import { infiniteQueryOptions, keepPreviousData, queryOptions, useQueries, useQuery } from '@tanstack/react-query'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { api } from '../api.ts'

export type ErrorGroup = components['schemas']['ErrorGroup']
export type GroupState = ErrorGroup['state']

export type GroupChange = {
  state?: GroupState
  snoozed_until?: string
  owner?: string | null
  note?: string | null
  reason?: string
}

/** Query parameters of the list; which of them exist depends on the API's version. */
export type GroupsFilter = Readonly<Record<string, string>>

export type GroupsPage = {
  groups: ErrorGroup[]
  next_cursor: string | null
  totals: Readonly<Record<string, number>> | null
}

async function readGroups(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<GroupsPage> {
  const answer = await dataOf(api.GET('/api/v1/groups', { params: { query: query as never }, signal }))
  const { groups, totals = null, ...rest } = answer as typeof answer & { totals?: Record<string, number> }
  return { groups, totals, next_cursor: (rest as { next_cursor?: string | null }).next_cursor ?? null }
}

/**
 * Those seen last, and where they are not all, those with the most DEAD: among thousands, what broke an hour ago was not seen
 * last. With their 24 hours where `trend`, which costs the database more.
 */
export function openGroupsQuery({ trend }: { trend: boolean }) {
  return queryOptions({
    queryKey: ['groups', 'open', { trend }],
    queryFn: async ({ signal }) => {
      const asked = { state: 'open', ...(trend ? { trend: 'true' } : {}) }
      const last = await readGroups({ ...asked, limit: '50' }, signal)
      if (last.next_cursor === null) return last
      const most = await readGroups({ ...asked, sort: 'dead', limit: '20' }, signal)
      const known = new Set(last.groups.map(({ id }) => id))
      return { ...last, groups: [...last.groups, ...most.groups.filter(({ id }) => !known.has(id))] }
    },
    placeholderData: keepPreviousData,
    staleTime: trend ? 60_000 : 4000,
  })
}

export function groupsQuery(filter: GroupsFilter) {
  return infiniteQueryOptions({
    queryKey: ['groups', 'list', filter],
    queryFn: ({ signal, pageParam }) =>
      readGroups(
        { ...filter, limit: '50', trend: 'true', ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  })
}

/** One page as the filter says, for a part of another page. */
export function groupPageQuery(filter: GroupsFilter) {
  return queryOptions({
    queryKey: ['groups', 'page', filter],
    queryFn: ({ signal }) => readGroups(filter, signal),
    placeholderData: keepPreviousData,
  })
}

export function groupQuery(id: string) {
  return queryOptions({
    queryKey: ['group', id],
    queryFn: ({ signal }): Promise<ErrorGroup> =>
      dataOf(api.GET('/api/v1/groups/{id}', { params: { path: { id } }, signal })),
  })
}

/** Null where there is no such group, or nobody may see it, and before it is known. */
export function useGroupTitle(id: string | null): string | null {
  // A title says which class failed where, and stays.
  const group = useQuery({ ...groupQuery(id ?? ''), enabled: id !== null, staleTime: 10 * 60_000, retry: false })
  return group.data?.title ?? null
}

/** The API takes no more ids at once. */
const idsAtOnce = 100

/** By id. Groups without messages, and those whose title is hidden, or that nobody may see, are missing. */
export function useGroupTitles(ids: readonly (string | null)[]): ReadonlyMap<string, string> {
  const asked = [...new Set(ids)].filter((id) => id !== null)
  const parts = Array.from({ length: Math.ceil(asked.length / idsAtOnce) }, (_, n) =>
    asked.slice(n * idsAtOnce, (n + 1) * idsAtOnce),
  )
  const pages = useQueries({
    queries: parts.map((some) => ({
      ...groupPageQuery({ ids: some.join(','), limit: String(idsAtOnce) }),
      staleTime: 10 * 60_000,
      retry: false,
    })),
  })
  const groups = pages.flatMap(({ data }) => data?.groups ?? []).filter(({ hidden }) => !hidden?.includes('/title'))
  return new Map(groups.map(({ id, title }) => [id, title]))
}

export function changeGroup(id: string, change: GroupChange): Promise<ErrorGroup> {
  return dataOf(api.PATCH('/api/v1/groups/{id}', { params: { path: { id } }, body: change as never }))
}

/** Lets its automatic retries go on for this original topic, before its probes have succeeded. */
export function resumeGroup(id: string, topic: string, reason: string): Promise<unknown> {
  const body = { original_topic: topic, ...(reason === '' ? {} : { reason }) }
  return dataOf(api.POST('/api/v1/groups/{id}/resume', { params: { path: { id } }, body }))
}
