import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { table } from './table.ts'
import { ago, durationMs, plain, plainJson, plainLines, rate } from './words.ts'

const rows = [
  { id: 'a', text: 'a long explanation of what went wrong here', group: 'billing' },
  { id: 'b', text: '支付失败', group: 'search' },
]
const columns = [
  { title: 'ID', value: (row: (typeof rows)[number]) => row.id },
  { title: 'TEXT', value: (row: (typeof rows)[number]) => row.text },
  { title: 'GROUP', value: (row: (typeof rows)[number]) => row.group, rank: 1 },
]

test('a table as wide as it gets cuts nothing', () => {
  expect(table(rows, columns, null).split('\n')).toEqual([
    'ID  TEXT                                        GROUP',
    'a   a long explanation of what went wrong here  billing',
    'b   支付失败                                    search',
  ])
})

test('in a narrow terminal, columns of a high rank go first, then the widest is cut', () => {
  expect(table(rows, columns, 20).split('\n')).toEqual(['ID  TEXT', 'a   a long explanat…', 'b   支付失败'])
})

test('an id is never cut, and a text that says enough is worth more than another column', () => {
  const [id, text, group] = columns
  const cut = [
    { ...id!, value: () => '0198c1d2-7e4f' },
    { ...text!, rank: 1, enough: 12 },
    { ...group!, rank: 2 },
  ]
  expect(table(rows, cut, 40).split('\n')[1]).toBe('0198c1d2-7e4f  a long explanat…  billing')
  expect(table(rows, cut, 30).split('\n')[1]).toBe('0198c1d2-7e4f  a long explana…')
  expect(table(rows, cut, 20).split('\n')[1]).toBe('0198c1d2-7e4f')
  const whole = cut.map((column) => ({ ...column, whole: true }))
  expect(table(rows, whole, 10).split('\n')[1]).toBe('0198c1d2-7e4f')
})

test('what would be left out may stand below its row, and leaves its room to others', () => {
  const [id, text, group] = columns
  const below = [
    { ...id!, value: () => '0198c1d2-7e4f', whole: true },
    { ...text!, rank: 1, enough: 12, below: true },
    { ...group!, rank: 2 },
  ]
  expect(table(rows, below, 40).split('\n')[1]).toBe('0198c1d2-7e4f  a long explanat…  billing')
  expect(table(rows, below, 24).split('\n')).toEqual([
    ...['ID             GROUP', '  TEXT'],
    ...['0198c1d2-7e4f  billing', '  a long explanation of…'],
    ...['0198c1d2-7e4f  search', '  支付失败'],
  ])
})

test('no line is wider than the terminal, whatever the cells hold', () => {
  const cell = fc.string({ unit: 'grapheme', maxLength: 60 })
  fc.assert(
    fc.property(
      fc.array(fc.record({ id: cell, text: cell, group: cell })),
      fc.integer({ min: 40, max: 200 }),
      (rows, width) => {
        for (const line of table(rows, columns, width).split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(width)
      },
    ),
  )
})

test('texts of strangers cannot steer the terminal', () => {
  const hostile = '\u001b]0;owned\u0007\u202e\nnext\u009b31m'
  expect(plain(hostile)).toBe('\\u001b]0;owned\\u0007\\u202e next\\u009b31m')
  expect(plainLines(hostile)).toBe('\\u001b]0;owned\\u0007\\u202e\nnext\\u009b31m')
})

test('nor can they in JSON, which stays the same', () => {
  const said = { '\u009b2J': 'safe\u202egnp.exe\u2066 \u007f “ok” 👍🏽' }
  const json = plainJson(JSON.stringify(said))
  expect(json).toBe('{"\\u009b2J":"safe\\u202egnp.exe\\u2066 \\u007f “ok” 👍🏽"}')
  expect(JSON.parse(json)).toEqual(said)
})

test('times are short words', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(ago('2025-12-31T21:00:00Z', now)).toBe('3 h ago')
  expect(ago('2026-01-03T00:00:00Z', now)).toBe('in 2 d')
  expect(ago(null, now)).toBe('–')
  expect(['90s', '2h', '1d', '5', 'x'].map(durationMs)).toEqual([90_000, 7_200_000, 86_400_000, null, null])
  expect(['36500d', '36501d', `${'9'.repeat(400)}d`].map(durationMs)).toEqual([3_153_600_000_000, null, null])
})

test('a measured rate has no digits that mean nothing', () => {
  expect([rate(0), rate(1), rate(3.14), rate(9.96), rate(49.4), rate(1234.5)]).toEqual([
    ...['0', '1', '3.1', '10', '49', '1,235'],
  ])
})
