import { expect, test } from 'vitest'
import { firstPlace, type PagePlace, placeOf, toRead, windowOf } from './page-window.ts'

const rowsOf = (text: string) => [...text].map((id) => ({ id }))
const places: PagePlace[] = [firstPlace]
for (const cursor of ['c1', 'c2', 'c3'])
  places.push({ cursor, start: places.at(-1)!.start + 3, before: places.at(-1)!, total: null })

test('rows keep their numbers when the pages before them are dropped', () => {
  const all = windowOf([rowsOf('abc'), rowsOf('def'), rowsOf('gh')], places.slice(0, 3))
  const later = windowOf([rowsOf('def'), rowsOf('gh')], places.slice(1, 3))
  expect([all.start, all.end, later.start, later.end]).toEqual([0, 8, 3, 8])
  expect([all.at(4), later.at(4), later.at(2)]).toEqual([{ id: 'e' }, { id: 'e' }, null])
})

test('a page that has lost a row shows none twice, and moves none behind it', () => {
  const window = windowOf([rowsOf('acd'), rowsOf('def')], places.slice(0, 2))
  expect([0, 1, 2, 3, 4, 5].map((at) => window.at(at)?.id ?? '–').join('')).toBe('ac–def')
  expect(window.rows.map(({ id }) => id).join('')).toBe('acdef')
})

test('a page that was read again has no more room than it had', () => {
  const window = windowOf([rowsOf('abcxyz'), rowsOf('def')], places.slice(0, 2))
  expect(window.rows.map(({ id }) => id).join('')).toBe('abcdef')
})

test('the page of a row is found along those that were seen', () => {
  expect(placeOf(4, places[3]!).cursor).toBe('c1')
  expect(placeOf(0, places[3]!)).toBe(firstPlace)
})

test('what comes into sight is read from the side where it is missing, and afresh after a jump', () => {
  const kept = { start: 1000, end: 3000 }
  const known = { pageRows: 100, known: 5000 }
  expect(toRead({ first: 2000, last: 2020 }, kept, known)).toBeNull()
  expect(toRead({ first: 1010, last: 1030 }, kept, known)).toBe('before')
  expect(toRead({ first: 2970, last: 2990 }, kept, known)).toBe('after')
  expect(toRead({ first: 0, last: 20 }, kept, known)).toBe('afresh')
  expect(toRead({ first: 4000, last: 4020 }, kept, known)).toBe('afresh')
  expect(toRead({ first: 0, last: 20 }, { start: 0, end: 3000 }, known)).toBeNull()
})
