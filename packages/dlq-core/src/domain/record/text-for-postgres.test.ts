import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isStorableText, textForPostgres } from './text-for-postgres.ts'

describe('text for a PostgreSQL column', () => {
  test('ordinary text stays as it is', () => {
    expect(textForPostgres('größe 🚚\n', 100)).toBe('größe 🚚\n')
  })

  test('NUL and lone surrogates become the replacement character', () => {
    expect(textForPostgres('a\0b\ud800c\udc00', 100)).toBe('a\ufffdb\ufffdc\ufffd')
  })

  test('the cut falls between characters', () => {
    expect(textForPostgres('aé', 3)).toBe('aé')
    expect(textForPostgres('aé', 2)).toBe('a')
    expect(textForPostgres('🚚🚚', 8)).toBe('🚚🚚')
    expect(textForPostgres('🚚🚚', 7)).toBe('🚚')
    expect(textForPostgres('🚚', 3)).toBe('')
    expect(textForPostgres('abc', 0)).toBe('')
  })

  test('a replacement counts with the three bytes it takes', () => {
    expect(textForPostgres('\0\0', 5)).toBe('\ufffd')
  })

  test('the result fits, PostgreSQL can store it, and it is the longest such start of the text', () => {
    const units = fc.constantFrom('a', '\0', 'é', '日', '🚚', '\ud83d', '\ude9a')
    fc.assert(
      fc.property(fc.array(units, { maxLength: 20 }), fc.nat({ max: 40 }), (parts, maxBytes) => {
        const whole = parts.join('').replaceAll('\0', '\ufffd').toWellFormed()
        const text = textForPostgres(parts.join(''), maxBytes)
        expect(whole.startsWith(text)).toBe(true)
        expect(text.isWellFormed()).toBe(true)
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes)
        const [next = ''] = whole.slice(text.length)
        if (next !== '') expect(Buffer.byteLength(text + next)).toBeGreaterThan(maxBytes)
      }),
      { numRuns: 1000 },
    )
  })
})

test.each([
  ['größe 🚚', true],
  ['', true],
  ['a\0', false],
  ['\ud83d', false],
])('%o is stored as it is: %s', (text, isStorable) => expect(isStorableText(text)).toBe(isStorable))
