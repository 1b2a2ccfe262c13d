// JSON Patch (RFC 6902) over JSON text.
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { jsonPatchSchema, maxPatchedValues, PatchError, patchJson } from './json-patch.ts'

const patched = (document: string, ...operations: object[]) => patchJson(document, JSON.stringify(operations)).after

test.each([
  ['{"a":1}', { op: 'add', path: '/b', value: [2] }, '{"a":1,"b":[2]}'],
  ['{"a":1}', { op: 'add', path: '/a', value: 2 }, '{"a":2}'],
  ['[1,3]', { op: 'add', path: '/1', value: 2 }, '[1,2,3]'],
  ['[1]', { op: 'add', path: '/-', value: 2 }, '[1,2]'],
  ['{"a":{"b":1},"c":2}', { op: 'remove', path: '/a/b' }, '{"a":{},"c":2}'],
  ['[1,2,3]', { op: 'remove', path: '/1' }, '[1,3]'],
  ['{"a":1,"b":2}', { op: 'replace', path: '/b', value: null }, '{"a":1,"b":null}'],
  ['{"$type":1,"b":[1,2]}', { op: 'replace', path: '/$type', value: 3 }, '{"$type":3,"b":[1,2]}'],
  ['{"__proto__":1,"b":2}', { op: 'replace', path: '/__proto__', value: 3 }, '{"__proto__":3,"b":2}'],
  ['[1,2,3]', { op: 'replace', path: '/1', value: 4 }, '[1,4,3]'],
  ['{"a":1}', { op: 'replace', path: '', value: 'all' }, '"all"'],
  ['{"a":1}', { op: 'move', from: '/a', path: '/b' }, '{"b":1}'],
  ['{"a":1}', { op: 'move', from: '/a', path: '/a' }, '{"a":1}'],
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
  ['{"a":{"x":1}}', { op: 'test', path: '/a', value: { x: 1, y: 2 } }],
  ['{"a":9007199254740993}', { op: 'test', path: '/a', value: 9007199254740992 }],
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

test('numbers keep every digit, whether the patch leaves, moves, copies or adds them', () => {
  const document = '{"big":12345678901234567890.12,"small":1e-999,"rest":{"one":1.0}}'
  expect(
    patchJson(document, '[{"op":"copy","from":"/big","path":"/copy"},{"op":"add","path":"/new","value":1.10}]').after,
  ).toBe('{"big":12345678901234567890.12,"small":1e-999,"rest":{"one":1.0},"copy":12345678901234567890.12,"new":1.10}')
})

test.each([
  ['1.50', '1.5', true],
  ['100', '1E+2', true],
  ['0.0120', '12e-3', true],
  ['-0.0', '0', true],
  ['1e400', '10e399', true],
  ['12345678901234567890.10', '12345678901234567890.1', true],
  ['12345678901234567890.10', '12345678901234567890.01', false],
  ['1.5', '-1.5', false],
  ['0.1', '0.10000000000000001', false],
  ['1e400', '1e401', false],
  ['0', '1e-999', false],
])('a test compares numbers by their value: %s is %s: %s', (number, tested, isSame) => {
  const test = () => patchJson(number, `[{"op":"test","path":"","value":${tested}}]`)
  if (isSame) expect(test().after).toBe(number)
  else expect(test).toThrow(PatchError)
})

test('a copy stays as it is where its original is changed', () => {
  const copy = { op: 'copy', from: '/a', path: '/b' }
  expect(patched('{"a":{"x":1}}', copy, { op: 'replace', path: '/a/x', value: 2 })).toBe('{"a":{"x":2},"b":{"x":1}}')
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

describe('a patch that would make a document huge is refused', () => {
  const doubling = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ op: 'copy', from: '', path: `/copy${n}` }))

  test('by 26 copies of the whole', () => {
    const before = process.memoryUsage().heapUsed
    expect(() => patched('{"a":1}', ...doubling(26))).toThrow(PatchError)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1024 * 1024)
  })

  test('by copies of a long text', () => {
    const copies = Array.from({ length: 100 }, (_, n) => ({ op: 'copy', from: '/text', path: `/copy${n}` }))
    expect(() => patched(JSON.stringify({ text: 'x'.repeat(100_000) }), ...copies)).toThrow(/longer than/)
  })

  test('by nesting', () => {
    const path = '/a'.repeat(490)
    const deep = `${'{"a":'.repeat(900)}1${'}'.repeat(900)}`
    expect(() => patched(deep, { op: 'copy', from: '', path })).toThrow(/deeper than/)
    expect(() => patched(deep, { op: 'move', from: path, path: '/b' })).not.toThrow()
  })

  test.each(['add', 'replace', 'move'])('by nesting, with %s', (op) => {
    const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
    const operation = {
      op,
      path: `/to${'/a'.repeat(490)}`,
      ...(op === 'move' ? { from: '/from' } : { value: nested(600) }),
    }
    expect(() => patched(JSON.stringify({ from: nested(600), to: nested(600) }), operation)).toThrow(/deeper than/)
  })

  test('by comparing much again and again', () => {
    const list = Array.from({ length: 12_000 }, () => 1)
    const tests = Array.from({ length: 100 }, () => ({ op: 'test', path: '', value: list }))
    expect(() => patched(JSON.stringify(list), ...tests)).toThrow(/touch more than/)
  })

  test('but not one that puts as much in the place of something', () => {
    const list = Array.from({ length: 150_000 }, () => 1)
    const [moved, replaced] = [
      { op: 'move', from: '/a', path: '/b' },
      { op: 'replace', path: '/b', value: list },
    ]
    expect(patched(JSON.stringify({ a: list }), moved, replaced)).toBe(JSON.stringify({ b: list }))
  })

  test('but not one that only makes it smaller', () => {
    const large = JSON.stringify(Array.from({ length: 300_000 }, () => 1))
    expect(patched(large, { op: 'remove', path: '/0' })).toHaveLength(large.length - 2)
  })
})

test('a document of more values than are read in a moment is left alone', () => {
  const operation = { op: 'replace', path: '/amount', value: 2 }
  expect(() => patched(`{"amount":1,"lines":[${'1,'.repeat(maxPatchedValues)}1]}`, operation)).toThrow(
    new PatchError(`the document consists of more than ${maxPatchedValues} values`),
  )
})
