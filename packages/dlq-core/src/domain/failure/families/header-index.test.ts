import { expect, test } from 'vitest'
import { appendedValue, indexHeaders, lastValue, prependedValue } from './header-index.ts'

/** The names in wire order; a value tells its header's place. */
function indexOf(names: string, known = ['class', 'message']) {
  const headers = names.split(' ').map((name, at) => [name, Buffer.from(String(at))] as const)
  return indexHeaders(headers, new Set(known))
}
const appended = (names: string) => appendedValue(indexOf(names), 'message', 'class')?.toString() ?? null
const prepended = (names: string) => prependedValue(indexOf(names), 'message', 'class')?.toString() ?? null

test('names that nobody knows are not kept', () => {
  expect([...indexOf('class other class').keys()]).toEqual(['class'])
  expect(lastValue(indexOf('class other class'), 'class')?.toString()).toBe('2')
})

test.each([
  ['class message class message', '3'],
  ['class class message', '2'],
  ['class message class', null],
  ['class message class message class', null],
  ['class class message message', '3'],
  ['message message class class', '1'],
  ['message', '0'],
  ['class', null],
])('of %s, sets that are appended, the newest has the message at %s', (names, at) => expect(appended(names)).toBe(at))

test.each([
  ['class message class message', '1'],
  ['class message class', '1'],
  ['class class message', null],
  ['class class message class message', null],
  ['class class message message', '2'],
  ['message', '0'],
  ['class', null],
])('of %s, sets that are put in front, the newest has the message at %s', (names, at) =>
  expect(prepended(names)).toBe(at),
)
