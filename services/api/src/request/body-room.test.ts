// Bodies wait for room, each behind those of its own sender.
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { sendError } from '../http/api-error.ts'
import type { ApiEnv } from '../http/define-route.ts'
import { createBodyRoom } from './body-room.ts'
import { readBody } from './read-body.ts'

const never = new AbortController().signal
const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

function bodies(bounds: { perActor: number; inAll: number; slowMs?: number }) {
  const room = createBodyRoom({ slowMs: 1000, ...bounds })
  const begun: string[] = []
  const take = (name: string, bytes: number, signal = never) => {
    const taken = room.take(name[0]!, bytes, signal)
    taken.then(
      () => begun.push(name),
      () => begun.push(`${name} refused`),
    )
    return taken
  }
  return { take, begun }
}

test('a sender’s bodies wait for room in their order, and those of others go on', async () => {
  const { take, begun } = bodies({ perActor: 10, inAll: 25 })
  const first = take('a1', 8)
  take('a2', 8)
  take('a3', 1)
  take('b1', 10)
  await tick()
  expect(begun).toEqual(['a1', 'b1'])
  ;(await first).giveBack()
  await tick()
  expect(begun).toEqual(['a1', 'b1', 'a2', 'a3'])
})

test('a sender has no more room for having given some of it back', async () => {
  const { take, begun } = bodies({ perActor: 10, inAll: 25 })
  const [first, second] = [await take('a1', 5), await take('a2', 5)]
  first.giveBack()
  take('a3', 10)
  await tick()
  expect(begun).toEqual(['a1', 'a2'])
  second.giveBack()
  await tick()
  expect(begun).toEqual(['a1', 'a2', 'a3'])
})

test('a body that is smaller than it might have been gives the rest back', async () => {
  const { take, begun } = bodies({ perActor: 10, inAll: 10 })
  const first = await take('a1', 10)
  take('b1', 6)
  first.shrink(3)
  await tick()
  expect(begun).toEqual(['a1', 'b1'])
  first.giveBack()
  take('c1', 10)
  await tick()
  expect(begun).toEqual(['a1', 'b1'])
})

test('where all room is taken, the first that waits is the next, however large', async () => {
  const { take, begun } = bodies({ perActor: 10, inAll: 12 })
  const [first, second] = [await take('a1', 6), await take('b1', 6)]
  take('c1', 10)
  take('d1', 1)
  first.giveBack()
  await tick()
  expect(begun).toEqual(['a1', 'b1'])
  second.giveBack()
  await tick()
  expect(begun).toEqual(['a1', 'b1', 'c1', 'd1'])
})

test('who gives up leaves the place, and more than a hundred of one sender do not wait', async () => {
  const { take, begun } = bodies({ perActor: 10, inAll: 10 })
  await take('a1', 10)
  const gone = new AbortController()
  const given = take('b1', 10, gone.signal)
  gone.abort()
  await expect(given).rejects.toMatchObject({ code: 'SYS_DLQ_TOO_MANY_REQUESTS' })
  // Ten have room of the sender's, and wait for room of all.
  for (let n = 0; n < 110; n++) take('c', 1)
  await expect(take('c', 1)).rejects.toMatchObject({ code: 'SYS_DLQ_TOO_MANY_REQUESTS' })
  // For room of all more than a hundred may wait, of many senders.
  for (const sender of 'defghijklmn') for (let n = 0; n < 10; n++) take(sender, 1)
  await tick()
  expect(begun).toEqual(['a1', 'b1 refused', 'c refused'])
})

test('who gives up waiting lets a smaller one go on, and gives all of its room back', async () => {
  const { take, begun } = bodies({ perActor: 10, inAll: 12 })
  const first = await take('a1', 6)
  const gone = new AbortController()
  const given = take('b1', 10, gone.signal)
  take('c1', 6)
  await tick()
  gone.abort()
  await expect(given).rejects.toMatchObject({ code: 'SYS_DLQ_TOO_MANY_REQUESTS' })
  expect(begun).toEqual(['a1', 'b1 refused', 'c1'])
  first.giveBack()
  ;(await take('b2', 6)).giveBack()
  expect(begun).toEqual(['a1', 'b1 refused', 'c1', 'b2'])
})

test('bodies that come slowly are ended where another waits for room of all, and nobody else’s', async () => {
  const { take, begun } = bodies({ perActor: 10, inAll: 10, slowMs: 20 })
  const [slow, whole] = [await take('a1', 4), await take('b1', 4)]
  whole.shrink(4)
  await sleep(40)
  expect(slow.tooSlow.aborted).toBe(false)
  const waiting = take('c1', 6)
  slow.tooSlow.addEventListener('abort', slow.giveBack)
  expect((await waiting).tooSlow.aborted).toBe(false)
  expect([slow.tooSlow.aborted, whole.tooSlow.aborted]).toEqual([true, false])
  expect(begun).toEqual(['a1', 'b1', 'c1'])
})

test('a sender that trickles its large body in is answered 408 where others wait, and they are answered', async () => {
  const app = new Hono<ApiEnv>()
  app.onError((error, c) => sendError(c, error as never))
  const room = createBodyRoom({ perActor: 100_000, inAll: 100_000, slowMs: 20 })
  app.use(async (c, next) => {
    c.set('access', { actor: c.req.header('from')!, grants: [] })
    await next()
  })
  app.post('/', readBody({ maxBytes: 100_000, limitMs: 10_000, room }), (c) => c.text(String(c.get('body').length)))
  const send = (from: string, body: ReadableStream | string) =>
    app.request('/', { method: 'POST', headers: { from, 'content-length': '100000' }, body, duplex: 'half' } as never)
  const slow = send('slow', new ReadableStream({ pull: () => new Promise(() => {}) }))
  await tick()
  expect(await (await send('other', ' '.repeat(100_000))).text()).toBe('100000')
  const answer = await slow
  expect([answer.status, answer.headers.get('connection')]).toEqual([408, 'close'])
  expect(await answer.text()).toContain('the body comes slowly, and other large bodies wait for its room')
})
