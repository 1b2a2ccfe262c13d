// What has been asked, how old it may be, and what happens when the answer is a fault.

import { QueryClient } from '@tanstack/react-query'
import { DlqApiError } from 'dlq-client/api-client.ts'

/** Answers that another request would not change. */
function isFinal(error: unknown): boolean {
  return error instanceof DlqApiError && error.status >= 400 && error.status < 500 && error.status !== 429
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2000,
        gcTime: 5 * 60_000,
        retry: (failures, error) => failures < 2 && !isFinal(error),
        retryDelay: (failures) => Math.min(1000 * 2 ** failures, 10_000),
        refetchOnWindowFocus: true,
        networkMode: 'always',
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
}
