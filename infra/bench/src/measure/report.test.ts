import { expect, test } from 'vitest'
import { formatVariants, slowest, type Variant } from './report.ts'

function variant(name: string, ...rates: number[]): Variant {
  const costs = { clientMicros: 40, postgresMicros: null, peakMemoryMiB: null }
  return { name, rounds: rates.map((rowsPerSecond) => ({ rowsPerSecond, ...costs })) }
}

test('a line shows the median rate, its ratio to the floor, and dashes for unknown values', () => {
  const floor = variant('floor', 10_000, 12_000, 20_000)

  const [, , line] = formatVariants([variant('service', 6000, 6000, 10_000)], floor).split('\n')

  expect(line!.trim().split(/\s{2,}/)).toEqual(['service', '6,000', '0.50', '-', '40', '-', '-'])
})

test('the slowest variant is the one with the lowest median', () => {
  expect(slowest([variant('a', 5, 5, 5), variant('b', 1, 6, 7), variant('c', 4, 4, 90)]).name).toBe('c')
})

test('CPU is compared as the sum of client and PostgreSQL', () => {
  const round = { rowsPerSecond: 1000, peakMemoryMiB: null }
  const service = { name: 'service', rounds: [{ ...round, clientMicros: 100, postgresMicros: 200 }] }
  const floor = { name: 'floor', rounds: [{ ...round, clientMicros: 50, postgresMicros: 150 }] }

  const [, , line] = formatVariants([service], floor).split('\n')

  expect(line!.trim().split(/\s{2,}/)[3]).toBe('1.50')
})
