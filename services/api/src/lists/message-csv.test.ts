import { expect, test } from 'vitest'
import { csvCell, csvHeader, csvLine, jsonInOneCell } from './message-csv.ts'

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

test('each column has its field of the message, and nothing where that is unknown', () => {
  const day = (n: number) => new Date(Date.UTC(2026, 0, n))
  const row = {
    ...{ id: 'i', original_topic: 'orders', status: 'DEAD', error_class: 'E', error_message: 'm', consumer_group: 'g' },
    ...{ retry_count: 1, max_retries: 2, dlq_topic: 'd', dlq_partition: 3, dlq_offset: 4n, failure_count: 7 },
    ...{ original_partition: 5, original_offset: 6n, group_id: 'u', payload: '{"a":";=1"}', unprojected_value: null },
    ...{ created_at: day(1), updated_at: day(2), first_failed_at: day(5), last_failed_at: day(6) },
    ...{ last_retry_at: day(3) as Date | null, next_retry_at: day(4) as Date | null },
  }
  const cells = (of: typeof row) => {
    const values = csvLine(of as unknown as Parameters<typeof csvLine>[0])
      .trimEnd()
      .split(',')
    return Object.fromEntries(
      csvHeader
        .trimEnd()
        .split(',')
        .map((name, at) => [name, values[at]]),
    )
  }
  const at = (n: number) => `2026-01-0${n}T00:00:00.000+00:00`
  expect(cells(row)).toEqual({
    ...{ id: 'i', original_topic: 'orders', status: 'DEAD', error_class: 'E', error_message: 'm', consumer_group: 'g' },
    ...{ retry_count: '1', max_retries: '2', dlq_topic: 'd', dlq_partition: '3', dlq_offset: '4', failure_count: '7' },
    ...{ original_partition: '5', original_offset: '6', group_id: 'u', payload: '"{""a"":"";\\u003d1""}"' },
    ...{ created_at: at(1), updated_at: at(2), last_retry_at: at(3), next_retry_at: at(4) },
    ...{ first_failed_at: at(5), last_failed_at: at(6) },
  })
  expect(cells({ ...row, last_retry_at: null, next_retry_at: null })).toMatchObject({
    ...{ last_retry_at: '', next_retry_at: '' },
  })
})
