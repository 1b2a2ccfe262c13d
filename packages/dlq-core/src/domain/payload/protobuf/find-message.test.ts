// How Glue's, Apicurio's and Confluent's serializers say which message a value is, with bytes that they have written.

import { describe, expect, test } from 'vitest'
import type { Header } from '../../record/record.ts'
import { createCodec } from '../create-codec.ts'
import { compilePlans, type RegistryKind } from '../payload-settings.ts'
import { type KnownSchema, type Reading, readPayload } from '../read-payload.ts'
import type { SchemaRef } from '../schema-frames.ts'
import { rewritePayload } from '../write-payload.ts'
import { apicurio, glue, orderProto } from './test-serializer-bytes.ts'

const shownOrder = '{"id":"o1","total":{"cents":"42"},"lines":[{"sku":"s"}],"codes":[7,300]}'
const source = { type: 'protobuf', definition: orderProto, references: [], encrypted: false } as const
const codec = createCodec(source)

function read(type: RegistryKind['type'], bytes: Buffer, headers: readonly Header[] = []): Reading {
  const plan = compilePlans({ registries: [{ name: 'main', type, topics: ['*'] }], rules: [] })({
    ...{ original_topic: 'orders', dlq_topic: 'orders.dlq.v1' },
  })
  const schemaOf = (ref: SchemaRef): KnownSchema => ({
    ...{ state: 'known', number: 3, ref, type: 'protobuf', name: null, encrypted: false, codec, source },
  })
  return readPayload(bytes, { part: 'value', headers, plan, maxBytes: 262_144, schemaOf })
}

const behindId = (id: 4 | 8, rest: Buffer) =>
  Buffer.concat([Buffer.from([0]), Buffer.alloc(id - 1), Buffer.from([5]), rest])
const global: Header = ['apicurio.value.globalId', Buffer.from('0000000000000005', 'hex')]
const named: Header = ['apicurio.protobuf.type', Buffer.from('Money')]
const guid = (indexes: string): Header => [
  '__value_schema_id',
  Buffer.from(`016bd5a1c200014f0080000123456789ab${indexes}`, 'hex'),
]
const order = apicurio.order.subarray(8)

