// What somebody pasted into the search: an id goes to its message, group or run, in that order. Other text is asked for as
// a key, exactly, and within the errors.

import { DlqApiError, dataOf } from 'dlq-client/api-client.ts'
import type { MessageFilter } from '../domain/addresses.ts'
import { beginsWithFilter, filterFromText } from '../domain/filter-text.ts'
import { api } from './api.ts'

export type Found =
  | { to: 'message' | 'group' | 'run'; id: string }
  | { to: 'messages'; search: MessageFilter }
  | { to: null; said: string }

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

export async function findAnything(text: string): Promise<Found> {
  if (uuid.test(text)) return findById(text.toLowerCase())
  if (beginsWithFilter(text)) return { to: 'messages', search: filterFromText(text)! }
  const [, path, wanted] = /^payload\.([\w.]+):(\S.*)$/s.exec(text) ?? []
  if (path !== undefined && wanted !== undefined)
    return { to: 'messages', search: { payload: nested(path.split('.'), wanted) } }
  return findText(text)
}

async function findById(id: string): Promise<Found> {
  const params = { params: { path: { id } } }
  if (await isThere(api.GET('/api/v1/dlq/messages/{id}', params))) return { to: 'message', id }
  if (await isThere(api.GET('/api/v1/groups/{id}', params))) return { to: 'group', id }
  if (await isThere(api.GET('/api/v1/runs/{id}', params))) return { to: 'run', id }
  return { to: null, said: `No message, group or run has the id ${id}, or your token may not see it.` }
}

/** @throws {DlqApiError} where the API does not know it now: that nothing was found would be wrong */
async function isThere(answer: Promise<{ data?: unknown; error?: unknown; response: Response }>): Promise<boolean> {
  const { data, error, response } = await answer
  if (data === undefined && response.status !== 404) throw new DlqApiError(response.status, error)
  return data !== undefined
}

async function findText(text: string): Promise<Found> {
  const ask = async (query: MessageFilter) => {
    const { messages } = await dataOf(
      api.GET('/api/v1/messages', { params: { query: { ...query, limit: 2 } as never } }),
    )
    return messages
  }
  const [byKey, byError] = await Promise.all([ask({ key: text }), ask({ q: text })])
  if (byKey.length === 1) return { to: 'message', id: byKey[0]!.id }
  if (byKey.length > 1) return { to: 'messages', search: { key: text } }
  if (byError.length > 0) return { to: 'messages', search: { q: text } }
  return {
    to: null,
    said: `Nothing: no message has the key “${text}”, and none has that text in its error. Values are searched by payload.field:value, the archive on the page of messages.`,
  }
}

/** `order_id`, `4711` as `{"order_id":4711}`: a number where it looks like one, as it is written. */
function nested(path: readonly string[], value: string): string {
  const leaf = /^(-?\d+(\.\d+)?|true|false|null)$/.test(value) ? value : JSON.stringify(value)
  return path.reduceRight((inner, name) => `{${JSON.stringify(name)}:${inner}}`, leaf)
}
