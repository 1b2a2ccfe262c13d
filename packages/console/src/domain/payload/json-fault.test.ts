import fc from 'fast-check'
import { expect, test } from 'vitest'
import { faultWords, jsonFault } from './json-fault.ts'

test.each([
  ['{"a": 1 "b": 2}', 'line 1, column 9: a comma is missing'],
  ['{\n  "a": 1,\n  b: 2\n}', 'line 3, column 3: this is no JSON value'],
  ['{"a": }', 'line 1, column 7: a value is missing'],
  ['{"a": "x\n}', 'line 1, column 7: the closing quote is missing'],
  ['[1, 2', 'line 1, column 5: a closing bracket ] is missing'],
  ['// no\n{}', 'line 1, column 1: JSON has no comments'],
  ['{} {}', 'line 1, column 4: the value has ended before this'],
  ['', 'line 1, column 1: a value is missing'],
])('%j: %s', (text, words) => {
  expect(faultWords(jsonFault(text)!)).toBe(words)
})

test('a value that is nested too deep counts as faulty, whatever it holds', () => {
  expect(jsonFault('['.repeat(200_000))?.message).toBe('this is no JSON, and too deep to say where')
  expect(jsonFault(`${'{"a":'.repeat(200_000)}1 2`)?.message).toContain('no JSON')
  expect(faultWords(jsonFault(`${'['.repeat(900)}1 2${']'.repeat(900)}`)!)).toBe(
    'line 1, column 903: a comma is missing',
  )
})

test('whatever is no JSON has a place within the text, and JSON has none', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', '"', '\\', '\n'), (json, at, added) => {
      const place = at % (json.length + 1)
      const text = json.slice(0, place) + added + json.slice(place)
      const fault = jsonFault(text)
      expect(jsonFault(json)).toBeNull()
      if (fault === null) return void JSON.parse(text)
      expect(fault.offset + fault.length).toBeLessThanOrEqual(text.length)
      expect(fault.length).toBeGreaterThan(0)
      expect(fault.message).not.toBe('')
    }),
  )
})
