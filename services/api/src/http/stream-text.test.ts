import { EventEmitter } from 'node:events'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { anonymous } from '../access/access.ts'
import type { ApiEnv } from './define-route.ts'
import { createStreams, streamText } from './stream-text.ts'

const piece = 'x'.repeat(50_000)

function answer(pieces: () => AsyncGenerator<string>, method = 'GET') {
  const app = new Hono<ApiEnv>().get('/', (c) => streamText(c, pieces(), { 'content-type': 'text/plain' }))
  return app.request('/', { method })
}

test('the pieces arrive, in their order', async () => {
  const response = await answer(async function* () {
    for (let n = 0; n < 10; n += 1) yield `${n}é🚚`
  })
  expect(response.headers.get('content-type')).toBe('text/plain')
  expect(await response.text()).toBe('0é🚚1é🚚2é🚚3é🚚4é🚚5é🚚6é🚚7é🚚8é🚚9é🚚')
})

test('HEAD has the headers of the answer, and produces nothing', async () => {
  const nothing = async function* () {
    yield expect.unreachable()
  }
  const [head, get] = [await answer(nothing, 'HEAD'), await answer(nothing)]
  expect([...head.headers]).toEqual([...get.headers])
  expect(head.headers.get('x-accel-buffering')).toBe('no')
})

test('a piece is produced only when it is read, and a client that goes away ends the stream', async () => {
  let made = 0
  let ended = false
  const response = await answer(async function* () {
    try {
      for (;;) {
        made += 1
        yield piece
      }
    } finally {
      ended = true
    }
  })
  const reader = response.body!.getReader()
  await reader.read()
  await new Promise((resolve) => setImmediate(resolve))
  expect(made).toBeLessThan(10)
  await reader.cancel()
  expect(ended).toBe(true)
})

test('a fault in the middle cuts the answer off, so that clients see that it is incomplete', async () => {
  const response = await answer(async function* () {
    yield piece
    yield piece
    throw new Error('the database went away')
  })
  await expect(response.text()).rejects.toThrow()
})

test('a sender has so many answers under way at most, until each is sent or its connection is gone', async () => {
  const streams = createStreams({ perActor: 2, inAll: 3 })
  const app = new Hono<ApiEnv>()
  app.get('/:actor', (c) => {
    c.set('streams', streams)
    c.set('access', { ...anonymous, actor: c.req.param('actor') })
    const pieces = async function* () {
      for (;;) yield piece
    }
    return streamText(c, pieces(), { 'content-type': 'text/plain' })
  })
  const refusals: string[] = []
  app.onError((error, c) => {
    refusals.push(error.message)
    return c.text('', 429)
  })
  const connect = () => Object.assign(new EventEmitter(), { closed: false })
  const get = async (actor: string, outgoing: object | undefined = connect(), method = 'GET') =>
    (await app.request(`/${actor}`, { method }, { outgoing })).status
  const first = connect()
  expect([await get('a', first), await get('a'), await get('a')]).toEqual([200, 200, 429])
  expect([await get('b'), await get('c')]).toEqual([200, 429])
  expect(refusals.map((message) => message.split(' are ')[0])).toEqual([
    'your other long answers',
    'other long answers',
  ])
  first.emit('close')
  first.emit('close')
  // Nobody reads these.
  for (let n = 0; n < 5; n += 1) {
    expect(await get('a', connect(), 'HEAD')).toBe(200)
    expect(await get('a', { ...connect(), closed: true })).toBe(200)
  }
  expect([await get('c'), await get('c')]).toEqual([200, 429])
})
