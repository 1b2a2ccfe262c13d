import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffJson } from './json-diff.ts'
import { patchJson } from './json-patch.ts'

const text = (value: unknown) => JSON.stringify(value)

test('the patch makes the one of the other', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (before, after) => {
      expect(JSON.parse(patchJson(text(before), diffJson(text(before), text(after))).after)).toEqual(
        JSON.parse(text(after)),
      )
    }),
  )
})

test('numbers keep their digits, and what is equal is left out', () => {
  const before = '{"a":12345678901234567890.10,"b":[1,2,3],"c":{"d":null}}'
  const after = '{"a":12345678901234567890.12,"b":[1,2],"c":{"d":null}}'
  expect(diffJson(before, after)).toBe(
    '[{"op":"replace","path":"/a","value":12345678901234567890.12},{"op":"remove","path":"/b/2"}]',
  )
  expect(diffJson(before, before)).toBe('[]')
})

test.each([
  ['[1]', '[1,2,{"a":3.10}]', '[{"op":"add","path":"/-","value":2},{"op":"add","path":"/-","value":{"a":3.10}}]'],
  ['[1,2,3]', '[1]', '[{"op":"remove","path":"/2"},{"op":"remove","path":"/1"}]'],
  ['{"a":1,"b/c":2}', '{"a":1,"d~":3}', '[{"op":"remove","path":"/b~1c"},{"op":"add","path":"/d~0","value":3}]'],
  ['{"a":[{"b":1}]}', '{"a":[{"b":null}]}', '[{"op":"replace","path":"/a/0/b","value":null}]'],
  ['{"a":[]}', '{"a":{}}', '[{"op":"replace","path":"/a","value":{}}]'],
  ['null', '{"a":1}', '[{"op":"replace","path":"","value":{"a":1}}]'],
])('of %s the patch makes %s: %s', (before, after, patch) => expect(diffJson(before, after)).toBe(patch))

test.each([
  ['removed from a list', (count: number) => [listOf(count), listOf(0)]],
  ['added to a list', (count: number) => [listOf(0), listOf(count)]],
  ['removed from an object', (count: number) => [objectOf(count), objectOf(0)]],
  ['added to an object', (count: number) => [objectOf(0), objectOf(count)]],
  ['replaced', (count: number) => [listOf(count, 0), listOf(count, 500)]],
] as const)('more than a hundred values that are %s become one replacement', (_, texts) => {
  const [few, many] = [texts(100), texts(101)] as [[string, string], [string, string]]
  expect(JSON.parse(diffJson(...few))).toHaveLength(100)
  expect(diffJson(...many)).toBe(`[{"op":"replace","path":"","value":${many[1]}}]`)
})

const listOf = (count: number, from = 0) => text(Array.from({ length: count }, (_, at) => from + at))
const objectOf = (count: number) => text(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at])))
