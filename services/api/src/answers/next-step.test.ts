// Long answers leave the event loop to others between their steps.
import { setImmediate as laterOn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { mapInSteps } from './next-step.ts'

function busy(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('between two steps of all answers others are served, and all rows come in their order', async () => {
  const rows = [1, 2, 3, 4]
  const made: string[] = []
  const make = (name: string) =>
    mapInSteps(rows, (row) => {
      busy(6)
      made.push(`${name}${row}`)
      return row
    })
  const answers = Promise.all(['a', 'b', 'c'].map(make))
  const turns: number[] = []
  while (made.length < 12) {
    turns.push(made.length)
    await laterOn()
  }
  expect(await answers).toEqual([rows, rows, rows])
  // The first row of each is made at once.
  expect(turns.length).toBeGreaterThanOrEqual(9)
})

test('what is quick is made at once', async () => {
  let isDone = false
  const made = mapInSteps([1, 2, 3], String)
  made.then(() => {
    isDone = true
  })
  for (let n = 0; n < 10; n++) await Promise.resolve()
  expect(isDone).toBe(true)
})
