import { expect, test } from 'vitest'
import { csvCell, jsonInOneCell } from './message-csv.ts'

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
  ['\r=1', `"'\r'=1"`],
  ['a;b', '"a;b"'],
  ['failed;=1+1', `"failed;'=1+1"`],
  ['failed;"=1+1', `"failed;'""=1+1"`],
  ['failed\n@SUM(A1)\r\n-1', `"failed\n'@SUM(A1)\r\n'-1"`],
  ['＝1+1', `"'＝1+1"`],
])('a spreadsheet takes %s neither for a formula nor for several cells: %s', (value, cell) => {
  expect(csvCell(value)).toBe(cell)
})

test('a payload stays the same JSON, without text behind a semicolon that a spreadsheet would take for a formula', () => {
  const payload = { note: 'a;=1+1', list: [';@x', ';-1', ';+1', '=1', 'a; b'], n: -1 }
  const json = jsonInOneCell(JSON.stringify(payload))
  expect(json).not.toMatch(/;["=+\-@]/)
  expect(JSON.parse(json)).toEqual(payload)
})
