// Policies: what people have set, what lies below, and what a change would change.

import { queryOptions } from '@tanstack/react-query'
import { DlqApiError, dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import type { SaidSettings } from '../../domain/policies/policy-form.ts'
import { api } from '../api.ts'

export type Policy = components['schemas']['Policy']
export type PolicyMatch = components['schemas']['PolicyMatch']
export type Policies = components['schemas']['GetPoliciesAnswer']

export const policiesQuery = queryOptions({
  queryKey: ['policies'],
  queryFn: ({ signal }): Promise<Policies> => dataOf(api.GET('/api/v1/policies', { signal })),
})

export type PolicyWithTag = { policy: Policy; matches: PolicyMatch[]; etag: string | null }

/** Null where there is no such policy yet. */
export function policyQuery(pattern: string) {
  return queryOptions({
    queryKey: ['policy', pattern],
    queryFn: async ({ signal }): Promise<PolicyWithTag | null> => {
      const answer = api.GET('/api/v1/policies/{pattern}', { params: { path: { pattern } }, signal })
      try {
        return { ...(await dataOf(answer)), etag: (await answer).response.headers.get('etag') }
      } catch (error) {
        if (error instanceof DlqApiError && error.status === 404) return null
        throw error
      }
    },
  })
}

/** What would change. It needs the role sys_admin, for all topics. */
export function previewQuery(pattern: string, said: SaidSettings) {
  return queryOptions({
    queryKey: ['policy', pattern, 'preview', said],
    queryFn: async ({ signal }): Promise<PolicyMatch[]> => {
      const params = { path: { pattern }, query: { dry_run: 'true' as const } }
      const answer = api.PUT('/api/v1/policies/{pattern}', { params, body: said as never, signal })
      return (await dataOf(answer)).matches
    },
    staleTime: 5000,
  })
}

/** `etag`: null where there was none. @throws {DlqApiError} 412 where it has changed since, or is there now */
export async function savePolicy(
  pattern: string,
  { said, reason, etag }: { said: SaidSettings; reason: string; etag: string | null },
): Promise<void> {
  const header = etag === null ? { 'if-none-match': '*' as const } : { 'if-match': etag }
  const params = { path: { pattern }, query: reason === '' ? {} : { reason }, header }
  await dataOf(api.PUT('/api/v1/policies/{pattern}', { params, body: said as never }))
}

export async function deletePolicy(pattern: string, { reason, etag }: { reason: string; etag: string | null }) {
  const header = etag === null ? {} : { 'if-match': etag }
  const params = { path: { pattern }, query: reason === '' ? {} : { reason }, header }
  await dataOf(api.DELETE('/api/v1/policies/{pattern}', { params }))
}
