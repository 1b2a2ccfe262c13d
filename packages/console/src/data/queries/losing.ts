// How many topics lose time: those with records that Kafka deletes within six hours, or has deleted.

import { queryOptions } from '@tanstack/react-query'
import { dataOf } from 'dlq-client/api-client.ts'
import { lossLevel } from '../../domain/topics/loss.ts'
import { api } from '../api.ts'
import { serverNow } from '../server-clock.ts'

export const losingQuery = queryOptions({
  queryKey: ['losing'],
  queryFn: async ({ signal }): Promise<number> => {
    const query = { only: 'losing' as const, sort: 'expires' as const, limit: 50 }
    const { topics } = await dataOf(api.GET('/api/v1/topics', { params: { query }, signal }))
    const clocks = topics.flatMap(({ ingestion }) => ingestion?.loss_clock ?? [])
    return clocks.filter((clock) => lossLevel(clock, serverNow()) !== 'fine').length
  },
  staleTime: 25_000,
})
