import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextBatchSize } from './batch-size.ts'
import { retryPace, sizeAfterFault } from './retry-due.ts'
import { chunkPace } from './runs/run-chunk.ts'

describe('of a slot', () => {
  const pace = retryPace({ batchSize: 500, batchMs: 250 })
  const after = (size: number, tookMs: number, found = size) => nextBatchSize({ size, found, tookMs }, pace)

  test('a batch that takes too long is followed by smaller ones, down to half', () => {
    expect(after(500, 300)).toBe(416)
    expect(after(500, 5000)).toBe(250)
    expect(after(260, 5000)).toBe(250)
    // What was found took the time, not what was asked for.
    expect(after(500, 300, 400)).toBe(333)
  })

  test('full batches that are quick are followed by greater ones, up to the limit', () => {
    expect(after(300, 50)).toBe(375)
    expect(after(450, 50)).toBe(500)
  })

  test('a batch that was not full, or only just quick enough, changes nothing', () => {
    expect(after(300, 20, 10)).toBe(300)
    expect(after(300, 240)).toBe(300)
  })

  test('the smallest batches grow as well', () => {
    const grown = (size: number) =>
      nextBatchSize({ size, found: size, tookMs: 1 }, retryPace({ batchSize: 3, batchMs: 250 }, size))
    expect([1, 2, 3].map(grown)).toEqual([2, 3, 3])
  })

  test('a batch that failed after long is followed by a quarter of what it had, and those by twice as many', () => {
    const limits = { batchSize: 500, batchMs: 250 }
    const failed = (size: number, tookMs: number, found = size) => sizeAfterFault({ size, found, tookMs }, limits)
    expect(failed(500, 2499)).toBe(500)
    expect(failed(500, 2500)).toBe(125)
    expect(failed(500, 60_000, 80)).toBe(20)
    expect(failed(2, 60_000)).toBe(1)
    const sizes = [125]
    while (sizes.length < 6) {
      const size = sizes.at(-1)!
      sizes.push(nextBatchSize({ size, found: size, tookMs: 50 }, retryPace(limits, size)))
    }
    expect(sizes).toEqual([125, 250, 312, 390, 487, 500])
    expect(nextBatchSize({ size: 125, found: 125, tookMs: 9000 }, retryPace(limits, 125))).toBe(125)
  })

  test('where the time grows with the size, batches come to take about as long as they may, whatever the speed', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.05, max: 2, noNaN: true }),
        fc.integer({ min: 250, max: 500 }),
        (msEach, start) => {
          let size = start
          for (let n = 0; n < 50; n += 1) size = after(size, 20 + size * msEach)
          const fits = 20 + size * msEach <= pace.targetMs || size === 250
          expect(fits).toBe(true)
          expect(size === 500 || 20 + size * pace.growth * msEach > 0.8 * pace.targetMs).toBe(true)
        },
      ),
    )
  })
})

describe('chunks of a run', () => {
  const after = (size: number, tookMs: number) => nextBatchSize({ size, found: size, tookMs }, chunkPace)

  test('grow to what takes a third of a second, at most twofold at a time, and shrink at once', () => {
    expect(after(500, 60)).toBe(1000)
    expect(after(500, 250)).toBe(600)
    expect(after(5000, 3000)).toBe(500)
  })

  test('stay within their bounds, whatever the clock says', () => {
    fc.assert(
      fc.property(fc.integer({ min: 50, max: 10_000 }), fc.double({ min: 0, max: 1e7, noNaN: true }), (size, ms) => {
        const next = after(size, ms)
        return Number.isInteger(next) && next >= 50 && next <= 10_000
      }),
    )
  })
})
