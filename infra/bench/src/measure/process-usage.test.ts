import { expect, test } from 'vitest'
import { parseStat, treeTicks } from './process-usage.ts'

// 52 fields, shortened behind the ones that are read.
const line = '4711 (post) gres: (x) S 4700 4711 4711 0 -1 4194624 9000 0 12 0 150 50 7 3 20 0 1 0 1234 5 6'

test('a name with spaces and brackets does not shift the fields', () => {
  expect(parseStat(line)).toEqual({ pid: 4711, parent: 4700, cpuTicks: 210 })
})

test('a file that vanishes while it is read counts as zero', () => {
  expect(parseStat('')).toBeNull()
})

test('a tree is the process and its descendants, without its siblings', () => {
  const stats = [
    { pid: 1, parent: 0, cpuTicks: 1000 },
    { pid: 10, parent: 1, cpuTicks: 5 },
    { pid: 11, parent: 10, cpuTicks: 7 },
    { pid: 12, parent: 11, cpuTicks: 9 },
    { pid: 20, parent: 1, cpuTicks: 500 },
  ]

  expect(treeTicks(stats, 10)).toBe(21)
})
