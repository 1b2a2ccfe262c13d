// Long answers are made step by step, and between two steps of all of them whoever else waits is answered. What masks take
// for a text of 64 KiB, tens of milliseconds, is one step, however many answers are made at once.

import { setImmediate } from 'node:timers/promises'

/** Less than this is not worth a pause. */
const stepMs = 5

let last = Promise.resolve()

/** When it is the turn of the next step. */
function nextStep(): Promise<void> {
  last = last.then(() => setImmediate())
  return last
}

/** To be awaited in the loop that makes an answer. */
export function createSteps(): () => Promise<void> | undefined {
  let begun = performance.now()
  return () => {
    if (performance.now() - begun < stepMs) return undefined
    return nextStep().then(() => {
      begun = performance.now()
    })
  }
}

/** The results of all, as `map` has them. */
export async function mapInSteps<Row, Result>(rows: readonly Row[], make: (row: Row) => Result): Promise<Result[]> {
  const step = createSteps()
  const results: Result[] = []
  for (const row of rows) {
    await step()
    results.push(make(row))
  }
  return results
}
