import { expect, test } from 'vitest'
import { suspectIn } from './suspect.ts'

const at = (text: string, error: string) => {
  const range = suspectIn(text, error)
  return range === null ? null : text.slice(range.from, range.to)
}

test('the field that the error names is where the change begins', () => {
  expect(at('{"order_id": "4711", "amount": -5}', 'amount -5 is negative')).toBe('-5')
  expect(at('{"a": 1, "lines": [{"total": "12,50"}]}', 'the total cannot be read')).toBe('"12,50"')
})

test('a value that the error quotes is enough, and a part of a word is not', () => {
  expect(at('{"a": 1, "b": "twelve"}', 'no number: twelve')).toBe('"twelve"')
  expect(at('{"a": 1, "b": "twelve"}', 'no number: twelvefold')).toBeNull()
})

test('name and value together say more than a name alone', () => {
  expect(at('[{"amount": 7}, {"amount": -55}]', 'amount -55 is negative')).toBe('-55')
})

test('nothing is chosen where the text is no JSON or the error names nothing of it', () => {
  expect(at('amount=-5', 'amount -5 is negative')).toBeNull()
  expect(at('{"amount": 5}', 'the card network did not answer')).toBeNull()
})

test('a value that is thousands of lists deep is read too', () => {
  const text = `${'['.repeat(3000)}{"amount":-5}${']'.repeat(3000)}`
  expect(suspectIn(text, 'the amount is negative')).toEqual({ from: 3010, to: 3012 })
})
