import { setTimeout as sleep } from 'node:timers/promises'
import { MutationObserver, notifyManager, QueryObserver } from '@tanstack/react-query'
import { DlqApiError } from 'dlq-client/api-client.ts'
import { expect, test } from 'vitest'
import { createQueryClient, readingAgain, untilKnown } from './query-client.ts'

const refused = (status: number, retryAfter?: string) =>
  new DlqApiError(status, { error: { message: 'no', details: [] } }, retryAfter)

test('why nothing could be read stays while it is asked again, until there is an answer, or what is known is dropped', async () => {
  const client = createQueryClient({ onLeftFault: expect.unreachable })
  let answer: () => Promise<string> = () => Promise.reject(refused(404))
  const observer = new QueryObserver(client, { queryKey: ['thing'], queryFn: () => sleep(5).then(() => answer()) })
  const seen: string[] = []
  // As components do: they are told once what has changed in one go.
  const stop = observer.subscribe(notifyManager.batchCalls(() => seen.push(observer.getCurrentResult().status)))
  await observer.refetch()
  await sleep(5)
  seen.length = 0
  await observer.refetch()
  expect(observer.getCurrentResult().error).toMatchObject({ status: 404 })
  answer = async () => 'answer'
  await observer.refetch()
  await sleep(5)
  expect(new Set(seen)).toEqual(new Set(['error', 'success']))
  expect(observer.getCurrentResult()).toMatchObject({ status: 'success', error: null, data: 'answer' })
  answer = () => Promise.reject(refused(404))
  await client.resetQueries({ queryKey: ['thing'] })
  answer = () => new Promise(() => {})
  const isReset = client.resetQueries({ queryKey: ['thing'] })
  expect(observer.getCurrentResult()).toMatchObject({ status: 'pending', error: null })
  stop()
  await client.cancelQueries()
  await isReset
})

test('what could not be read is asked for again by itself, unless the answer would be the same', () => {
  const { refetchInterval } = createQueryClient({ onLeftFault: expect.unreachable }).defaultQueryOptions({
    queryKey: ['thing'],
  })
  const isAskedAgain = (state: object) => (refetchInterval as (query: object) => unknown)({ state }) !== false
  expect(isAskedAgain({ data: undefined, error: refused(503) })).toBe(true)
  expect(isAskedAgain({ data: undefined, error: refused(429) })).toBe(true)
  expect(isAskedAgain({ data: undefined, error: refused(404) })).toBe(false)
  expect(isAskedAgain({ data: undefined, error: null })).toBe(false)
  expect(isAskedAgain({ data: 'read before', error: refused(503) })).toBe(false)
})

test('an answer is asked for again when it says, within a minute', () => {
  const { retryDelay, refetchInterval } = createQueryClient({ onLeftFault: expect.unreachable }).defaultQueryOptions({
    queryKey: ['thing'],
  })
  const waitAfter = retryDelay as (failures: number, error: unknown) => number
  expect(waitAfter(0, refused(429))).toBe(1000)
  expect(waitAfter(0, refused(429, '7'))).toBe(7000)
  expect(waitAfter(2, refused(429, '1'))).toBe(4000)
  expect(waitAfter(0, refused(503, '3600'))).toBe(60_000)
  const error = refused(503, '30')
  expect((refetchInterval as (query: object) => number)({ state: { data: undefined, error } })).toBe(30_000)
})

test('who comes back to a long list does not have all of its pages read again', () => {
  const { refetchOnWindowFocus } = createQueryClient({ onLeftFault: expect.unreachable }).defaultQueryOptions({
    queryKey: ['thing'],
  })
  const isRead = (data: unknown) => (refetchOnWindowFocus as (query: object) => boolean)({ state: { data } })
  const list = (pages: number) => ({ pages: Array.from({ length: pages }, () => ({})) })
  expect([undefined, { id: 1 }, list(1), list(3), list(4)].map(isRead)).toEqual([true, true, true, true, false])
})

test('what every page needs is asked for until it is known, but not while somebody has to sign in', () => {
  const isAskedAgain = (data: unknown, error: unknown) => untilKnown({ state: { data, error } }) !== false
  expect(isAskedAgain(undefined, null)).toBe(true)
  expect(isAskedAgain(undefined, refused(503))).toBe(true)
  // A proxy that leads nowhere for a moment.
  expect(isAskedAgain(undefined, refused(404))).toBe(true)
  expect(isAskedAgain(undefined, refused(401))).toBe(false)
  expect(isAskedAgain('known', refused(503))).toBe(false)
})

test('a change waits for what is read again, unless the API is away: then its fault is told at once', async () => {
  const client = createQueryClient({ onLeftFault: expect.unreachable })
  let reads = 0
  const observer = new QueryObserver(client, { queryKey: ['thing', 1], queryFn: async () => ++reads })
  const stop = observer.subscribe(() => {})
  const settled = readingAgain(client, [['thing'], ['another']])
  await settled(null, null)
  expect(observer.getCurrentResult().data).toBe(1)
  await settled(null, refused(412))
  expect(observer.getCurrentResult().data).toBe(2)
  expect(settled(null, refused(503))).toBeUndefined()
  expect(settled(null, new TypeError('Failed to fetch'))).toBeUndefined()
  await sleep(5)
  expect(observer.getCurrentResult().data).toBe(4)
  stop()
})

test('a change that fails after what asked for it was left is told of; one that gave way to the next is not', async () => {
  const told: Error[] = []
  const client = createQueryClient({ onLeftFault: (fault) => told.push(fault) })
  const change = async (ends: 'watched' | 'left' | 'followed', fault: Error | null) => {
    const observer = new MutationObserver(client, {
      mutationFn: () => sleep(5).then(() => (fault === null ? 'done' : Promise.reject(fault))),
    })
    const leave = observer.subscribe(() => {})
    const asked = observer.mutate().catch(() => {})
    if (ends === 'left') leave()
    if (ends === 'followed') observer.reset()
    await asked
  }
  await change('watched', refused(409))
  await change('followed', refused(409))
  await change('left', null)
  expect(told).toEqual([])
  const fault = refused(403)
  await change('left', fault)
  expect(told).toEqual([fault])
})
