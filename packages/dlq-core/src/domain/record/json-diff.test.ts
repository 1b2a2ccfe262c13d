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

test('very many differences become one', () => {
  const numbers = (from: number) => text(Array.from({ length: 200 }, (_, at) => from + at))
  expect(diffJson(numbers(0), numbers(500))).toBe(`[{"op":"replace","path":"","value":${numbers(500)}}]`)
})
