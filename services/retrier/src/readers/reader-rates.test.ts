import { expect, test } from 'vitest'
import { noRates, ratesOf } from './reader-rates.ts'

const at = (minutes: number, read: number, written = read) => ({ read, written, nowMs: minutes * 60_000 })

test('a rate is known after five minutes, and then over the last five', () => {
  const begun = ratesOf(noRates, at(0, 100))
  expect(begun).toMatchObject({ per_second: null })
  expect(ratesOf(begun, at(4, 9000))).toEqual(begun)
  const measured = ratesOf(begun, at(5, 3100, 6100))
  expect(measured).toMatchObject({ per_second: 10, best_per_second: 10, produced_per_second: 20 })
  expect(ratesOf(measured, at(10, 3400, 6400))).toMatchObject({ per_second: 1, best_per_second: 10 })
})

test('the best is that of a day', () => {
  const best = { ...noRates, best_per_second: 300, best_at: 0, measured_from: { at: 86_400_000, read: 0, written: 0 } }
  expect(ratesOf(best, at(1446, 3000))).toMatchObject({
    best_per_second: expect.closeTo(8.3, 0),
    best_at: 1446 * 60_000,
  })
})

test('where an offset was moved back, or the topic was made anew, measuring begins again', () => {
  const begun = ratesOf(noRates, at(0, 100))
  expect(ratesOf(begun, at(6, 50))).toMatchObject({ per_second: null, measured_from: { at: 360_000, read: 50 } })
})
