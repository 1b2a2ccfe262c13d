// What somebody should have heard of, and who hears it: events, channels, routes and deliveries.

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { DlqApiError, dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { api } from '../../api.ts'

export type FleetEvent = components['schemas']['NotificationEvent']
export type Channel = components['schemas']['NotificationChannel']
export type NotificationRoute = components['schemas']['NotificationRoute']
export type Delivery = components['schemas']['NotificationDelivery']

const eventsPerPage = 50
export const deliveriesPerPage = 50

/** Of the last 30 days, the newest first. */
export function eventsQuery({ type, lasting }: { type: string | undefined; lasting: boolean }) {
  return infiniteQueryOptions({
    queryKey: ['events', type, lasting],
    queryFn: async ({ signal, pageParam }) => {
      const query = {
        limit: eventsPerPage,
        ...(type === undefined ? {} : { type: type as FleetEvent['type'] }),
        ...(lasting ? { open: 'true' as const } : {}),
        ...(pageParam === null ? {} : { cursor: pageParam }),
      }
      return await dataOf(api.GET('/api/v1/notifications/events', { params: { query }, signal }))
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  })
}

/** Only a token for all topics may ask for the rest. */
export const channelsQuery = queryOptions({
  queryKey: ['notifications', 'channels'],
  queryFn: async ({ signal }): Promise<Channel[]> => (await dataOf(api.GET('/api/v1/channels', { signal }))).channels,
})

export const notificationRoutesQuery = queryOptions({
  queryKey: ['notifications', 'routes'],
  queryFn: async ({ signal }): Promise<NotificationRoute[]> =>
    (await dataOf(api.GET('/api/v1/notifications/routes', { signal }))).routes,
})

export function deliveriesQuery(state?: Delivery['state']) {
  return queryOptions({
    queryKey: ['notifications', 'deliveries', state],
    queryFn: async ({ signal }): Promise<Delivery[]> => {
      const query = { limit: deliveriesPerPage, ...(state === undefined ? {} : { state }) }
      return (await dataOf(api.GET('/api/v1/deliveries', { params: { query }, signal }))).deliveries
    },
    placeholderData: keepPreviousData,
  })
}

export function testChannel(name: string, reason: string) {
  const body = reason === '' ? {} : { reason }
  return dataOf(api.POST('/api/v1/channels/{name}/test', { params: { path: { name } }, body }))
}

export function retryDelivery(id: string, reason: string) {
  const body = reason === '' ? {} : { reason }
  return dataOf(api.POST('/api/v1/deliveries/{id}/retry', { params: { path: { id } }, body }))
}

export type RouteChange = Omit<NotificationRoute, 'name' | 'updated_at'> & { reason?: string }

export function saveRoute(name: string, change: RouteChange): Promise<NotificationRoute> {
  const options = { params: { path: { name } }, body: change as never }
  return dataOf(api.PUT('/api/v1/notifications/routes/{name}', options))
}

export async function deleteRoute(name: string, reason: string): Promise<void> {
  const options = { params: { path: { name } }, body: reason === '' ? {} : { reason } }
  const { error, response } = await api.DELETE('/api/v1/notifications/routes/{name}', options)
  if (error !== undefined) throw new DlqApiError(response.status, error)
}
