// Topics: those of the dead letters, how far they are read, who reads them, and who may stop and start them.

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { api } from '../api.ts'

export type Topic = components['schemas']['Topic']
export type TopicReader = components['schemas']['TopicReader']
export type Position = components['schemas']['Position']
export type Route = components['schemas']['Route']
export type TopicKind = Topic['kind']
export type Pausable = 'retries' | 'ingestion'

export type TopicsFilter = {
  kind: TopicKind
  q?: string
  sort?: 'name' | 'dead' | 'pending' | 'expires'
  only?: 'losing'
}

export function topicsQuery(filter: TopicsFilter) {
  return infiniteQueryOptions({
    queryKey: ['topics', filter],
    queryFn: ({ signal, pageParam }) => {
      const query = { ...filter, limit: 100, ...(pageParam === null ? {} : { cursor: pageParam }) }
      return dataOf(api.GET('/api/v1/topics', { params: { query }, signal }))
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  })
}

/** At most this many pages of 200. */
const maxPages = 5

/** All original topics with the policy in force, as far as 1,000 of them. */
export const knownTopicsQuery = queryOptions({
  queryKey: ['topics', 'known'],
  queryFn: async ({ signal }): Promise<Topic[]> => {
    const topics: Topic[] = []
    let cursor: string | null = null
    for (let page = 0; page < maxPages; page++) {
      const query = { kind: 'original' as const, limit: 200, ...(cursor === null ? {} : { cursor }) }
      const answer: components['schemas']['GetTopicsAnswer'] = await dataOf(
        api.GET('/api/v1/topics', { params: { query }, signal }),
      )
      topics.push(...answer.topics)
      cursor = answer.next_cursor
      if (cursor === null) break
    }
    return topics
  },
  staleTime: 30_000,
})

export function topicQuery(topic: string, kind: TopicKind | null) {
  return queryOptions({
    queryKey: ['topic', topic, kind],
    queryFn: ({ signal }): Promise<Topic> => {
      const params = { path: { topic }, query: kind === null ? {} : { kind } }
      return dataOf(api.GET('/api/v1/topics/{topic}', { params, signal }))
    },
  })
}

export function readersQuery(topic: string) {
  return queryOptions({
    queryKey: ['topic', topic, 'readers'],
    queryFn: async ({ signal }): Promise<TopicReader[]> =>
      (await dataOf(api.GET('/api/v1/topics/{topic}/readers', { params: { path: { topic } }, signal }))).readers,
  })
}

export function positionsQuery(topic: string) {
  return queryOptions({
    queryKey: ['topic', topic, 'positions'],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/positions', { params: { query: { topic, limit: 1000 } }, signal })),
  })
}

/** Which consumer groups and error groups the newest messages of the topic have. */
export function topicFacetsQuery(topic: string) {
  return queryOptions({
    queryKey: ['topic', topic, 'facets'],
    queryFn: ({ signal }) => {
      const query = { topic, by: 'consumer_group,group_id' as never }
      return dataOf(api.GET('/api/v1/messages/facets', { params: { query }, signal }))
    },
    staleTime: 10_000,
  })
}

export function routesQuery(filter: { state?: Route['state']; dlq_topic?: string; original_topic?: string }) {
  return queryOptions({
    queryKey: ['routes', filter],
    queryFn: async ({ signal }): Promise<Route[]> =>
      (await dataOf(api.GET('/api/v1/routes', { params: { query: { ...filter, limit: 200 } }, signal }))).routes,
  })
}

export function pauseTopic(topic: string, body: { what: Pausable; until: string | null; reason: string }) {
  return dataOf(api.POST('/api/v1/topics/{topic}/pause', { params: { path: { topic } }, body }))
}

export function resumeTopic(topic: string, { what, reason }: { what: Pausable; reason: string }) {
  const body = reason === '' ? { what } : { what, reason }
  return dataOf(api.POST('/api/v1/topics/{topic}/resume', { params: { path: { topic } }, body }))
}

export function resetPosition(body: {
  cluster: string
  topic: string
  partition: number
  next_offset: string
  confirm: string
  reason?: string
}): Promise<Position> {
  return dataOf(api.POST('/api/v1/positions/reset', { body }))
}

export function decideRoute(route: Route, state: 'approved' | 'blocked', reason: string): Promise<Route> {
  const path = { dlqTopic: route.dlq_topic, originalTopic: route.original_topic }
  const body = reason === '' ? { state } : { state, reason }
  return dataOf(api.PUT('/api/v1/routes/{dlqTopic}/{originalTopic}', { params: { path }, body }))
}

/** The names that hold the text, original topics first; for what is typed. */
export function topicNamesQuery(q: string) {
  return queryOptions({
    queryKey: ['topics', 'names', q],
    queryFn: async ({ signal }): Promise<string[]> => {
      const ask = (kind: TopicKind) =>
        dataOf(api.GET('/api/v1/topics', { params: { query: { kind, q, limit: 8 } }, signal }))
      const lists = await Promise.all([ask('original'), ask('dlq')])
      return [...new Set(lists.flatMap(({ topics }) => topics.map(({ topic }) => topic)))]
    },
    staleTime: 30_000,
  })
}
