// The installation itself: whether it is ready, its scheduled jobs, and the workflows behind bulk runs.

import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { DlqApiError, dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { api, rawRequest } from '../api.ts'

export type CronJob = components['schemas']['CronJob']
export type CronRun = components['schemas']['CronRun']
export type Saga = components['schemas']['Saga']
export type SagaWithSteps = components['schemas']['GetSagasByIdAnswer']
export type Readiness = components['schemas']['GetReadyzAnswer']

export const readyQuery = queryOptions({
  queryKey: ['ready'],
  queryFn: async ({ signal }): Promise<Readiness> => {
    const response = await rawRequest('/readyz', { signal })
    const body = (await response.json().catch(() => null)) as Partial<Readiness> | null
    // 503 is an answer as well: it says what is not ready. That of a proxy does not.
    if (body?.checks === undefined) throw new DlqApiError(response.status, body)
    return body as Readiness
  },
})

export const cronQuery = queryOptions({
  queryKey: ['cron'],
  queryFn: async ({ signal }): Promise<CronJob[]> => (await dataOf(api.GET('/api/v1/cron', { signal }))).jobs,
})

export function cronRunsQuery(job: string) {
  return queryOptions({
    queryKey: ['cron', job],
    queryFn: async ({ signal }): Promise<CronRun[]> => {
      const params = { path: { job }, query: { limit: 100 } }
      return (await dataOf(api.GET('/api/v1/cron/{job}/runs', { params, signal }))).runs
    },
  })
}

export async function runCronJob(job: string, reason: string): Promise<string> {
  const body = reason === '' ? {} : { reason }
  return (await dataOf(api.POST('/api/v1/cron/{job}/run', { params: { path: { job } }, body }))).message
}

export type SagaFilter = { status?: Saga['status']; page?: number }

export function sagasQuery({ status, page = 1 }: SagaFilter) {
  return queryOptions({
    queryKey: ['sagas', status, page],
    queryFn: ({ signal }) => {
      const query = { page, page_size: 50, ...(status === undefined ? {} : { status }) }
      return dataOf(api.GET('/api/v1/sagas', { params: { query }, signal }))
    },
    placeholderData: keepPreviousData,
  })
}

export function sagaQuery(id: string) {
  return queryOptions({
    queryKey: ['saga', id],
    queryFn: ({ signal }): Promise<SagaWithSteps> =>
      dataOf(api.GET('/api/v1/sagas/{id}', { params: { path: { id } }, signal })),
  })
}

export function cancelSaga(id: string, reason: string): Promise<Saga> {
  const body = reason === '' ? {} : { reason }
  return dataOf(api.POST('/api/v1/sagas/{id}/cancel', { params: { path: { id } }, body }))
}
