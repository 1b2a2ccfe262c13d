import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

const never = new AbortController().signal

/** Work that ends when it is told to. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>()
  let begun = false
  const work = () => {
    begun = true
    return promise
  }
  return { work, end: resolve, hasBegun: () => begun }
}

test('requests of one sender wait for each other in their order, and nobody else waits for them', async () => {
  const turns = createTurns({ perActor: 2 })
  const works = Array.from({ length: 4 }, held)
  const done = works.map(({ work }) => turns('ann', never, work))
  const other = held()
  const ofOther = turns('bob', never, other.work)
  const begun = () => works.map(({ hasBegun }) => hasBegun())
  await nextTurn()
  expect([begun(), other.hasBegun()]).toEqual([[true, true, false, false], true])
  works[1]!.end()
  await nextTurn()
  expect(begun()).toEqual([true, true, true, false])
  for (const { end } of [...works, other]) end()
  await Promise.all([...done, ofOther])
  expect(begun()).toEqual([true, true, true, true])
})

test('work that fails passes its turn on', async () => {
  const turns = createTurns({ perActor: 1 })
  const failing = turns('ann', never, async () => {
    throw new Error('it fails')
  })
  const next = turns('ann', never, async () => 'next')
  await expect(failing).rejects.toThrow('it fails')
  expect(await next).toBe('next')
})

test('one that gives up waiting is refused, and leaves its turn to the next', async () => {
  const turns = createTurns({ perActor: 1 })
  const first = held()
  const giving = new AbortController()
  const all = [turns('ann', never, first.work), turns('ann', never, async () => 'last')]
  const refused = turns('ann', giving.signal, async () => 'never')
  giving.abort()
  await expect(refused).rejects.toMatchObject({ code: 'SYS_DLQ_TOO_MANY_REQUESTS' })
  first.end()
  expect(await Promise.all(all)).toEqual([undefined, 'last'])
})

test('more than a hundred that wait are refused', async () => {
  const turns = createTurns({ perActor: 1 })
  const first = held()
  const waiting = [
    turns('ann', never, first.work),
    ...Array.from({ length: 100 }, () => turns('ann', never, async () => {})),
  ]
  await expect(turns('ann', never, async () => {})).rejects.toMatchObject({ code: 'SYS_DLQ_TOO_MANY_REQUESTS' })
  first.end()
  await Promise.all(waiting)
})
