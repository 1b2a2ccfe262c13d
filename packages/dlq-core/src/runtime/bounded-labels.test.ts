import { expect, test } from 'vitest'
import { createLabelBound, weightiest } from './bounded-labels.ts'

test('the first values keep their names, for ever, and later ones share one', () => {
  const labelOf = createLabelBound(2)
  expect(['a', 'b', 'c', 'a', 'd', 'b'].map(labelOf)).toEqual(['a', 'b', '(others)', 'a', '(others)', 'b'])
})

test('of gauges the greatest keep their names', () => {
  expect(weightiest([1, 5, 3], (n) => n, 2)).toEqual([
    [5, true],
    [3, true],
    [1, false],
  ])
})
