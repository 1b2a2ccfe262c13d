// Topics that look like DLQ topics and that nobody ingests, and what can be done about them.

import { queryOptions } from '@tanstack/react-query'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { api } from '../api.ts'

export type Candidate = components['schemas']['Candidate']
export type CandidateTopic = { topic: string; candidate: Candidate }
export type TopicSample = components['schemas']['TopicSample']
export type PlannedSubscription = components['schemas']['PlannedSubscription']
export type SubscriptionAsked = { pattern: string; original: string | null; backlog: 'manual' | 'auto' }

/** The first hundred. */
export const candidatesQuery = queryOptions({
  queryKey: ['candidates'],
  queryFn: async ({ signal }): Promise<CandidateTopic[]> => {
    const query = { kind: 'candidate' as const, limit: 100 }
    const { topics } = await dataOf(api.GET('/api/v1/topics', { params: { query }, signal }))
    return topics.flatMap(({ topic, candidate }) => (candidate === null ? [] : [{ topic, candidate }]))
  },
  staleTime: 30_000,
})

/** An ingester reads it, which takes a moment. */
export function sampleQuery(topic: string) {
  return queryOptions({
    queryKey: ['candidates', topic, 'sample'],
    queryFn: ({ signal }): Promise<TopicSample> =>
      dataOf(api.POST('/api/v1/topics/{topic}/sample', { params: { path: { topic } }, signal })),
    staleTime: 60_000,
    retry: false,
  })
}

/** What a subscription would begin; it needs the role sys_admin, for all topics. */
export function plannedQuery(asked: SubscriptionAsked) {
  return queryOptions({
    queryKey: ['candidates', 'planned', asked],
    queryFn: async ({ signal }): Promise<PlannedSubscription> => {
      const params = { query: { dry_run: 'true' as const } }
      return (await dataOf(api.POST('/api/v1/subscriptions', { params, body: asked, signal }))) as PlannedSubscription
    },
    retry: false,
  })
}

export async function subscribe(asked: SubscriptionAsked, reason: string): Promise<void> {
  const body = reason === '' ? asked : { ...asked, reason }
  await dataOf(api.POST('/api/v1/subscriptions', { body }))
}

export async function dismissCandidate(topic: string, reason: string): Promise<void> {
  const body = reason === '' ? {} : { reason }
  await dataOf(api.POST('/api/v1/topics/{topic}/dismiss', { params: { path: { topic } }, body }))
}
