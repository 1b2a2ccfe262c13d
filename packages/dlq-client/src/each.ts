// Lists as iterators: each page is requested when it is needed, by the cursor of the previous one.
//
//   for await (const message of eachMessage(client, { topic: 'orders', status: ['DEAD'] })) …

import { type DlqClient, dataOf } from './api-client.ts'
import type { paths } from './api-types.ts'

type QueryOf<Path extends '/api/v1/messages' | '/api/v1/groups' | '/api/v1/topics' | '/api/v1/audit'> = Omit<
  NonNullable<paths[Path]['get']['parameters']['query']>,
  'cursor'
>

/** All messages of a filter, in its order. Callers do not notice that a long search takes several answers. */
export const eachMessage = (client: DlqClient, query: QueryOf<'/api/v1/messages'> = {}) =>
  everyPage(async (cursor) => {
    const { messages, pagination } = await dataOf(
      client.GET('/api/v1/messages', { params: { query: { limit: 200, ...query, ...cursor } } }),
    )
    return { items: messages, next: pagination.next_cursor }
  })

export const eachGroup = (client: DlqClient, query: QueryOf<'/api/v1/groups'> = {}) =>
  everyPage(async (cursor) => {
    const { groups, next_cursor } = await dataOf(
      client.GET('/api/v1/groups', { params: { query: { limit: 100, ...query, ...cursor } } }),
    )
    return { items: groups, next: next_cursor }
  })

export const eachTopic = (client: DlqClient, query: QueryOf<'/api/v1/topics'> = {}) =>
  everyPage(async (cursor) => {
    const { topics, next_cursor } = await dataOf(
      client.GET('/api/v1/topics', { params: { query: { limit: 200, ...query, ...cursor } } }),
    )
    return { items: topics, next: next_cursor }
  })

export const eachAuditEntry = (client: DlqClient, query: QueryOf<'/api/v1/audit'> = {}) =>
  everyPage(async (cursor) => {
    const { entries, next_cursor } = await dataOf(
      client.GET('/api/v1/audit', { params: { query: { limit: 200, ...query, ...cursor } } }),
    )
    return { items: entries, next: next_cursor }
  })

type Page<T> = { items: readonly T[]; next: string | null }

async function* everyPage<T>(ask: (cursor: { cursor?: string }) => Promise<Page<T>>): AsyncGenerator<T, void> {
  for (let cursor: { cursor?: string } | null = {}; cursor !== null; ) {
    const { items, next }: Page<T> = await ask(cursor)
    yield* items
    cursor = next === null ? null : { cursor: next }
  }
}