describe('a value of Protobuf', () => {
  test.each<[string, RegistryKind['type'], Buffer, Header[], string, string, string]>([
    ['of AWS Glue', 'glue', glue.order, [], shownOrder, '"o1"', '"o2"'],
    ['of AWS Glue, nested', 'glue', glue.line, [], '{"sku":"s"}', '"s"', '"t"'],
    ['of AWS Glue, compressed', 'glue', glue.packedOrder, [], shownOrder, '"o1"', '"o2"'],
    ['of AWS Glue, nested and compressed', 'glue', glue.packedLine, [], '{"sku":"s"}', '"s"', '"t"'],
    ['of Apicurio 2', 'apicurio', behindId(8, apicurio.order), [], shownOrder, '"o1"', '"o2"'],
    ['of Apicurio 3', 'apicurio', behindId(4, apicurio.money), [], '{"cents":"42"}', '42', '43'],
    [
      'of Apicurio 2 under headers',
      'apicurio',
      apicurio.moneyUnderHeader,
      [global, named],
      '{"cents":"42"}',
      '42',
      '43',
    ],
    ['of Apicurio 3 under headers', 'apicurio', apicurio.money, [global, named], '{"cents":"42"}', '42', '43'],
    ['of Confluent under a header', 'confluent', order, [guid('00')], shownOrder, '"o1"', '"o2"'],
    [
      'of Confluent under a header, nested',
      'confluent',
      Buffer.from('0a0173', 'hex'),
      [guid('040000')],
      '{"sku":"s"}',
      '"s"',
      '"t"',
    ],
  ])('%s is shown, and written with the same frame', (_, type, bytes, headers, shown, old, changed) => {
    const reading = read(type, bytes, headers)
    expect(reading).toMatchObject({ json: shown, decoding: { state: 'decoded', format: 'protobuf', problem: null } })
    expect(rewritePayload(bytes, reading, { json: shown, reencode: false })).toEqual({ kind: 'unchanged' })
    const json = shown.replace(old, changed)
    const rewritten = rewritePayload(bytes, reading, { json, reencode: false })
    if (rewritten.kind !== 'written') return expect(rewritten.kind).toBe('written')
    expect(read(type, rewritten.bytes, headers)).toMatchObject({ json, decoding: { state: 'decoded' } })
    const back = rewritePayload(rewritten.bytes, read(type, rewritten.bytes, headers), { json: shown, reencode: false })
    expect(back).toEqual({ kind: 'written', bytes })
  })

  test.each<[string, RegistryKind['type'], Buffer, Header[], string]>([
    [
      'a message of Glue that the schema does not have',
      'glue',
      Buffer.concat([glue.line.subarray(0, 18), Buffer.from([9])]),
      [],
      'a message that the schema does not have',
    ],
    ['nothing behind Glue’s frame', 'glue', glue.line.subarray(0, 18), [], 'it ends within its frame'],
    [
      'a number of Glue that does not end',
      'glue',
      Buffer.concat([glue.line.subarray(0, 18), Buffer.alloc(9, 0xff)]),
      [],
      'an index that is too large',
    ],
    [
      'no name behind Apicurio’s frame',
      'apicurio',
      behindId(4, Buffer.from('082a', 'hex')),
      [],
      'names no message of the schema',
    ],
    [
      'a name that the schema does not have',
      'apicurio',
      behindId(4, Buffer.from('050a034f6666082a', 'hex')),
      [],
      'names no message of the schema',
    ],
    [
      'a name that ends too early',
      'apicurio',
      behindId(4, Buffer.from('7f0a7d4f66', 'hex')),
      [],
      'names no message of the schema',
    ],
    [
      'a header with a name that the schema does not have',
      'apicurio',
      Buffer.from('082a', 'hex'),
      [global, ['apicurio.protobuf.type', Buffer.from('Off')]],
      'acme.Off is no message of the schema',
    ],
    ['no indexes in Confluent’s header', 'confluent', order, [guid('')], 'it ends within its frame'],
    ['more than indexes in Confluent’s header', 'confluent', order, [guid('0000')], 'its header has more than indexes'],
    ['a million indexes in Confluent’s header', 'confluent', order, [guid('80897a')], 'too many indexes'],
  ])('with %s is not decoded', (_, type, bytes, headers, problem) => {
    expect(read(type, bytes, headers)).toMatchObject({
      json: null,
      decoding: { state: 'failed', problem: expect.stringContaining(problem) },
    })
  })
})

test.each([1, 125, 126, 127, 128, 197])(
  'in a file without a package, a message whose name has %i letters is found',
  (length) => {
    const name = 'A'.repeat(length)
    const definition = `syntax = "proto3"; message ${name} { string a = 1; message In { string b = 1; } }`
    const { read } = createCodec({ ...source, definition })
    const varint = (value: number) => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, value >> 7])
    const ref = [0x0a, ...varint(length), ...Buffer.from(name)]
    const value = [0x0a, 1, 0x78]
    const bytes = (...frame: number[]) => Buffer.from([...frame, ...value])
    expect(read(bytes(...varint(ref.length), ...ref), 0, { kind: 'name', named: null })).toBe('{"a":"x"}')
    expect(read(bytes(0), 0, { kind: 'number' })).toBe('{"a":"x"}')
    expect(read(bytes(1), 0, { kind: 'number' })).toBe('{"b":"x"}')
    expect(read(bytes(2, 0), 0, { kind: 'indexes' })).toBe('{"a":"x"}')
    expect(read(bytes(4, 0, 0), 0, { kind: 'indexes' })).toBe('{"b":"x"}')
    expect(() => read(bytes(1), 0, { kind: 'indexes' })).toThrow('its frame has too many indexes')
  },
)
