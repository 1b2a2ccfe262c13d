// Bodies wait for room, each behind those of its own sender.
import { expect, test } from 'vitest'
import { createBodyRoom } from './body-room.ts'

const never = new AbortController().signal
const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

function bodies(bounds?: { perActor: number; inAll: number }) {
  const room = createBodyRoom(bounds)
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

test('a body that is smaller than it might have been gives the rest back', async () => {
  const { take, begun } = bodies({ perActor: 10, inAll: 10 })
  const first = await take('a1', 10)
  take('b1', 6)
  first.shrink(3)
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
  expect(begun).toEqual(['a1', 'b1 refused', 'c refused'])
})

test('who gives up waiting lets a smaller one go on, and gives all of its room back', async () => {
  const { take, begun } = bodies({ perActor: 10, inAll: 12 })
  const first = await take('a1', 6)
  const gone = new AbortController()
  const given = take('b1', 10, gone.signal)
  take('c1', 6)
  gone.abort()
  await expect(given).rejects.toMatchObject({ code: 'SYS_DLQ_TOO_MANY_REQUESTS' })
  expect(begun).toEqual(['a1', 'b1 refused', 'c1'])
  first.giveBack()
  ;(await take('b2', 6)).giveBack()
  expect(begun).toEqual(['a1', 'b1 refused', 'c1', 'b2'])
})
