import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxProjectedBytes, maxProjectedDepth, projectPayload, projectWritten } from './payload-projection.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

const kept: [title: string, json: string][] = [
  ['an object', '{"a":[1,2,{"b":null}],"c":true,"d":false}'],
  ['white space anywhere it may stand', ' \n\r\t{ "a" : [ 1 , 2 ] , "b" : { } , "c" : [ ] } \n'],
  ['a bare string', '"text"'],
  ['a bare number', '-0'],
  ['null', 'null'],
  ['text beyond ASCII', '{"größe":"日本語 🚚"}'],
  ['every short escape', String.raw`"\"\\\/\b\f\n\r\t"`],
  ['escaped characters other than U+0000', String.raw`"\u0001\u00e9\uFFFF"`],
  ['an escaped surrogate pair', String.raw`"\ud83d\uDE9A"`],
  ['an escaped backslash before u0000', String.raw`"\\u0000"`],
  ['more digits than a JavaScript number holds', '12345678901234567890.12'],
  ['a number that is Infinity in JavaScript', '1e400'],
  ['the largest exponent that numeric holds', '1e131071'],
  ['the smallest exponent that numeric holds', '1e-16383'],
  ['as many digits as numeric holds before the point', '9'.repeat(131_072)],
  ['as many digits as numeric holds after the point', `0.${'9'.repeat(16_383)}`],
  ['an exponent with leading zeros', '1E+000000000000000000000000000000002'],
  ['many numbers with exponents', `[${Array(100_000).fill('1.5e-12,2E18').join()}]`],
  ['keys that repeat', '{"a":1,"a":2}'],
  ['an empty key', '{"":{"__proto__":1}}'],
  ['nesting up to the bound', nested(maxProjectedDepth)],
  ['objects nested up to the bound', `${'{"a":'.repeat(maxProjectedDepth)}1${'}'.repeat(maxProjectedDepth)}`],
]

const refused: [title: string, value: string | Buffer][] = [
  ['no bytes at all', ''],
  ['white space alone', ' \n'],
  ['a byte order mark', '\ufeff{}'],
  ['an escaped U+0000', String.raw`{"a":"\u0000"}`],
  ['an escaped U+0000 in a key', String.raw`{"\u0000":1}`],
  ['a high surrogate alone', String.raw`"\ud83d"`],
  ['a high surrogate before a character', String.raw`"\ud83dx"`],
  ['a high surrogate before another escape', String.raw`"\ud83d\n"`],
  ['a high surrogate before what only looks like an escape', String.raw`"\ud83d/ude9a"`],
  ['two high surrogates', String.raw`"\ud83d\ud83d"`],
  ['a low surrogate alone', String.raw`"\ude9a"`],
  ['an escape of three digits', String.raw`"\u12"`],
  ['an unknown escape', String.raw`"\x41"`],
  ['an exponent beyond numeric', '1e131072'],
  ['an exponent beyond any number', `1e${'9'.repeat(400)}`],
  ['a negative exponent beyond numeric', '1e-16384'],
  ['an exponent that only its digits carry beyond numeric', '10e131071'],
  ['a fraction that only its exponent carries beyond numeric', `0.${'1'.repeat(16_000)}e-400`],
  ['few bytes that are megabytes when they are written out', `[${Array(5).fill('1e131071').join()}]`],
  ['the same after the point', `[${Array(40).fill('1e-16383').join()}]`],
  ['too many digits before the point', '9'.repeat(131_073)],
  ['too many digits after the point', `0.${'9'.repeat(16_384)}`],
  ['nesting past the bound', nested(maxProjectedDepth + 1)],
  ['objects nested past the bound', `${'{"a":'.repeat(maxProjectedDepth + 1)}1${'}'.repeat(maxProjectedDepth + 1)}`],
  ['a million open brackets', '['.repeat(1_000_000)],
  ['a raw control character in a string', '"a\nb"'],
  ['a raw NUL', '"\0"'],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ['a surrogate written as three bytes', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['UTF-8 cut inside a character', Buffer.from([0x22, 0xc3])],
  ['two documents', '{}{}'],
  ['a comma at the end', '[1,]'],
  ['a comma at the start', '[,1]'],
  ['a key without quotes', '{a:1}'],
  ['a key without value', '{"a"}'],
  ['a bracket closed by a brace', '[1}'],
  ['a document that ends early', '{"a":[1,2'],
  ['a string that does not end', '"abc'],
  ['a leading zero', '01'],
  ['a leading plus', '+1'],
  ['a point without digits', '1.'],
  ['an exponent without digits', '1e+'],
  ['a minus alone', '-'],
  ['NaN', 'NaN'],
  ['half a word', 'tru'],
  ['a word with more letters', 'nullx'],
  ['a schema registry frame', Buffer.from([0, 0, 0, 0, 7, 0x7b, 0x7d])],
]

describe('the value of a payload column', () => {
  test.each(kept)('%s is projected character for character', (_, json) => {
    expect(projectPayload(Buffer.from(json))).toBe(json)
  })

  test.each(refused)('%s is not projected', (_, value) => {
    expect(projectPayload(Buffer.from(value))).toBeNull()
  })

  test('a tombstone has no projection', () => {
    expect(projectPayload(null)).toBeNull()
  })

  test('a value is projected up to the byte bound and not past it', () => {
    const fits = `"${'x'.repeat(maxProjectedBytes - 2)}"`
    expect(projectPayload(Buffer.from(fits))).toBe(fits)
    expect(projectPayload(Buffer.from(`${fits} `))).toBeNull()
  })
})

/** The scan must agree with this wherever jsonb itself accepts the value. */
function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
    return true
  } catch {
    return false
  }
}

