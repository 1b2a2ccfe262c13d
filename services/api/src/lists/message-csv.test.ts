import { expect, test } from 'vitest'
import { csvCell } from './message-csv.ts'

test.each([
  [null, ''],
  ['', ''],
  [-1, '-1'],
  [9223372036854775807n, '9223372036854775807'],
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['=1+1', `"'=1+1"`],
  ['+1', `"'+1"`],
  ['-1', `"'-1"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['\t=1', `"'\t=1"`],
  ['\r=1', `"'\r=1"`],
])('a spreadsheet takes %s neither for a formula nor for several cells: %s', (value, cell) => {
  expect(csvCell(value)).toBe(cell)
})
