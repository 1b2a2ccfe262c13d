import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextBatchSize } from './batch-size.ts'

const bounds = { mostMessages: 500, targetMs: 250 }
const after = (size: number, tookMs: number, claimed = size) => nextBatchSize({ size, claimed, tookMs }, bounds)

test('a batch that takes too long is followed by smaller ones, down to a fifth', () => {
  expect(after(500, 300)).toBe(416)
  expect(after(500, 5000)).toBe(250)
  expect(after(110, 5000)).toBe(100)
})

test('full batches that are quick are followed by greater ones, up to the limit', () => {
  expect(after(100, 50)).toBe(125)
  expect(after(450, 50)).toBe(500)
})

test('a batch that was not full, or only just quick enough, changes nothing', () => {
  expect(after(200, 20, 10)).toBe(200)
  expect(after(200, 240)).toBe(200)
})

test('where the time grows with the size, batches come to take about as long as they may, whatever the speed', () => {
  fc.assert(
    fc.property(fc.double({ min: 0.05, max: 2, noNaN: true }), fc.integer({ min: 100, max: 500 }), (msEach, start) => {
      let size = start
      for (let n = 0; n < 50; n += 1) size = nextBatchSize({ size, claimed: size, tookMs: 20 + size * msEach }, bounds)
      const fits = 20 + size * msEach <= bounds.targetMs || size === 100
      expect(fits).toBe(true)
      expect(size === 500 || 20 + size * growth * msEach > 0.8 * bounds.targetMs).toBe(true)
    }),
  )
})

const growth = 1.25
