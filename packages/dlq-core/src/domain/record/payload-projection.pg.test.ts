import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { maxProjectedBytes, maxProjectedDepth, projectPayload } from './payload-projection.ts'

const database = useDatabase()

beforeAll(async () => {
  await database.sql`create table projected (payload jsonb)`
})

/** Bound as text: a string bound to jsonb itself would be encoded a second time by the driver. */
const insert = (json: string) => database.sql`insert into projected (payload) values (${json}::text::jsonb)`

const repeatToBound = (unit: string) => `[${unit.repeat(Math.floor((maxProjectedBytes - 4) / unit.length))}0]`

const atTheLimits: [title: string, json: string][] = [
  ['the deepest nesting', `${'[{"a":'.repeat(maxProjectedDepth / 2)}1${'}]'.repeat(maxProjectedDepth / 2)}`],
  ['the longest string', `"${'x'.repeat(maxProjectedBytes - 2)}"`],
  ['the longest key', `{"${'x'.repeat(maxProjectedBytes - 6)}":1}`],
  ['the most elements', repeatToBound('1,')],
  ['the most empty objects', repeatToBound('{},')],
  ['the largest exponent', '[1e131071,-9.99e131071,0.001e131071]'],
  ['the smallest exponent', '[1e-16383,-9.5e-16382]'],
  ['the most digits', `${'9'.repeat(131_072)}.${'9'.repeat(16_383)}`],
  ['more digits than a JavaScript number holds', '12345678901234567890.12'],
  ['an exponent with leading zeros', '1e+0000000000000000000000000005'],
  ['escapes', String.raw`{"\"\\\/\b\f\n\r\t\u0001\uFFFF\ud83d\uDE9A":"\\u0000"}`],
  ['characters that Unicode reserves', '"\ufdd0\ufffe\uffff\u{10ffff}\x7f\ufeff"'],
  ['an empty key and one that repeats', '{"":1,"":2}'],
  ['negative zero', '-0'],
]

const hazards: [title: string, json: string][] = [
  ['an escaped U+0000', String.raw`"\u0000"`],
  ['a lone high surrogate', String.raw`"\ud83d"`],
  ['a lone low surrogate', String.raw`"\ude9a"`],
  ['an exponent beyond numeric', '1e131072'],
  ['a negative exponent beyond numeric', '1e-16384'],
  ['a zero with such an exponent', '0e-16384'],
  ['too many digits before the point', '9'.repeat(131_073)],
  ['too many digits after the point', `0.${'9'.repeat(16_384)}`],
  ['nesting that exhausts the stack', '['.repeat(100_000) + ']'.repeat(100_000)],
]

describe('jsonb', () => {
  test.each(atTheLimits)('takes %s', async (_, json) => {
    expect(projectPayload(Buffer.from(json)) === json).toBe(true)
    await insert(json)
  })

  test.each(hazards)('refuses %s, which is why it is not projected', async (_, json) => {
    expect(projectPayload(Buffer.from(json))).toBeNull()
    await expect(insert(json)).rejects.toThrow()
  })

  test('keeps all digits of a number that JavaScript would round', async () => {
    const json = projectPayload(Buffer.from('{"total":12345678901234567890.12}'))
    const [row] = await database.sql`select ((${json}::text)::jsonb ->> 'total') as total`
    expect(row?.total).toBe('12345678901234567890.12')
  })

  test('accepts every projection, whatever the bytes', async () => {
    const escaped = fc.nat({ max: 0xffff }).map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    const surrogate = fc.integer({ min: 0xd7ff, max: 0xe000 }).map((unit) => `\\u${unit.toString(16)}`)
    const exponent = fc
      .tuple(fc.constantFrom('1', '-2.50', '0', '1234.5678'), fc.integer({ min: -20_000, max: 140_000 }))
      .map(([digits, power]) => `${digits}e${power}`)
    const text = fc.array(fc.oneof(escaped, surrogate, fc.constantFrom('a', 'é', '🚚', '\\n')), { maxLength: 4 })
    const value = fc.oneof(
      fc.jsonValue().map((json) => JSON.stringify(json)),
      fc.string({ unit: 'binary' }).map((string) => JSON.stringify(string)),
      text.map((parts) => `"${parts.join('')}"`),
      exponent,
    )
    const document = fc
      .tuple(value, value, text)
      .map(([first, second, key]) => `{"${key.join('')}":[${first},${second}]}`)
    const mutated = fc
      .tuple(
        fc.oneof(value, document),
        fc.nat(),
        fc.nat({ max: 2 }),
        fc.constantFrom('', '\\', '"', 'e9', '[', '0', '\0'),
      )
      .map(([json, at, dropped, inserted]) => {
        const start = at % (json.length + 1)
        return json.slice(0, start) + inserted + json.slice(start + dropped)
      })
    const bytes = fc.oneof(
      fc.oneof(value, document, mutated).map((json) => Buffer.from(json)),
      fc.uint8Array({ maxLength: 6 }).map((array) => Buffer.from(array)),
    )

    let projections = 0
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { minLength: 20, maxLength: 50, size: 'max' }), async (values) => {
        const projected = values.map((value) => projectPayload(value)).filter((json) => json !== null)
        projections += projected.length
        await database.sql`
          insert into projected (payload)
          select json::jsonb from unnest(${projected}::text[]) as json`
      }),
      { numRuns: 100 },
    )
    expect(projections).toBeGreaterThan(500)
  })
})
