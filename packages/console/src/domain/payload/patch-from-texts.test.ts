import { patchJson } from 'dlq-core/domain/record/json-patch.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { patchFromTexts, patchText, patchWords, readPatch, withTests } from './patch-from-texts.ts'

const finite = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' })

test('the patch of two texts makes the value of the second from the first', () => {
  fc.assert(
    fc.property(finite, finite, (before, after) => {
      const [first, second] = [JSON.stringify(before), JSON.stringify(after)]
      const lines = patchFromTexts(first, second)
      expect(JSON.parse(patchJson(first, patchText(lines!)).after)).toEqual(JSON.parse(second))
    }),
  )
})

test('digits stay as they were typed', () => {
  const lines = patchFromTexts('{"id": "a", "amount": -5}', '{"id":"a","amount":12345678901234567890.120}')
  expect(lines).toEqual([{ op: 'replace', path: '/amount', value: '12345678901234567890.120' }])
  expect(readPatch(patchText(lines!))).toEqual(lines)
  expect(patchWords(lines![0]!)).toBe('replace /amount with 12345678901234567890.120')
})

test('white space is no change, and names with slashes and tildes have their escapes', () => {
  expect(patchFromTexts('{"a": [1, 2]}', '{\n  "a": [1,2]\n}')).toEqual([])
  expect(patchFromTexts('{"a/b~c": 1}', '{"a/b~c": 2}')).toEqual([{ op: 'replace', path: '/a~1b~0c', value: '2' }])
})

test('a text that is no JSON, or that repeats a name, has no patch', () => {
  expect(patchFromTexts('{', '{}')).toBeNull()
  expect(patchFromTexts('{"a":1}', '5{"a":1}')).toBeNull()
  expect(readPatch('[{"op":"remove",')).toBeNull()
  expect(patchFromTexts('{"a":1,"a":2}', '{"a":1,"a":3}')).toBeNull()
})

test('a change can be bound to what the value was, digits and all', () => {
  const before = '{"a/b":[{"amount": -5.00}],"old":1}'
  const lines = patchFromTexts(before, '{"a/b":[{"amount":5}],"new":2}')!
  const bound = withTests(lines, before)
  expect(bound.map(patchWords)).toEqual([
    'only where /a~1b/0/amount is -5.00',
    'replace /a~1b/0/amount with 5',
    'only where /old is 1',
    'remove /old',
    'add /new: 2',
  ])
  expect(JSON.parse(patchJson(before, patchText(bound)).after)).toEqual({ 'a/b': [{ amount: 5 }], new: 2 })
})

test('a value that is thousands of lists deep has no patch', () => {
  const deep = (value: string) => `${'['.repeat(3000)}${value}${']'.repeat(3000)}`
  expect(patchFromTexts(deep('1'), deep('2'))).toBeNull()
})
