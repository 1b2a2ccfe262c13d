import { expect, test } from 'vitest'
import { createIngesterState } from './ingester-state.ts'

test('an ingester tells what it reads, and what keeps it from that until it goes on', () => {
  const state = createIngesterState()
  let changes = 0
  state.changed.notify = () => (changes += 1)
  expect(state.now()).toEqual({ assignment: [], fault: null })
  state.cannotRead('no broker')
  state.assigned({ b: [1, 0], a: [2], none: [] })
  expect(state.now()).toEqual({
    assignment: [
      { topic: 'a', partitions: [2] },
      { topic: 'b', partitions: [0, 1] },
    ],
    fault: null,
  })
  state.cannotRead('no broker')
  state.cannotStore('no database')
  expect(state.now().fault).toBe('no database')
  state.canStore()
  expect(state.now().fault).toBe('no broker')
  state.canRead()
  state.unassigned()
  expect(state.now()).toEqual({ assignment: [], fault: null })
  const before = changes
  state.canRead()
  state.canStore()
  expect(changes).toBe(before)
})
