import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createCodec } from './create-codec.ts'
import { compilePlans } from './payload-settings.ts'
import { readPayload, type SchemaEntry } from './read-payload.ts'
import { rewritePayload } from './write-payload.ts'

const definition = JSON.stringify({
  type: 'record',
  name: 'Order',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'lines', type: { type: 'array', items: 'int' } },
    { name: 'by', type: { type: 'map', values: 'int' } },
  ],
})
const ref = { registry: 'main', kind: 'id' as const, id: '5' }
const source = { type: 'avro', definition, references: [], encrypted: false } as const
const schema: SchemaEntry = {
  ...{ state: 'known', number: 1, ref, type: 'avro', name: 'Order', encrypted: false },
  ...{ codec: createCodec(source), source },
}
const plan = compilePlans({ registries: [{ name: 'main', type: 'confluent', topics: ['*'] }], rules: [] })({
  original_topic: 'orders',
  dlq_topic: null,
})

function rewrite(bytes: Buffer, json: string, reencode = false) {
  const reading = readPayload(bytes, { part: 'value', headers: [], plan, maxBytes: 1000, schemaOf: () => schema })
  return rewritePayload(bytes, reading, { json, reencode })
}

const frame = Buffer.from([0, 0, 0, 0, 5])
/** {"id":7,"lines":[1,2],"by":{"z":1,"aa":2}} */
const plain = Buffer.concat([frame, Buffer.from([14, 4, 2, 4, 0, 4, 2, 0x7a, 2, 4, 0x61, 0x61, 4, 0])])
/** The same, its list in two blocks. */
const inBlocks = Buffer.concat([frame, Buffer.from([14, 2, 2, 2, 4, 0, 4, 2, 0x7a, 2, 4, 0x61, 0x61, 4, 0])])

