import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cameOnOneLine, confluentSchemaId, layOut, onOneLine, readValue } from './value.ts'

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
