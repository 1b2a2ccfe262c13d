import { describe, expect, test } from 'vitest'
import { createJsonCodec, namedJsonSchema } from './json-codec.ts'

const order = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer' }, total: { $ref: 'money.json' }, note: { type: 'string', maxLength: 3 } },
  additionalProperties: false,
}
const money = namedJsonSchema('{"type":"object","properties":{"cents":{"type":"integer","minimum":0}}}', 'money.json')
const violationOf = (json: string, schema: unknown = order, references: readonly string[] = [money]) =>
  createJsonCodec(JSON.stringify(schema), references).violationOf!(json)

describe('a value is checked against its JSON Schema', () => {
  test.each([
    ['{"id":7,"total":{"cents":5},"note":"abc"}', null],
    ['{"id":12345678901234567890}', null],
    ['{"id":"7"}', /^\/id: /],
    ['{"id":7,"total":{"cents":-1}}', /^\/total\/cents: /],
    ['{"id":7,"note":"abcd"}', /^\/note: /],
    ['{"note":"a"}', /^the value: .*"id"/],
    ['{"id":7,"other":1}', /other/],
  ])('%s', (json, problem) => {
    if (problem === null) expect(violationOf(json)).toBeNull()
    else expect(violationOf(json)).toMatch(problem)
  })

  test('of the draft that it names', () => {
    const schema = { $ref: '#/definitions/small', minLength: 3, definitions: { small: { type: 'string' } } }
    // Until draft 7, what stands beside a reference does not count.
    expect(violationOf('"a"', { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' })).toBeNull()
    expect(violationOf('"a"', schema)).toBeNull()
    expect(violationOf('"a"', { ...schema, $schema: 'https://json-schema.org/draft/2020-12/schema' })).not.toBeNull()
    expect(violationOf('"a"', { ...schema, $schema: 'https://json-schema.org/draft/2019-09/schema' })).not.toBeNull()
    // In draft 4 it is a yes or no.
    const below = { maximum: 5, exclusiveMaximum: true }
    expect(violationOf('5', { ...below, $schema: 'http://json-schema.org/draft-04/schema#' })).not.toBeNull()
    expect(violationOf('4', { ...below, $schema: 'http://json-schema.org/draft-04/schema#' })).toBeNull()
  })

  test('whose references stand beside the id that it has', () => {
    const named = { ...order, $id: 'https://acme.example/schemas/order.json' }
    expect(violationOf('{"id":7,"total":{"cents":-1}}', named)).toMatch(/^\/total\/cents: /)
  })

  test('which may be a yes or no to everything, as what it refers to may be', () => {
    expect(violationOf('1', true)).toBeNull()
    expect(violationOf('1', false)).not.toBeNull()
    expect(violationOf('{"id":7,"total":{"cents":1}}', order, ['true', '{}', money])).toBeNull()
  })

  test('and one that refers to what nobody has given cannot be checked', () => {
    expect(violationOf('{"id":7,"total":{}}', order, [])).toMatch(/^the schema cannot be checked: .*money\.json/)
  })
})

test('a value is the JSON behind its frame', () => {
  const codec = createJsonCodec('{}', [])
  expect(codec.read(Buffer.from('xx{"a": 1.10}'), 2)).toBe('{"a": 1.10}')
  expect(() => codec.read(Buffer.from('xx{"a"'), 2)).toThrow('it is no JSON')
})

test.each(['{"$id":"own"}', '[]', 'true', 'null', 'no JSON'])('%s gets no name', (definition) =>
  expect(namedJsonSchema(definition, 'money.json')).toBe(definition),
)

describe('a hostile schema', () => {
  const start = (work: () => string | null) => {
    const startedAt = performance.now()
    const said = work()
    // 200 ms, on a machine that does nothing else.
    expect(performance.now() - startedAt).toBeLessThan(2000)
    return said
  }

  test('whose pattern never ends is ended', () => {
    const said = start(() => violationOf(JSON.stringify(`${'a'.repeat(40)}!`), { pattern: '^(a+)+$' }))
    expect(said).toBe('the schema cannot be checked: it takes longer than 200 ms')
  })

  test('whose branches double at each level is ended', () => {
    const node = { properties: { a: { anyOf: [{ $ref: '#' }, { $ref: '#' }] } }, minProperties: 1, type: 'object' }
    const deep = `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`
    expect(start(() => violationOf(deep, node))).toMatch(/cannot be checked: it (takes longer|is nested)/)
  })

  test('that refers to itself, or is none, is a fault', () => {
    expect(start(() => violationOf('1', { $ref: '#' }))).toMatch(/cannot be checked: it is nested too deeply/)
    expect(createJsonCodec('no json', []).violationOf!('1')).toMatch(/^the schema cannot be checked: /)
    expect(violationOf('1', { pattern: '(' })).toBeNull()
    expect(violationOf('"a"', { pattern: '(' })).toMatch(/cannot be checked/)
  })
})
