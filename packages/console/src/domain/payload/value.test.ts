import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cameOnOneLine, confluentSchemaId, layOut, maxWorkerChars, onOneLine, readValue } from './value.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test('laying out changes white space only, for any JSON', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'grapheme' }), (text) => {
      expect(onOneLine(layOut(text))).toBe(onOneLine(text))
    }),
  )
})

test('digits, escapes and names that repeat stay', () => {
  const text = '{"n":12345678901234567890.120,"n":"\\u0000 a b","s":"\\"  \\\\"}'
  expect(layOut(text)).toContain('12345678901234567890.120')
  expect(onOneLine(layOut(text))).toBe(text)
  expect(cameOnOneLine(text)).toBe(true)
  expect(cameOnOneLine('{"a": 1}')).toBe(false)
})

test('JSON is laid out as JSON.stringify does, empty lists and objects on one line', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      expect(layOut(text)).toBe(JSON.stringify(JSON.parse(text), null, 2))
    }),
  )
})

test('neither many tokens nor a deep value become much more than they are', () => {
  const many = `[${Array.from({ length: 120_000 }, () => 1).join(',')}]`
  expect(layOut(many)).toHaveLength(many.length + 120_000 * 3 + 1)
  const deep = `${'['.repeat(3000)}${']'.repeat(3000)}`
  expect(layOut(deep).length).toBeLessThan(6000 * 66)
  expect(onOneLine(layOut(deep))).toBe(deep)
})

test('a worker lays out what would hold up the page, unless it would become tens of megabytes', () => {
  const rows = JSON.stringify(Array.from({ length: 30_000 }, (_, id) => ({ id, name: 'n'.repeat(20) })))
  expect(layOut(rows)).toBe(rows)
  expect(layOut(rows, maxWorkerChars)).toBe(JSON.stringify(JSON.parse(rows), null, 2))
  const deep = `${'['.repeat(40)}${Array.from({ length: 1_000_000 }, () => 1).join(',')}${']'.repeat(40)}`
  expect(layOut(deep, maxWorkerChars)).toBe(deep)
})

test('broken JSON stays as it is', () => {
  expect(layOut('{"a": 1,, }')).toBe('{"a": 1,, }')
  expect(onOneLine('{"a": 1,, }')).toBe('{"a": 1,, }')
})

test('bytes are JSON, text, or bytes, and nothing is guessed', () => {
  expect(readValue(bytes('{"a":1}'))).toEqual({ kind: 'json', text: '{"a":1}' })
  expect(readValue(bytes('hello'))).toEqual({ kind: 'text', text: 'hello' })
  expect(readValue(bytes(''))).toEqual({ kind: 'text', text: '' })
  expect(readValue(new Uint8Array([0xff, 0xfe])).kind).toBe('bytes')
  expect(readValue(new Uint8Array([0, 0, 0, 0, 42, 2])).kind).toBe('bytes')
})

test('the schema id of Confluent’s framing is four bytes after a zero', () => {
  expect(confluentSchemaId(new Uint8Array([0, 0, 0, 1, 2, 9]))).toBe(258)
  expect(confluentSchemaId(bytes('{"a":1}'))).toBeNull()
})
