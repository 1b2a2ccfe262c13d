import { expect, test } from 'vitest'
import { createBreaker } from './breaker.ts'

function create({ random = 0.5 } = {}) {
  const clock = { ms: 0 }
  const said: (string | null)[] = []
  const onChange = (reason: string | null) => void said.push(reason)
  const breaker = createBreaker({ now: () => clock.ms, random: () => random, onChange, firstMs: 100, maxMs: 1000 })
  return { clock, breaker, said }
}

test('a fault stops all slots, then one probes and the others wait for it; both ends are said once', () => {
  const { clock, breaker, said } = create()
  breaker.succeeded()
  expect(breaker.enter()).toBe('closed')
  for (const _slot of [1, 2]) breaker.failed('away')
  expect([breaker.enter(), breaker.fault()]).toEqual(['open', 'away'])
  clock.ms = 100
  expect([breaker.enter(), breaker.enter(), breaker.enter()]).toEqual(['probe', 'open', 'open'])
  expect(breaker.isProbing()).toBe(true)
  for (const _slot of [1, 2]) breaker.succeeded()
  expect([breaker.enter(), breaker.enter(), breaker.fault()]).toEqual(['closed', 'closed', null])
  expect(breaker.isProbing()).toBe(false)
  expect(said).toEqual(['away', null])
})

test('the wait grows with every probe that fails, up to its bound, and not with the slots that meet the same fault', () => {
  const { clock, breaker } = create()
  for (const slot of ['one', 'two', 'three']) breaker.failed(slot)
  for (const waitMs of [100, 200, 400, 800, 1000, 1000]) {
    clock.ms += waitMs - 1
    expect(breaker.enter()).toBe('open')
    clock.ms += 1
    expect(breaker.enter()).toBe('probe')
    breaker.failed('still away')
  }
  clock.ms += 1000
  breaker.enter()
  breaker.succeeded()
  breaker.failed('away again')
  clock.ms += 100
  expect(breaker.enter()).toBe('probe')
})

test.each([
  [0, 75],
  [0.9, 120],
])('with chance %d the first wait takes %d ms, so that retriers do not try Kafka all at once', (random, waitMs) => {
  const { clock, breaker } = create({ random })
  breaker.failed('away')
  clock.ms = waitMs - 1
  expect(breaker.enter()).toBe('open')
  clock.ms = waitMs
  expect(breaker.enter()).toBe('probe')
})
