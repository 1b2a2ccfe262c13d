import { expect, test } from 'vitest'
import { bounded, isTimeout, maxCheckMs } from './bounded-check.ts'

/** Takes time, and no core. */
const sleep = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, maxCheckMs * 2)

/** How often a check is begun, and whether it ends by the bound. */
function checksOf(check: (number: number) => void) {
  let begun = 0
  try {
    bounded(() => check(++begun))
    return { begun, isTimeout: false }
  } catch (error) {
    return { begun, isTimeout: isTimeout(error) }
  }
}

test('a check that waits for a core is begun again, a few times', () => {
  expect(checksOf((number) => (number < 3 ? sleep() : undefined))).toEqual({ begun: 3, isTimeout: false })
  expect(checksOf(sleep)).toEqual({ begun: 5, isTimeout: true })
})

test('what the check throws is thrown at once', () => {
  const fails = () => {
    throw new RangeError('too deep')
  }
  expect(checksOf(fails)).toEqual({ begun: 1, isTimeout: false })
  expect(() => bounded(fails)).toThrow('too deep')
})