describe('a changed value', () => {
  test('keeps its frame, and all bytes of what was not changed', () => {
    const changed = Buffer.from(plain)
    changed[5] = 16
    expect(rewrite(plain, '{"id":8,"lines":[1,2],"by":{"z":1,"aa":2}}')).toEqual({ kind: 'written', bytes: changed })
  })

  test('keeps the order of a map that PostgreSQL has sorted', () => {
    const changed = Buffer.from(plain)
    changed[5] = 16
    expect(rewrite(plain, '{"by": {"aa": 2, "z": 1}, "id": 8, "lines": [1, 2]}')).toEqual({
      kind: 'written',
      bytes: changed,
    })
    expect(rewrite(plain, '{"by": {"aa": 2, "z": 1}, "id": 7, "lines": [1, 2]}')).toEqual({ kind: 'unchanged' })
  })

  test('has new keys of a map behind those that it had, and removed ones no more', () => {
    const withMap = (...map: number[]) => Buffer.concat([plain.subarray(0, 10), Buffer.from([...map, 0])])
    expect(rewrite(plain, '{"by": {"aa": 2, "b": 3, "z": 1}, "id": 7, "lines": [1, 2]}')).toEqual({
      kind: 'written',
      bytes: withMap(6, 2, 0x7a, 2, 4, 0x61, 0x61, 4, 2, 0x62, 6),
    })
    expect(rewrite(plain, '{"by": {"aa": 2}, "id": 7, "lines": [1, 2]}')).toEqual({
      kind: 'written',
      bytes: withMap(2, 4, 0x61, 0x61, 4),
    })
  })

  test('keeps the order of maps within a list', () => {
    const listed = { ...source, definition: '{"type":"array","items":{"type":"map","values":"int"}}' }
    const listOf = (aa: number) => Buffer.concat([frame, Buffer.from([2, 4, 2, 0x7a, 2, 4, 0x61, 0x61, aa, 0, 0])])
    const entry = { ...schema, codec: createCodec(listed), source: listed } as SchemaEntry
    const reading = readPayload(listOf(4), { part: 'value', headers: [], plan, maxBytes: 1000, schemaOf: () => entry })
    expect(rewritePayload(listOf(4), reading, { json: '[{"aa": 3, "z": 1}]', reencode: false })).toEqual({
      kind: 'written',
      bytes: listOf(6),
    })
  })

  test('that could not be read cannot be written', () => {
    expect(() => rewrite(Buffer.from('text'), '1')).toThrow('the value is not decoded: it is no JSON')
    expect(() => rewrite(plain.subarray(0, 8), '1')).toThrow(/^the value is not decoded: (?!it is no JSON)/)
  })

  test('whose writer encoded it otherwise is refused, unless that is accepted', () => {
    const json = '{"id":8,"lines":[1,2],"by":{"z":1,"aa":2}}'
    expect(rewrite(inBlocks, json)).toEqual({ kind: 'not_exact', reasons: [expect.stringContaining('several blocks')] })
    const changed = Buffer.from(plain)
    changed[5] = 16
    expect(rewrite(inBlocks, json, true)).toEqual({ kind: 'written', bytes: changed })
    expect(rewrite(inBlocks, '{"id":7,"lines":[1,2],"by":{"z":1,"aa":2}}')).toEqual({ kind: 'unchanged' })
  })

  test('is compressed as it was', () => {
    const changed = Buffer.from(plain)
    changed[5] = 16
    expect(rewrite(gzipSync(plain), '{"id":8,"lines":[1,2],"by":{"z":1,"aa":2}}')).toEqual({
      kind: 'written',
      bytes: gzipSync(changed),
    })
    expect(rewrite(gzipSync(plain, { level: 1 }), '{"id":8,"lines":[1,2],"by":{"z":1,"aa":2}}')).toMatchObject({
      kind: 'not_exact',
    })
  })

  test('that does not fit its schema names the path', () => {
    expect(() => rewrite(plain, '{"id":8,"lines":[1,"2"],"by":{}}')).toThrow('/lines/1 must be an integer of 32 bits')
  })

  test('of MessagePack is never refused for how it was written', () => {
    const packed = gzipSync(Buffer.from('82a16acd0001a16b07', 'hex'))
    const reading = readPayload(packed, {
      ...{ part: 'value', headers: [], maxBytes: 1000, schemaOf: () => undefined },
      plan: { ...plan, value: { format: 'msgpack' } },
    })
    expect(rewritePayload(packed, reading, { json: '{"k": 7, "j": 1}', reencode: false })).toEqual({
      kind: 'unchanged',
    })
    expect(rewritePayload(packed, reading, { json: '{"k": 8, "j": 1}', reencode: false })).toEqual({
      kind: 'written',
      bytes: gzipSync(Buffer.from('82a16acd0001a16b08', 'hex')),
    })
  })

  test('of JSON keeps the digits of its numbers', () => {
    expect(rewrite(Buffer.from('{ "a": 1.10, "b": 2 }'), '{"a":1.10,"b":12345678901234567890.12}')).toEqual({
      kind: 'written',
      bytes: Buffer.from('{"a":1.10,"b":12345678901234567890.12}'),
    })
  })

  test('that its JSON Schema does not allow is refused, unless somebody insists', () => {
    const definition = '{"properties":{"a":{"type":"integer"}}}'
    const source = { type: 'json', definition, references: [], encrypted: false } as const
    const json: SchemaEntry = {
      ...{ state: 'known', number: 1, ref, type: 'json', name: null, encrypted: false },
      ...{ codec: createCodec(source), source },
    }
    const bytes = Buffer.concat([frame, Buffer.from('{"a":1}')])
    const reading = readPayload(bytes, { part: 'value', headers: [], plan, maxBytes: 1000, schemaOf: () => json })
    const wanted = { json: '{"a":"x"}', reencode: false }
    expect(rewritePayload(bytes, reading, wanted)).toEqual({
      kind: 'violates',
      problem: expect.stringMatching(/^\/a: /),
    })
    expect(rewritePayload(bytes, reading, { ...wanted, force: true })).toEqual({
      kind: 'written',
      bytes: Buffer.concat([frame, Buffer.from('{"a":"x"}')]),
    })
    // What did not fit before may stay.
    const wrong = Buffer.concat([frame, Buffer.from('{"a":"x"}')])
    const read = readPayload(wrong, { part: 'value', headers: [], plan, maxBytes: 1000, schemaOf: () => json })
    expect(rewritePayload(wrong, read, wanted)).toEqual({ kind: 'unchanged' })
  })

  test('that was never decoded is refused', () => {
    expect(() => rewrite(Buffer.from([0xff]), '{}')).toThrow('the value is not decoded')
  })
})
