// Messages of which masks hide something. What somebody asks to see without them is read once, with a reason, and the API
// records it; while it is shown, everything else of the message is asked as before, behind the masks.

import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { dataOf } from 'dlq-client/api-client.ts'
import { api } from '../../api.ts'
import type { LiveInterval } from '../../live.ts'
import { createStore, useStore } from '../../store.ts'
import { type MessageDetail, messageQuery, type Unmask } from '../messages.ts'

/** Messages that are shown without their masks, and why. Gone with the page. */
const unmasked = createStore<Readonly<Record<string, string>>>({})

/** What a message holds. The rest of it may change at any time, and is no secret. */
const contents = ['error_message', 'error_stacktrace', 'key', 'headers', 'payload', 'value_bytes'] as const
const more = ['decoding', 'decoded_key'] as const

export function useUnmask(id: string): Unmask {
  const reason = useStore(unmasked)[id]
  return reason === undefined ? null : { unmask: true, reason }
}

function unmaskedQuery(id: string, { edits, reason }: { edits: number; reason: string }) {
  return queryOptions({
    // Each read is recorded: nothing but an edit makes another one.
    queryKey: ['unmasked', id, edits, reason],
    queryFn: ({ signal }): Promise<MessageDetail> =>
      dataOf(
        api.GET('/api/v1/dlq/messages/{id}', { params: { path: { id }, query: { unmask: true, reason } }, signal }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    gcTime: 60_000,
  })
}

/** The message as it may be seen now; `hidden` is there only while masks hide something of it. */
export function useMessage(id: string, asked: { refetchInterval?: LiveInterval; staleTime?: number }) {
  const detail = useQuery({ ...messageQuery(id), ...asked })
  const unmask = useUnmask(id)
  const masked = detail.data?.message
  const { data: open } = useQuery({
    ...unmaskedQuery(id, { edits: masked?.edits ?? 0, reason: unmask?.reason ?? '' }),
    enabled: unmask !== null && masked !== undefined,
  })
  return { detail, message: masked === undefined || open === undefined ? masked : withContents(masked, open), unmask }
}

function withContents(masked: MessageDetail, open: MessageDetail): MessageDetail {
  const { hidden: _, ...rest } = masked
  return { ...rest, ...Object.fromEntries([...contents, ...more].map((name) => [name, open[name]])) } as MessageDetail
}

/** @throws {DlqApiError} where the token may not, or where the read cannot be recorded: then nothing is shown */
export async function showUnmasked(
  client: QueryClient,
  { id, edits }: Pick<MessageDetail, 'id' | 'edits'>,
  reason: string,
): Promise<void> {
  await client.fetchQuery(unmaskedQuery(id, { edits, reason }))
  unmasked.set({ ...unmasked.get(), [id]: reason })
}

export function hideAgain(client: QueryClient, id: string): void {
  const { [id]: _, ...others } = unmasked.get()
  unmasked.set(others)
  // Once nothing on the page shows them any more.
  setTimeout(() => {
    for (const name of ['unmasked', 'bytes', 'decoded', 'origin'])
      client.removeQueries({ queryKey: [name, id], type: 'inactive' })
  })
}
