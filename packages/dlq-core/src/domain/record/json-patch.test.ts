// JSON Patch as RFC 6902 has it, over JSON text.
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { jsonPatchSchema, PatchError, patchJson } from './json-patch.ts'

const patched = (document: string, ...operations: object[]) => patchJson(document, JSON.stringify(operations))

test.each([
  ['{"a":1}', { op: 'add', path: '/b', value: [2] }, '{"a":1,"b":[2]}'],
  ['{"a":1}', { op: 'add', path: '/a', value: 2 }, '{"a":2}'],
  ['[1,3]', { op: 'add', path: '/1', value: 2 }, '[1,2,3]'],
  ['[1]', { op: 'add', path: '/-', value: 2 }, '[1,2]'],
  ['{"a":{"b":1},"c":2}', { op: 'remove', path: '/a/b' }, '{"a":{},"c":2}'],
  ['[1,2,3]', { op: 'remove', path: '/1' }, '[1,3]'],
  ['{"a":1,"b":2}', { op: 'replace', path: '/b', value: null }, '{"a":1,"b":null}'],
  ['{"a":1}', { op: 'replace', path: '', value: 'all' }, '"all"'],
  ['{"a":1}', { op: 'move', from: '/a', path: '/b' }, '{"b":1}'],
  ['{"a":{"x":1}}', { op: 'copy', from: '/a', path: '/b' }, '{"a":{"x":1},"b":{"x":1}}'],
  ['{"a/b":{"~":1}}', { op: 'replace', path: '/a~1b/~0', value: 2 }, '{"a/b":{"~":2}}'],
  ['{"":{"":1}}', { op: 'replace', path: '//', value: 2 }, '{"":{"":2}}'],
  ['{"a":{"x":1,"y":[1.0]}}', { op: 'test', path: '/a', value: { y: [1], x: 1 } }, '{"a":{"x":1,"y":[1.0]}}'],
])('%s by %j is %s', (document, operation, after) => {
  expect(patched(document, operation)).toBe(after)
})

test.each([
  ['{"a":1}', { op: 'remove', path: '/b' }],
  ['{"a":1}', { op: 'replace', path: '/b', value: 1 }],
  ['{"a":1}', { op: 'add', path: '/a/b', value: 1 }],
  ['{"a":1}', { op: 'add', path: '/b/c', value: 1 }],
  ['{"a":1}', { op: 'test', path: '/a', value: '1' }],
  ['[1]', { op: 'add', path: '/2', value: 1 }],
  ['[1]', { op: 'remove', path: '/-' }],
  ['[1]', { op: 'remove', path: '/01' }],
  ['[1]', { op: 'remove', path: '/length' }],
  ['{}', { op: 'test', path: '/constructor', value: null }],
  ['{"a":{}}', { op: 'move', from: '/a', path: '/a/b' }],
  ['{}', { op: 'remove', path: '' }],
])('%s cannot be patched by %j', (document, operation) => {
  expect(() => patched(document, operation)).toThrow(PatchError)
})

test('what the patch does not name comes out digit by digit, and so does what it moves, copies or brings', () => {
  const document = '{"big":12345678901234567890.12,"small":1e-999,"rest":{"one":1.0}}'
  expect(
    patchJson(document, '[{"op":"copy","from":"/big","path":"/copy"},{"op":"add","path":"/new","value":1.10}]'),
  ).toBe('{"big":12345678901234567890.12,"small":1e-999,"rest":{"one":1.0},"copy":12345678901234567890.12,"new":1.10}')
})

test('a member named "__proto__" is a member like any other', () => {
  expect(patched('{}', { op: 'add', path: '/__proto__', value: { a: 1 } })).toBe('{"__proto__":{"a":1}}')
  expect(Object.hasOwn(Object.prototype, 'a')).toBe(false)
})

test('all of a patch is done, or it throws', () => {
  expect(() => patched('{"a":1}', { op: 'remove', path: '/a' }, { op: 'test', path: '/a', value: 1 })).toThrow(
    PatchError,
  )
})

test('adding what was removed gives the document back, whatever it is', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (document, nth) => {
      const text = JSON.stringify(document)
      const key = Object.keys(document)[nth % Object.keys(document).length]!
      const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      const value = document[key]
      const after = patched(text, { op: 'test', path, value }, { op: 'remove', path }, { op: 'add', path, value })
      expect(JSON.parse(after)).toEqual(JSON.parse(text))
    }),
  )
})

describe('a patch in a request', () => {
  test.each([
    [[]],
    [[{ op: 'explode', path: '/a' }]],
    [[{ op: 'add', path: 'a', value: 1 }]],
    [[{ op: 'move', path: '/a' }]],
    [{}],
  ])('%j is refused', (patch) => {
    expect(v.safeParse(jsonPatchSchema, patch).success).toBe(false)
  })
})
