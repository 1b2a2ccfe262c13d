import fc from 'fast-check'
import { expect, test } from 'vitest'
import { namedSteering, piecesOf } from './directions.ts'

test('a text from left to right is one text', () => {
  expect(piecesOf('{"name": "Zoë 支付 👩‍👧"}')).toBeNull()
})

const plain = (text: string) => ({ isApart: false, parts: [{ text, isName: false }] })
const apart = (text: string) => ({ isApart: true, parts: [{ text, isName: false }] })

test('keys and values that are read from right to left stay at their places', () => {
  const pieces = [plain('{'), apart('"שם"'), plain(': '), apart('"דוד"'), plain(', '), plain('"n"'), plain(': 1}')]
  expect(piecesOf('{"שם": "דוד", "n": 1}')).toEqual(pieces)
})

test('a character that turns the text around is named, and turns nothing', () => {
  expect(piecesOf('["x\u202eabc"]')).toEqual([
    plain('['),
    {
      isApart: false,
      parts: [
        { text: '"x', isName: false },
        { text: 'U+202E', isName: true },
        { text: 'abc"', isName: false },
      ],
    },
    plain(']'),
  ])
})

test('nothing of a text is lost', () => {
  const letters = fc.array(fc.constantFrom('"', '\\', '\n', 'a', 'ש', ':', ' '), { maxLength: 30 })
  fc.assert(
    fc.property(letters, (some) => {
      const text = `ש${some.join('')}`
      const parts = (piecesOf(text) ?? []).flatMap(({ parts }) => parts)
      expect(parts.map((part) => part.text).join('')).toBe(text)
    }),
  )
})

test('where there is no markup, what would turn the text around is named too', () => {
  expect(namedSteering('Refused \u202e(evil)\u202c, \u202eagain')).toBe('Refused U+202E(evil)U+202C, U+202Eagain')
})
