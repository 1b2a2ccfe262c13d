// What the messages of a filter have in common, and when they arrived.

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { dataOf } from 'dlq-client/api-client.ts'
import { type MessageFilter, requestFilter } from '../../domain/addresses.ts'
import type { RailRange } from '../../domain/charts/activity.ts'
import { api } from '../api.ts'
import { serverNow } from '../server-clock.ts'

export const facetNames = ['status', 'original_topic', 'consumer_group', 'error_class', 'partition'] as const
export type FacetName = (typeof facetNames)[number]

export function facetsQuery(filter: MessageFilter) {
  return queryOptions({
    queryKey: ['facets', filter],
    queryFn: ({ signal }) => {
      const query = { ...requestFilter(filter, new Date(serverNow())), by: facetNames.join(',') }
      return dataOf(api.GET('/api/v1/messages/facets', { params: { query: query as never }, signal }))
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
}

export function activityQuery(filter: MessageFilter, { from, to, stepMs }: RailRange) {
  // Its range is that of the rail: what stands beside a chosen stretch stays in sight.
  const { archived: _, from: _from, to: _to, arrived_from: _arrivedFrom, arrived_to: _arrivedTo, ...rest } = filter
  return queryOptions({
    queryKey: ['activity', rest, from, to, stepMs],
    queryFn: ({ signal }) => {
      const query = { ...requestFilter(rest, new Date(serverNow())), from, to, step: `${stepMs / 1000}s` }
      return dataOf(api.GET('/api/v1/activity', { params: { query: query as never }, signal }))
    },
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
}
