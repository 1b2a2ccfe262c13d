import fc from 'fast-check'
import { expect, test } from 'vitest'
import { beyondJsonBounds } from './json-bounds.ts'

const bounds = (text: string) => beyondJsonBounds(Buffer.from(text), 'the body')

test('any JSON of ordinary size is within the bounds, whatever its texts hold', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => bounds(JSON.stringify(value)) === null))
  expect(bounds(JSON.stringify({ a: '["\\'.repeat(200_000), b: `${'{'.repeat(2000)}\\"` }))).toBeNull()
  expect(bounds(JSON.stringify({ value: 'x'.repeat(6_000_000) }))).toBeNull()
})

test('too many values are refused, as members or as elements', () => {
  expect(bounds(`{"a":[${'1,'.repeat(99_990)}1]}`)).toBeNull()
  expect(bounds(`{"a":[${'1,'.repeat(3_000_000)}1]}`)).toBe('the body consists of more than 100000 values')
  expect(bounds(`{"a":[${'[],'.repeat(60_000)}1]}`)).toBe('the body consists of more than 100000 values')
  expect(bounds(`{"a":{${'"b":1,'.repeat(60_000)}"c":1}}`)).toBe('the body consists of more than 100000 values')
})

test('deep nesting is refused, closed or not', () => {
  expect(bounds(`${'['.repeat(1000)}${']'.repeat(1000)}`)).toBeNull()
  expect(bounds(`${'['.repeat(1001)}${']'.repeat(1001)}`)).toBe('the body is nested deeper than 1000 levels')
  expect(bounds('{"a":'.repeat(100_000))).toBe('the body is nested deeper than 1000 levels')
})

test('what is no JSON is left to the parser', () => {
  for (const text of ['', '"', '"\\', '}]', '[1,', '\\']) expect(bounds(text)).toBeNull()
})
