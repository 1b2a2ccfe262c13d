// What has been asked, how old it may be, and what happens when the answer is a fault.

import { QueryClient } from '@tanstack/react-query'
import { DlqApiError } from 'dlq-client/api-client.ts'
import { faultOf } from './faults.ts'

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

/**
 * The `onSettled` of a change after which `read` asks again for what it may have changed. A change is pending until that
 * is read, but where no proper answer came: its fault would be told after all the retries of an API that is away.
 */
export function readingAgain(read: () => Promise<unknown>) {
  return (_data: unknown, error: unknown): Promise<unknown> | undefined => {
    const isRead = read()
    if (error === null) return isRead
    const { status } = faultOf(error)
    return status === 0 || status >= 500 ? undefined : isRead
  }
}
