import { expect, test } from 'vitest'
import { createPendingSlots } from './pending-slots.ts'

test('each slot is left alone for a minute after it was last found pending', () => {
  const clock = { ms: 0 }
  const pending = createPendingSlots({ now: () => clock.ms })
  pending.add(1)
  clock.ms = 1000
  pending.add(2)
  clock.ms = 59_999
  expect(pending.list()).toEqual([1, 2])
  clock.ms = 60_000
  expect(pending.list()).toEqual([2])
  pending.add(2)
  clock.ms = 61_000
  expect(pending.list()).toEqual([2])
  clock.ms = 120_000
  expect(pending.list()).toEqual([])
})
