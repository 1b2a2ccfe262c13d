import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exactJsonOf, parseExact } from './exact-json.ts'

const again = (text: string) => JSON.stringify(parseExact(text))

test.each([
  '12345678901234567890.12',
  '[1.0,-0,1e400,1E+2,-0.000]',
  '{"a":{"b":[1.10,"1.10","-5"]},"":0}',
  '{"__proto__":1.0,"constructor":{"__proto__":[2.50]}}',
  '"\\\\"',
  '[true,null,"e5","-",""]',
])('%s is given back as it was', (text) => {
  expect(again(text)).toBe(text)
})

test('any JSON is given back as JSON.stringify writes it, with every digit', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      expect(again(text)).toBe(text)
    }),
  )
})

test('texts of characters for private use are texts', () => {
  const text = JSON.stringify(Array.from({ length: 0x1900 }, (_, n) => `${String.fromCharCode(0xe000 + n)}1`))
  expect(again(text)).toBe(text)
})

test.each(['01', '1.', '-', '[1 2]', '{1:2}', '{"a":1-2}', '1e', '--1', '[1.2.3]', '+1', '"a"1', '', '[1'])(
  '%s is no JSON',
  (text) => {
    expect(() => parseExact(text)).toThrow(SyntaxError)
  },
)

test('a field is found by its path', () => {
  expect(exactJsonOf('{"a": {"b": 1.00}}', ['a', 'b'])).toBe('1.00')
})
