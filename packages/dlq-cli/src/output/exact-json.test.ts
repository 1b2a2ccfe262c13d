import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exactJson, keepDigits } from './exact-json.ts'

const printed = (json: string) => exactJson(JSON.parse(keepDigits(json)))

test('numbers keep all their digits, in texts and beside them', () => {
  const json =
    '{"amount":12345678901234567890.12,"id":9007199254740993,"price":1.50,"big":1e400,"n":-7,"t":"\\"1.50\\\\"}'
  expect(printed(json)).toBe(json)
  expect(JSON.parse(keepDigits('{"n":12,"rate":0.25}'))).toEqual({ n: 12, rate: 0.25 })
})

test('any JSON is printed as JSON.stringify prints it', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      expect(printed(json)).toBe(JSON.stringify(JSON.parse(json)))
    }),
  )
})