describe('against JSON.parse', () => {
  test('all JSON without hazards is projected unchanged, compact or spaced', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 2, '\t'), (value, indent) => {
        const json = JSON.stringify(value, null, indent).replaceAll('\\u0000', '\\u0001')
        expect(projectPayload(Buffer.from(json))).toBe(json)
      }),
    )
  })

  test('bytes at random are projected only if they are JSON', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (array) => {
        const bytes = Buffer.from(array)
        const projected = projectPayload(bytes)
        if (projected === null) return
        expect(isJson(bytes)).toBe(true)
        expect(Buffer.from(projected)).toEqual(bytes)
      }),
      { numRuns: 2000 },
    )
  })

  test('JSON with characters swapped, cut or repeated is judged as JSON.parse judges it', () => {
    const fragment = fc.constantFrom(...'{}[]",:\\u0eE+-.1 \n', 'true', 'null', '\\n', '\\u00e9', 'é', '"a":', '1e5')
    const source = fc.jsonValue().map((value) => JSON.stringify(value))
    fc.assert(
      fc.property(source, fc.nat(), fc.nat({ max: 3 }), fragment, (json, at, dropped, inserted) => {
        const start = at % (json.length + 1)
        const mutated = Buffer.from(json.slice(0, start) + inserted + json.slice(start + dropped))
        const hazard = /\\u(?:0000|d[89a-f])/i.test(mutated.toString()) || /[eE][+-]?\d{4}/.test(mutated.toString())
        if (!hazard) expect(projectPayload(mutated) !== null).toBe(isJson(mutated))
      }),
      { numRuns: 3000 },
    )
  })

  test('sequences of tokens are judged as JSON.parse judges them', () => {
    const token = fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '1', '-', '0', '.5', 'e1', 'true', 'null', ' ')
    fc.assert(
      fc.property(fc.array(token, { maxLength: 10 }), (tokens) => {
        const bytes = Buffer.from(tokens.join(''))
        expect(projectPayload(bytes) !== null).toBe(isJson(bytes))
      }),
      { numRuns: 5000 },
    )
  })
})

test('text that a reader has written is projected as its bytes are', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = JSON.stringify(value)
      expect(projectWritten(text)).toBe(projectPayload(Buffer.from(text)))
    }),
  )
  for (const text of ['"\\u0000"', '"\\ud800"', '"\\\\u0000"', `"${'ü'.repeat(maxProjectedBytes / 2)}"`])
    expect(projectWritten(text), text.slice(0, 20)).toBe(projectPayload(Buffer.from(text)))
  expect(projectWritten('"\\u0000"')).toBeNull()
  expect(projectWritten(`[${Array(100_000).fill('1e+308').join()}]`)).toBeNull()
})
