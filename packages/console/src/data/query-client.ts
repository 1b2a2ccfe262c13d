// What has been asked, how old it may be, and what happens when the answer is a fault.

import { type Mutation, MutationCache, type Query, QueryCache, QueryClient, type QueryKey } from '@tanstack/react-query'
import { faultOf, isFinal, toldWaitMs } from './faults.ts'

const againMs = 15_000
/** A list of more pages is read again, page after page, only where somebody asks: whoever comes back to many tabs would ask a busy API for hundreds. */
const maxFocusPages = 3

/** The pages of a list that is read page after page; 1 of anything else. Each reading reads all of them. */
export function pagesOf(data: unknown): number {
  return (data as { pages?: unknown[] } | undefined)?.pages?.length ?? 1
}

/** Before it is known the page does not know who may do what: it asks until it does, but not while somebody has to sign in. */
export const untilKnown = ({ state: { data, error } }: { state: { data?: unknown; error: unknown } }) =>
  data === undefined && faultOf(error).status !== 401 ? 5000 : false

/** `onLeftFault` gets the fault of a change whose dialog or page was left before its answer came. */
export function createQueryClient({ onLeftFault }: { onLeftFault: (fault: Error) => void }): QueryClient {
  return new QueryClient({
    mutationCache: tellingLeftFaults(onLeftFault),
    queryCache: keepingFaults(),
    defaultOptions: {
      queries: {
        staleTime: 2000,
        gcTime: 5 * 60_000,
        retry: (failures, error) => failures < 2 && !isFinal(error),
        retryDelay: (failures, error) => Math.max(Math.min(1000 * 2 ** failures, 10_000), toldWaitMs(error)),
        refetchOnWindowFocus: ({ state }) => pagesOf(state.data) <= maxFocusPages,
        // What could not be read comes by itself once the API is back.
        refetchInterval: ({ state }) =>
          state.data === undefined && state.error !== null && !isFinal(state.error)
            ? Math.max(againMs, toldWaitMs(state.error))
            : false,
        networkMode: 'always',
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
}

/**
 * The library forgets why nothing could be read as soon as it asks again. Then a page without an answer would go back and
 * forth between that and what waits, as often as it asks; so the fault stays until there is an answer.
 */
function keepingFaults(): QueryCache {
  const cache = new QueryCache()
  const faults = new WeakMap<Query, Error>()
  cache.subscribe((event) => {
    if (event.type !== 'updated') return
    const { query, action } = event
    const error = action.type === 'fetch' ? faults.get(query) : query.state.error
    if (!error) faults.delete(query)
    else if (action.type !== 'fetch') faults.set(query, error)
    else if (query.state.data === undefined) query.setState({ error, status: 'error' })
  })
  return cache
}

/** A change that gives way to the next one of its component is not left: the component tells of it. */
function tellingLeftFaults(tell: (fault: Error) => void): MutationCache {
  const cache = new MutationCache()
  const left = new WeakSet<Mutation>()
  cache.subscribe((event) => {
    if (event.type === 'observerRemoved' && !event.observer.hasListeners()) left.add(event.mutation)
    if (event.type === 'updated' && event.action.type === 'error' && left.has(event.mutation)) tell(event.action.error)
  })
  return cache
}

/**
 * The `onSettled` of a change after which what has these keys is asked for again, because it may have changed. A change is
 * pending until that is read, but where no proper answer came: its fault would be told after all the retries of an API
 * that is away.
 */
export function readingAgain(client: QueryClient, keys: readonly QueryKey[]) {
  return (_data: unknown, error: unknown): Promise<unknown> | undefined => {
    const isRead = Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })))
    if (error === null) return isRead
    const { status } = faultOf(error)
    return status === 0 || status >= 500 ? undefined : isRead
  }
}
