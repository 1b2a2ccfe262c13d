import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shareBatch } from './share-batch.ts'

const share = (mosts: readonly [weight: number, most: number][], limit: number, start = 0) => {
  const sharers = mosts.map(([weight, most], n) => ({ topic: `${n}`, weight, most }))
  const shares = shareBatch(sharers, { limit, start })
  return sharers.map(({ topic }) => shares.get(topic) ?? 0)
}

test('topics share by weight', () => {
  expect(
    share(
      [
        [1, 1000],
        [3, 1000],
      ],
      100,
    ),
  ).toEqual([25, 75])
  // Rounded down, and what is left goes round: no topic takes what is another's by its weight.
  expect(
    share(
      [
        [1, 1000],
        [1, 1000],
        [1, 1000],
      ],
      100,
    ),
  ).toEqual([34, 33, 33])
})

test('topics share the places that another one does not need', () => {
  expect(
    share(
      [
        [1, 5],
        [1, 1000],
        [2, 1000],
      ],
      100,
    ),
  ).toEqual([5, 32, 63])
  expect(
    share(
      [
        [1, 5],
        [1, 7],
      ],
      100,
    ),
  ).toEqual([5, 7])
  expect(
    share(
      [
        [1, 0],
        [1, 0.5],
      ],
      100,
    ),
  ).toEqual([0, 0])
})

test('where there are more topics than places, every topic gets a place in turn', () => {
  const seen = new Set<number>()
  for (let start = 0; start < 5; start += 1) {
    share(
      Array.from({ length: 5 }, () => [1, 10]),
      1,
      start,
    ).forEach((count, n) => {
      if (count > 0) seen.add(n)
    })
  }
  expect(seen.size).toBe(5)
})

test('no topic gets more than it can take, and no place stays free while a topic could take it', () => {
  const sharer = fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 0, max: 5000 }))
  fc.assert(
    fc.property(
      fc.array(sharer, { maxLength: 50 }),
      fc.integer({ min: 1, max: 5000 }),
      fc.nat(),
      (mosts, limit, start) => {
        const shares = share(mosts, limit, start)
        const possible = mosts.reduce((sum, [, most]) => sum + most, 0)
        expect(shares.every((count, n) => count <= mosts[n]![1])).toBe(true)
        expect(shares.reduce((sum, count) => sum + count, 0)).toBe(Math.min(limit, possible))
      },
    ),
  )
})
