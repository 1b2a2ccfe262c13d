import { expect, test } from 'vitest'
import { createRateLimit } from './rate-limit.ts'

function start(perSecond: number) {
  const clock = { ms: 0 }
  const limit = createRateLimit(perSecond, { now: () => clock.ms })
  /** How many of the requests pass. */
  const ask = (requests: number, actor = 'maria') => {
    let passed = 0
    for (let n = 0; n < requests; n += 1) {
      try {
        limit(actor)
        passed += 1
      } catch (error) {
        expect(error).toMatchObject({ code: 'SYS_DLQ_TOO_MANY_REQUESTS' })
      }
    }
    return passed
  }
  return { clock, ask }
}

test('an actor may send two seconds’ worth at once, and then so many a second, however long they were silent', () => {
  const { clock, ask } = start(5)
  expect([ask(100), ask(100, 'ann')]).toEqual([10, 10])
  clock.ms = 1000
  expect(ask(100)).toBe(5)
  clock.ms = 3_600_000
  expect(ask(100)).toBe(10)
})

test('less than one request a second lets one through', () => {
  const { clock, ask } = start(0.1)
  expect(ask(5)).toBe(1)
  clock.ms = 9999
  expect(ask(5)).toBe(0)
  clock.ms = 10_000
  expect(ask(5)).toBe(1)
})

test('what is known of ten thousand actors is forgotten, not kept for ever', () => {
  const { ask } = start(1)
  expect([ask(5), ask(5)]).toEqual([2, 0])
  for (let n = 0; n < 10_000; n += 1) ask(1, `actor ${n}`)
  expect(ask(5)).toBe(2)
})
