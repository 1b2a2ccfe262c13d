import { expect, test } from 'vitest'
import { formatNumber, formatTable } from './table.ts'

test('the first column is aligned left and the numbers right', () => {
  const table = formatTable(
    ['what', 'rows/s'],
    [
      ['ingester', '9'],
      ['floor', '34,000'],
    ],
  )

  expect(table).toBe(['what      rows/s', '--------  ------', 'ingester       9', 'floor     34,000'].join('\n'))
})

test('a number that is not known is a dash', () => {
  expect([formatNumber(null), formatNumber(Number.NaN)]).toEqual(['-', '-'])
})

test('numbers are rounded and grouped', () => {
  expect([formatNumber(34567.8), formatNumber(0.617, 2)]).toEqual(['34,568', '0.62'])
})
