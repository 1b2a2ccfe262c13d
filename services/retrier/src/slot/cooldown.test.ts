import { expect, test } from 'vitest'
import { createCooldown } from './cooldown.ts'

function create() {
  const clock = { ms: 0 }
  return { clock, cooldown: createCooldown({ now: () => clock.ms }) }
}

const failure = { tookMs: 0, error: new Error('no leader') }

test('a topic is left alone for 15 seconds, or for as long as the caller says, and no other one is', () => {
  const { clock, cooldown } = create()
  cooldown.add('orders')
  cooldown.add('payments', 1000)
  clock.ms = 999
  expect(['orders', 'payments', 'parcels'].map(cooldown.has)).toEqual([true, true, false])
  clock.ms = 1000
  expect(['orders', 'payments'].map(cooldown.has)).toEqual([true, false])
  clock.ms = 15_000
  expect(cooldown.has('orders')).toBe(false)
})

test('a topic that fails in a row is left alone for twice as long each time, up to two minutes', () => {
  const { clock, cooldown } = create()
  for (const seconds of [15, 30, 60, 120, 120]) {
    expect(cooldown.failed('orders', failure)).toBe(seconds * 1000)
    clock.ms += seconds * 1000 - 1
    expect(cooldown.has('orders')).toBe(true)
    clock.ms += 1
    expect(cooldown.has('orders')).toBe(false)
  }
  expect(['orders', 'payments'].map(cooldown.isTroubled)).toEqual([true, false])
})

test('slots that ask for a topic at the same time fail once, and not in a row', () => {
  const { clock, cooldown } = create()
  clock.ms = 10_000
  expect(cooldown.failed('orders', { ...failure, tookMs: 10_000 })).toBe(15_000)
  clock.ms = 10_020
  for (const tookMs of [10_000, 9000]) expect(cooldown.failed('orders', { ...failure, tookMs })).toBe(15_000)
  // One that began after them.
  clock.ms = 35_000
  expect(cooldown.failed('orders', { ...failure, tookMs: 9000 })).toBe(30_000)
  // One that asked beside that.
  clock.ms = 36_000
  expect(cooldown.failed('orders', { ...failure, tookMs: 9000 })).toBe(30_000)
})

test('what is sent to a troubled topic ends its trouble: it is not left alone, and its next failure is the first again', () => {
  const { cooldown } = create()
  cooldown.failed('orders', failure)
  cooldown.failed('orders', failure)
  cooldown.published('orders')
  expect([cooldown.has('orders'), cooldown.isTroubled('orders')]).toEqual([false, false])
  expect(cooldown.failed('orders', failure)).toBe(15_000)
})

test('a topic that is left alone for another reason stays so, although something was sent to it before', () => {
  const { cooldown } = create()
  cooldown.add('paused')
  cooldown.published('paused')
  expect(cooldown.has('paused')).toBe(true)
})

test('a topic that Kafka cannot take records for is listed, until something was sent to it or nothing is to be', () => {
  const { clock, cooldown } = create()
  const held = { reason: 'Kafka cannot take them now: no leader', since: new Date(0) }
  cooldown.failed('orders', failure)
  cooldown.cannotTake('payments', failure.error)
  expect(cooldown.has('payments')).toBe(true)
  cooldown.add('paused')
  expect(cooldown.list()).toEqual([
    { topic: 'orders', ...held },
    { topic: 'payments', ...held },
  ])
  clock.ms = 40_000
  cooldown.failed('orders', failure)
  expect(cooldown.list()).toHaveLength(2)
  clock.ms = 46_000
  expect(cooldown.list()).toEqual([{ topic: 'orders', ...held }])
  cooldown.published('orders')
  expect(cooldown.list()).toEqual([])
})
