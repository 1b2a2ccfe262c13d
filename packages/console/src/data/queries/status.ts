// The state of the whole installation.

import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { api } from '../api.ts'
import { useLive } from '../live.ts'

export type Status = components['schemas']['Status']

const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: ({ signal }): Promise<Status> => dataOf(api.GET('/api/v1/status', { signal })),
  placeholderData: keepPreviousData,
})

/** Kept current on every page that shows some of it. */
export function useStatus() {
  return useQuery({ ...statusQuery, refetchInterval: useLive(5000) })
}
