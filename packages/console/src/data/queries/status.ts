// The state of the whole installation.

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { api } from '../api.ts'

export type Status = components['schemas']['Status']

export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: ({ signal }): Promise<Status> => dataOf(api.GET('/api/v1/status', { signal })),
  placeholderData: keepPreviousData,
})
