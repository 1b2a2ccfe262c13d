import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createStoreAhead } from './store-ahead.ts'

const place = { topic: 'orders.dlq.v1', partition: 0 }
const other = { topic: 'orders.dlq.v1', partition: 1 }

/** Work that ends when it is told to, and notes when it began. */
function heldWork(begun: string[], name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const work = () => {
    begun.push(name)
    return promise
  }
  return { work, end: resolve, fail: reject }
}

test('a caller goes on while its work is under way, and the next of the same partition waits for it', async () => {
  const ahead = createStoreAhead({ maxBytes: 10 })
  const begun: string[] = []
  const [first, second, beside] = ['first', 'second', 'beside'].map((name) => heldWork(begun, name))
  await ahead.begin(place, 4, first!.work)
  const next = ahead.begin(place, 4, second!.work)
  await ahead.begin(other, 4, beside!.work)
  expect(begun).toEqual(['first', 'beside'])
  first!.end()
  await next
  expect(begun).toEqual(['first', 'beside', 'second'])
})

test('several that wait for one partition go on in their order, one at a time', async () => {
  const ahead = createStoreAhead({ maxBytes: 10 })
  const begun: string[] = []
  const held = ['first', 'second', 'third'].map((name) => heldWork(begun, name))
  const callers = held.map(({ work }) => ahead.begin(place, 1, work))
  await callers[0]
  for (const [at, { end }] of held.entries()) {
    await nextTurn()
    expect(begun).toEqual(['first', 'second', 'third'].slice(0, at + 1))
    end()
  }
  await Promise.all(callers)
})

test('work begins where its bytes fit, and in the order of those who wait', async () => {
  const ahead = createStoreAhead({ maxBytes: 10 })
  const begun: string[] = []
  const [first, large, small] = ['first', 'large', 'small'].map((name) => heldWork(begun, name))
  await ahead.begin(place, 6, first!.work)
  const waiting = [
    ahead.begin({ ...place, partition: 1 }, 6, large!.work),
    ahead.begin({ ...place, partition: 2 }, 1, small!.work),
  ]
  await nextTurn()
  expect(begun).toEqual(['first'])
  first!.end()
  await Promise.all(waiting)
  expect(begun).toEqual(['first', 'large', 'small'])
})

test.each([11, null])('work of %s bytes begins alone, and its caller waits for its end', async (bytes) => {
  const ahead = createStoreAhead({ maxBytes: 10 })
  const begun: string[] = []
  const [before, alone, after] = ['before', 'alone', 'after'].map((name) => heldWork(begun, name))
  await ahead.begin(place, 1, before!.work)
  const held = ahead.begin(other, bytes, alone!.work).then(() => 'over')
  await nextTurn()
  expect(begun).toEqual(['before'])
  before!.end()
  expect(await Promise.race([held, nextTurn('held')])).toBe('held')
  const next = ahead.begin(place, 1, after!.work)
  expect(await Promise.race([next, nextTurn('waits')])).toBe('waits')
  expect(begun).toEqual(['before', 'alone'])
  alone!.end()
  expect(await held).toBe('over')
  await next
})

test('a fault of work whose caller has gone on is thrown to the next of that partition, once', async () => {
  const ahead = createStoreAhead({ maxBytes: 10 })
  const begun: string[] = []
  const [failing, never, after] = ['failing', 'never', 'after'].map((name) => heldWork(begun, name))
  await ahead.begin(place, 4, failing!.work)
  failing!.fail(new Error('the group rebalances'))
  await ahead.idle()
  await expect(ahead.begin(place, 4, never!.work)).rejects.toThrow('the group rebalances')
  await ahead.begin(place, 4, after!.work)
  expect(begun).toEqual(['failing', 'after'])
})

test('what was under way before other partitions were assigned neither throws nor holds up', async () => {
  const ahead = createStoreAhead({ maxBytes: 10 })
  const begun: string[] = []
  const [former, failing, now] = ['former', 'failing', 'now'].map((name) => heldWork(begun, name))
  await ahead.begin(place, 1, former!.work)
  await ahead.begin(other, 1, failing!.work)
  failing!.fail(new Error('not a member any more'))
  ahead.forget()
  expect([ahead.earlier(place), ahead.earlier(other)]).toEqual([null, null])
  await ahead.begin(place, 1, now!.work)
  await ahead.begin(other, 1, async () => {})
  expect(begun).toEqual(['former', 'failing', 'now'])
  let isIdle = false
  const idle = ahead.idle().then(() => {
    isIdle = true
  })
  now!.end()
  await nextTurn()
  expect(isIdle).toBe(false)
  former!.end()
  await idle
})

test('work that takes long leaves its room to others, but only as much as is allowed', async () => {
  const ahead = createStoreAhead({ maxBytes: 10, lateMs: 5, maxLateBytes: 12 })
  const begun: string[] = []
  const [stuck, second, third] = ['stuck', 'second', 'third'].map((name) => heldWork(begun, name))
  await ahead.begin(place, 8, stuck!.work)
  await ahead.begin(other, 8, second!.work)
  expect(begun).toEqual(['stuck', 'second'])

  const waiting = ahead.begin({ ...place, partition: 2 }, 8, third!.work)
  await sleep(30)
  expect(begun).toEqual(['stuck', 'second'])
  second!.end()
  await waiting
  expect(begun).toEqual(['stuck', 'second', 'third'])
  stuck!.end()
  third!.end()
  await ahead.idle()
  // All of the room is there again, once.
  await ahead.begin(place, 10, async () => {})

  const [late, beside] = ['late', 'beside'].map((name) => heldWork(begun, name))
  await ahead.begin(place, 8, late!.work)
  await ahead.begin(other, 8, beside!.work)
  late!.end()
  beside!.end()
})

test('work that has left its room gives back nothing at its end, and then others may leave theirs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const ahead = createStoreAhead({ maxBytes: 10, lateMs: 5, maxLateBytes: 8 })
  for (let round = 1; round <= 2; round += 1) {
    const begun: string[] = []
    const [late, full, next] = ['late', 'full', 'next'].map((name) => heldWork(begun, name))
    await ahead.begin(place, 8, late!.work)
    vi.advanceTimersByTime(5)
    await ahead.begin(other, 10, full!.work)
    late!.end()
    await nextTurn()
    const waiting = ahead.begin({ ...place, partition: 2 }, 1, next!.work)
    await nextTurn()
    expect(begun).toEqual(['late', 'full'])
    full!.end()
    await waiting
    next!.end()
    await ahead.idle()
  }
})

test('it says when earlier work of a partition is over, well or not', async () => {
  const ahead = createStoreAhead({ maxBytes: 10 })
  const held = heldWork([], 'held')
  expect(ahead.earlier(place)).toBeNull()
  await ahead.begin(place, 1, held.work)
  expect(ahead.earlier(other)).toBeNull()
  const earlier = ahead.earlier(place)!
  expect(earlier.since).toBeLessThanOrEqual(performance.now())
  held.fail(new Error('lost'))
  await earlier.over
  expect(ahead.earlier(place)).toBeNull()
})

test('the last work of a partition is earlier work also when the one before it is over', async () => {
  const ahead = createStoreAhead({ maxBytes: 10 })
  const [first, second] = ['first', 'second'].map((name) => heldWork([], name))
  await ahead.begin(place, 1, first!.work)
  const over = ahead.earlier(place)!.over
  const next = ahead.begin(place, 1, second!.work)
  first!.end()
  await over
  await next
  expect(ahead.earlier(place)).not.toBeNull()
  second!.end()
  await ahead.idle()
})
