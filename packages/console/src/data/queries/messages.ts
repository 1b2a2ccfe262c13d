// Messages: lists along cursors, one with its ETag, its bytes, its edits, and what can be done with it.

import { type InfiniteData, infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { DlqApiError, dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { type MessageFilter, requestFilter } from '../../domain/addresses.ts'
import { firstPlace, type PagePlace } from '../../domain/lists/page-window.ts'
import { type EditRequest, editText } from '../../domain/payload/edit-draft.ts'
import { memberText } from '../../domain/payload/member-text.ts'
import { api, rawRequest } from '../api.ts'
import { serverNow } from '../server-clock.ts'

export type ListedMessage = components['schemas']['ListedMessage']
export type MessageDetail = components['schemas']['MessageDetail']
export type MessagePage = components['schemas']['MessagePage']
export type Edit = components['schemas']['Edit']

/** What a read of a message without its masks adds to the address; null: it is read behind them. */
export type Unmask = { readonly unmask: true; readonly reason: string } | null

export function unmaskText(unmask: Unmask): string {
  return unmask === null ? '' : `?${new URLSearchParams({ unmask: 'true', reason: unmask.reason })}`
}

export type MessageWithTag = { message: MessageDetail; etag: string | null }

export type ListSort = 'newest' | 'oldest' | 'next_due'

type MessagePages = InfiniteData<MessagePage, PagePlace>

type ListAsked = { sort: ListSort; limit: number; cursor: string | null }

export function readMessages(filter: MessageFilter, asked: ListAsked, signal?: AbortSignal): Promise<MessagePage> {
  const { sort, limit, cursor } = asked
  const query = { ...requestFilter(filter, new Date(serverNow())), sort, limit, show: 'preview' }
  const from = cursor === null ? {} : { cursor }
  const options = { params: { query: { ...query, ...from } as never }, ...(signal === undefined ? {} : { signal }) }
  return dataOf(api.GET('/api/v1/messages', options))
}

export function messagesQuery(filter: MessageFilter, sort: ListSort, limit: number) {
  return infiniteQueryOptions<MessagePage, Error, MessagePages, readonly unknown[], PagePlace>({
    queryKey: ['messages', filter, sort, limit],
    queryFn: ({ signal, pageParam }): Promise<MessagePage> =>
      readMessages(filter, { sort, limit, cursor: pageParam.cursor }, signal),
    initialPageParam: firstPlace,
    getNextPageParam: ({ messages, pagination }, _, place) =>
      pagination.next_cursor === null
        ? null
        : {
            ...{ cursor: pagination.next_cursor, start: place.start + messages.length, before: place },
            total: pagination.total ?? place.total,
          },
    getPreviousPageParam: (_, __, place) => place.before,
    placeholderData: keepPreviousData,
    // The places are a chain as long as the list: comparing them all would cost more than it saves.
    structuralSharing: false,
  })
}

export function messageQuery(id: string) {
  return queryOptions({
    queryKey: ['message', id],
    queryFn: async ({ signal }): Promise<MessageWithTag> => {
      const answer = api.GET('/api/v1/dlq/messages/{id}', { params: { path: { id } }, signal })
      const message = await dataOf(answer)
      return { message, etag: (await answer).response.headers.get('etag') }
    },
  })
}

/** The bytes of the value, or of the key, as they were in Kafka; null where there are none. */
export function bytesQuery(id: string, part: 'value' | 'key', { edits, unmask }: { edits: number; unmask: Unmask }) {
  return queryOptions({
    // An edit makes other bytes; nothing else does.
    queryKey: ['bytes', id, part, edits, unmask],
    queryFn: async ({ signal }): Promise<Uint8Array | null> => {
      const response = await rawRequest(bytesPath(id, part, unmask), { signal })
      if (response.status === 204) return null
      if (!response.ok) {
        const body: unknown = await response.json().catch(() => null)
        throw new DlqApiError(response.status, body)
      }
      return new Uint8Array(await response.arrayBuffer())
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** Where the bytes are, for a download as well. */
export function bytesPath(id: string, part: 'value' | 'key', unmask: Unmask): string {
  return `/api/v1/dlq/messages/${encodeURIComponent(id)}/${part}${unmaskText(unmask)}`
}

/** The value as JSON text, as it is shown, with all its digits: JSON.parse of the answer would round them. */
export function jsonValueQuery({ id, updated_at }: Pick<MessageDetail, 'id' | 'updated_at'>, unmask: Unmask) {
  return queryOptions({
    queryKey: ['decoded', id, updated_at, unmask],
    queryFn: async ({ signal }): Promise<string> => {
      const path = `/api/v1/dlq/messages/${encodeURIComponent(id)}${unmaskText(unmask)}`
      const response = await rawRequest(path, { signal })
      if (!response.ok) throw new DlqApiError(response.status, await response.json().catch(() => null))
      return memberText(await response.text(), 'payload') ?? 'null'
    },
  })
}

export function editsQuery(id: string) {
  return queryOptions({
    queryKey: ['edits', id],
    queryFn: async ({ signal }): Promise<Edit[]> =>
      (await dataOf(api.GET('/api/v1/dlq/messages/{id}/edits', { params: { path: { id } }, signal }))).edits,
  })
}

/** Gives it the content that it had before the edit of this number, and so takes back all edits after that one, too. */
export function undoEdit(id: string, number: number, { reason, etag }: { reason: string; etag: string | null }) {
  const params = { path: { id, number }, header: etag === null ? {} : { 'if-match': etag } }
  const body = reason === '' ? {} : { reason }
  return dataOf(api.POST('/api/v1/dlq/messages/{id}/edits/{number}/undo', { params, body }))
}

export type RetryAnswer = { status: number; message: string }

/** Waits up to ten seconds for a retrier to settle it. */
export async function retryMessage(
  id: string,
  { force = false, reason, etag }: { force?: boolean; reason?: string; etag: string | null },
): Promise<RetryAnswer> {
  const header = { prefer: 'wait=10', ...(etag === null ? {} : { 'if-match': etag }) }
  const body = { force, ...(reason ? { reason } : {}) }
  const answer = api.POST('/api/v1/dlq/messages/{id}/retry', { params: { path: { id }, header }, body })
  const { message } = await dataOf(answer)
  return { status: (await answer).response.status, message }
}

export type MessageChange = EditRequest & {
  next_retry_at?: string | null
  max_retries?: number
  /** More bytes than those of the change may differ. */
  reencode?: boolean
  reason?: string
}

export async function changeMessage(
  id: string,
  change: MessageChange,
  { etag, unmask = null }: { etag: string | null; unmask?: Unmask },
): Promise<string | null> {
  const params = { path: { id }, header: etag === null ? {} : { 'if-match': etag }, query: unmask ?? {} }
  const body = { body: editText(change) as never, bodySerializer: (text: unknown) => String(text) }
  const answer = api.PATCH('/api/v1/dlq/messages/{id}', { params, ...body })
  await dataOf(answer)
  return (await answer).response.headers.get('etag')
}

export type MessageAction = 'dead' | 'revive' | 'archive' | 'restore' | 'delete'

export async function actOnMessage(id: string, action: MessageAction, reason: string, etag: string | null) {
  const params = { path: { id }, header: etag === null ? {} : { 'if-match': etag } }
  const body = reason === '' ? {} : { reason }
  if (action === 'dead') return dataOf(api.POST('/api/v1/dlq/messages/{id}/dead', { params, body } as never))
  if (action === 'revive') return dataOf(api.POST('/api/v1/dlq/messages/{id}/revive', { params, body } as never))
  if (action === 'restore') return dataOf(api.POST('/api/v1/dlq/messages/{id}/restore', { params, body } as never))
  if (action === 'archive') {
    // Only runs archive; of one message it is done within a second.
    const run = { kind: 'archive' as const, selection: { ids: [id] }, expect_count: 1, ...body }
    return dataOf(api.POST('/api/v1/runs', { body: run as never }))
  }
  const { error, response } = await api.DELETE('/api/v1/dlq/messages/{id}', { params, body } as never)
  if (error !== undefined) throw new DlqApiError(response.status, error)
  return null
}

export type AuditEntry = components['schemas']['AuditEntry']

export function auditQuery(targetType: string, targetId: string) {
  return queryOptions({
    queryKey: ['audit', targetType, targetId],
    queryFn: async ({ signal }): Promise<AuditEntry[]> => {
      const query = { target_type: targetType, target_id: targetId, limit: 50 }
      return (await dataOf(api.GET('/api/v1/audit', { params: { query }, signal }))).entries
    },
  })
}
