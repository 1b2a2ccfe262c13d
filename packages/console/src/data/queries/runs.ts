// Bulk runs.

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { exactDiffs } from '../../domain/run-draft.ts'
import { activeStatuses } from '../../domain/runs.ts'
import { api } from '../api.ts'

export type Run = components['schemas']['Run']
export type RunStatus = Run['status']
export type RunItem = components['schemas']['RunItem']

/** One question: a run that is queued now and running a moment later would be in two answers, and seen twice. */
async function readActiveRuns(signal: AbortSignal): Promise<Run[]> {
  const query = { status: [...activeStatuses] as RunStatus[], page_size: 50 }
  return (await dataOf(api.GET('/api/v1/runs', { params: { query }, signal }))).runs
}

/** Those that have not ended: also one that is being cancelled. */
export const activeRunsQuery = queryOptions({
  queryKey: ['runs', 'active'],
  queryFn: ({ signal }) => readActiveRuns(signal),
  placeholderData: keepPreviousData,
})

export function runQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id],
    queryFn: ({ signal }): Promise<Run> => dataOf(api.GET('/api/v1/runs/{id}', { params: { path: { id } }, signal })),
  })
}

export type RunAction = 'pause' | 'resume' | 'cancel'

export function actOnRun(id: string, action: RunAction): Promise<Run> {
  const options = { params: { path: { id } }, body: {} }
  if (action === 'pause') return dataOf(api.POST('/api/v1/runs/{id}/pause', options))
  if (action === 'resume') return dataOf(api.POST('/api/v1/runs/{id}/resume', options))
  return dataOf(api.POST('/api/v1/runs/{id}/cancel', options))
}

export function changeRunRate(id: string, ratePerSecond: number | null): Promise<Run> {
  return dataOf(
    api.PATCH('/api/v1/runs/{id}', { params: { path: { id } }, body: { rate_per_second: ratePerSecond } as never }),
  )
}

/** The body is JSON already: its digits are not to be printed again. */
const asItIs = (text: unknown): string => String(text)

export type RunSurvey = components['schemas']['RunSurvey']

export type Blast = NonNullable<RunSurvey['blast']>

type Diff = NonNullable<RunSurvey['diff']>[number]

/** Before and after are JSON as the API wrote it. */
export type ExactSurvey = Omit<RunSurvey, 'diff'> & {
  diff: (Omit<Diff, 'before' | 'after'> & { before: string; after: string })[]
}

/** The dry run: what would happen, and to how many. It needs the role sys_operator. */
export async function surveyRun(text: string, signal: AbortSignal): Promise<ExactSurvey> {
  const options = { body: text as never, bodySerializer: asItIs, parseAs: 'text' as const, signal }
  const answer = (await dataOf(api.POST('/api/v1/runs', options))) as unknown as string
  const survey = JSON.parse(answer) as RunSurvey
  const exact = exactDiffs(answer)
  return { ...survey, diff: (survey.diff ?? []).map((one, at) => ({ ...one, ...exact[at]! })) }
}

export const idempotencyKey = 'idempotency-key'

/** randomUUID is only there over https. */
export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join('-')

/** With the same key it starts no second run. */
export async function startRun(text: string, key: string): Promise<Run> {
  const params = { header: { [idempotencyKey]: key } }
  return (await dataOf(api.POST('/api/v1/runs', { params, body: text as never, bodySerializer: asItIs }))) as Run
}

export function runListQuery(query: { status?: string; kind?: string; page?: string }) {
  return queryOptions({
    queryKey: ['runs', 'list', query],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/api/v1/runs', {
          params: { query: { ...query, page: Number(query.page ?? 1), page_size: 50 } as never },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  })
}

export function runItemsQuery(id: string, outcome: string) {
  return infiniteQueryOptions({
    queryKey: ['run', id, 'items', outcome],
    queryFn: ({ signal, pageParam }) => {
      const after = pageParam === null ? {} : { after: pageParam }
      const query = { outcome: outcome as 'waiting', limit: 200, show: 'message' as const, ...after }
      return dataOf(api.GET('/api/v1/runs/{id}/items', { params: { path: { id }, query }, signal }))
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_after,
    placeholderData: keepPreviousData,
  })
}
