import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ExactNumber, exactJson } from './exact-json.ts'

const printed = (json: string) => exactJson.stringify(exactJson.parse(json))

test('numbers keep all their digits, in texts and beside them', () => {
  const json =
    '{"amount":12345678901234567890.12,"id":9007199254740993,"price":1.50,"big":1e400,"n":-7,"t":"\\"1.50\\\\"}'
  expect(printed(json)).toBe(json)
  expect(exactJson.parse('{"n":12,"rate":0.25}')).toEqual({ n: 12, rate: 0.25 })
})

test('any JSON is printed as JSON.stringify prints it', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      expect(printed(json)).toBe(JSON.stringify(JSON.parse(json)))
    }),
  )
  expect(exactJson.stringify({ a: [1] }, 2)).toBe('{\n  "a": [\n    1\n  ]\n}')
})

test('an exact number counts and prints as one, and JSON.stringify loses none of its digits', () => {
  const { n } = exactJson.parse('{"n":12345678901234567890}') as { n: ExactNumber }
  expect(n).toBeInstanceOf(ExactNumber)
  expect([`${n}`, BigInt(n.text), +n]).toEqual(['12345678901234567890', 12345678901234567890n, 12345678901234567000])
  expect(JSON.stringify({ n })).toMatch(/^{"n":"?12345678901234567890"?}$/)
  expect(exactJson.stringify(new ExactNumber('0.10'))).toBe('0.10')
})

test('what is no number of JSON cannot get into JSON as one', () => {
  for (const text of ['', '1,"a":2', '01', '+1', 'NaN', '0x10', '1.', '"1"'])
    expect(() => new ExactNumber(text), text).toThrow('not a number of JSON')
})
