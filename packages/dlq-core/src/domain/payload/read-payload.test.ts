import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Header } from '../record/record.ts'
import { createCodec, type SchemaType } from './create-codec.ts'
import { compilePlans, type PayloadSettings } from './payload-settings.ts'
import { type KnownSchema, type ReadingContext, readPayload, type SchemaEntry } from './read-payload.ts'
import { rewritePayload } from './write-payload.ts'

const order =
  '{"type":"record","name":"Order","namespace":"acme","fields":[{"name":"id","type":"long"},{"name":"note","type":["null","string"]}]}'
/** {"id":7,"note":null} */
const body = Buffer.from([14, 0])
const shown = '{"id":7,"note":null}'
const frame = (id: number, rest: Buffer = body) => Buffer.concat([Buffer.from([0, 0, 0, 0, id]), rest])

const confluent: PayloadSettings = { registries: [{ name: 'main', type: 'confluent', topics: ['*'] }], rules: [] }
const apicurio: PayloadSettings = { registries: [{ name: 'main', type: 'apicurio', topics: ['*'] }], rules: [] }
const topics = { original_topic: 'orders', dlq_topic: 'orders.dlq.v1' }

function known(
  kind: KnownSchema['ref']['kind'],
  id: string,
  type: SchemaType = 'avro',
  definition = order,
): KnownSchema {
  const schema = { type, definition, references: [], encrypted: false }
  return {
    state: 'known',
    number: 3,
    ref: { registry: 'main', kind, id },
    type,
    name: 'acme.Order',
    encrypted: false,
    codec: createCodec(schema),
    source: schema,
  }
}

type Given = {
  settings?: PayloadSettings
  headers?: readonly Header[]
  schemas?: readonly SchemaEntry[]
  maxBytes?: number
}

function read(
  bytes: Buffer | null,
  { settings = confluent, headers = [], schemas = [], maxBytes = 262_144 }: Given = {},
) {
  const context: ReadingContext = {
    ...{ part: 'value', headers, maxBytes, plan: compilePlans(settings)(topics) },
    schemaOf: (ref) => schemas.find((entry) => entry.ref.kind === ref.kind && entry.ref.id === ref.id),
  }
  return readPayload(bytes, context)
}

const int64 = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}

describe('a frame', () => {
  const guid = '6bd5a1c2-0001-4f00-8000-0123456789ab'
  const guidHeader: Header = ['__value_schema_id', Buffer.from(`01${guid.replaceAll('-', '')}`, 'hex')]

  test.each<[string, Buffer, Given]>([
    ['of Confluent', frame(5), { schemas: [known('id', '5')] }],
    [
      'of Confluent in the headers, the last one of the name',
      body,
      { headers: [['__value_schema_id', Buffer.from('x')], guidHeader], schemas: [known('guid', guid)] },
    ],
    ['of Apicurio 3', frame(5), { settings: apicurio, schemas: [known('content', '5')] }],
    [
      'of Apicurio 2',
      Buffer.concat([Buffer.from([0]), int64(5n), body]),
      { settings: apicurio, schemas: [known('global', '5')] },
    ],
    [
      'of Apicurio in the headers, by global id',
      body,
      { settings: apicurio, headers: [['apicurio.value.globalId', int64(9n)]], schemas: [known('global', '9')] },
    ],
    [
      'of Apicurio in the headers, by content id',
      body,
      { settings: apicurio, headers: [['apicurio.value.contentId', int64(9n)]], schemas: [known('content', '9')] },
    ],
    [
      'of Confluent behind a header whose schema does not fit',
      frame(5),
      { headers: [guidHeader], schemas: [known('guid', guid), known('id', '5')] },
    ],
  ])('%s is decoded', (_, bytes, given) => {
    expect(read(bytes, given)).toMatchObject({
      json: shown,
      decoding: { state: 'decoded', format: 'avro', problem: null },
    })
  })

  test('with the id 0, or a GUID of another version, is none', () => {
    expect(read(frame(0), { schemas: [known('id', '0')] }).json).toBeNull()
    const other: Header = ['__value_schema_id', Buffer.from(`02${guid.replaceAll('-', '')}`, 'hex')]
    expect(read(body, { headers: [other], schemas: [known('guid', guid)] }).json).toBeNull()
  })

  test('of a JSON schema is the JSON behind it', () => {
    const bytes = frame(5, Buffer.from('{"a": 1.10}'))
    expect(read(bytes, { schemas: [known('id', '5', 'json', '{}')] })).toMatchObject({
      json: '{"a": 1.10}',
      decoding: { format: 'json' },
    })
  })

  test('of AWS Glue is named', () => {
    const bytes = Buffer.concat([Buffer.from([3, 0]), Buffer.alloc(16, 0xab), body])
    expect(read(bytes).decoding).toMatchObject({
      state: 'unsupported',
      format: 'glue',
      problem: expect.stringContaining('abababab-abab-abab-abab-abababababab'),
    })
  })

  test('of AWS Glue is decoded with the schema of its version, compressed or not', () => {
    const glue: PayloadSettings = { registries: [{ name: 'main', type: 'glue', topics: ['*'] }], rules: [] }
    const version = 'abababab-abab-abab-abab-abababababab'
    const start = (compression: number) => Buffer.from([3, compression, ...Array(16).fill(0xab)])
    const given = { settings: glue, schemas: [known('guid', version)] }
    const decoded = { json: shown, decoding: { format: 'avro', ref: { kind: 'guid', id: version } } }
    expect(read(Buffer.concat([start(0), body]), given)).toMatchObject(decoded)
    const packed = Buffer.concat([start(5), deflateSync(body)])
    const reading = read(packed, given)
    expect(reading).toMatchObject(decoded)
    expect(rewritePayload(packed, reading, { json: '{"id":8,"note":null}', reencode: false })).toEqual({
      kind: 'written',
      bytes: Buffer.concat([start(5), deflateSync(Buffer.from([16, 0]))]),
    })
    expect(read(packed.subarray(0, 22), given).decoding).toMatchObject({
      state: 'failed',
      problem: 'it is not whole zlib',
    })
    const bomb = Buffer.concat([start(5), deflateSync(Buffer.alloc(100 * 1024 * 1024))])
    expect(read(bomb, given).decoding).toMatchObject({ problem: 'it unpacks to more than 4194304 bytes' })
  })

  test('of Azure stands in the content type', () => {
    const azure: PayloadSettings = { registries: [{ name: 'main', type: 'azure', topics: ['*'] }], rules: [] }
    const id = '0123456789abcdef0123456789abcdef'
    const headers: Header[] = [['content-type', Buffer.from(`avro/binary+${id}`)]]
    const given = { settings: azure, headers, schemas: [known('guid', id)] }
    expect(read(body, given)).toMatchObject({ json: shown, decoding: { ref: { kind: 'guid', id } } })
    expect(read(body, { ...given, schemas: [] }).decoding).toMatchObject({ state: 'waiting' })
    expect(read(Buffer.from('{"a":1}'), given)).toMatchObject({ json: '{"a":1}', decoding: null })
    expect(read(frame(5), { settings: azure, schemas: [known('id', '5')] })).toMatchObject({
      json: null,
      decoding: null,
    })
  })

  test('whose schema has not come waits for it', () => {
    expect(read(frame(5))).toMatchObject({
      json: null,
      decoding: { state: 'waiting', problem: 'schema_unknown', ref: { id: '5' } },
    })
    const since = new Date()
    const wanted: SchemaEntry = {
      state: 'wanted',
      number: 3,
      ref: { registry: 'main', kind: 'id', id: '5' },
      problem: 'registry_unreachable',
      since,
    }
    expect(read(frame(5), { schemas: [wanted] }).decoding).toMatchObject({
      state: 'waiting',
      problem: 'registry_unreachable',
    })
    expect(read(frame(5), { schemas: [{ ...wanted, state: 'missing' }] }).decoding).toMatchObject({
      problem: 'schema_missing',
    })
  })

  test('that leaves bytes over is no reading', () => {
    expect(read(frame(5, Buffer.from([14, 0, 1])), { schemas: [known('id', '5')] })).toMatchObject({
      json: null,
      decoding: { state: 'failed', problem: '1 bytes are left over' },
    })
  })

  test('of a schema that cannot be used says why', () => {
    expect(read(frame(5), { schemas: [known('id', '5', 'avro', '{"type":"x"}')] }).decoding).toMatchObject({
      state: 'failed',
      problem: 'the schema has no type x',
    })
    expect(read(frame(5), { schemas: [known('id', '5', 'protobuf', 'syntax')] }).decoding).toMatchObject({
      state: 'failed',
      problem: expect.stringContaining('the .proto text has'),
    })
    expect(read(frame(5), { schemas: [{ ...known('id', '5'), encrypted: true }] }).decoding).toMatchObject({
      state: 'encrypted',
    })
  })

  test('means nothing on a topic without a registry', () => {
    const elsewhere = { registries: [{ ...confluent.registries[0]!, topics: ['payments.*'] }], rules: [] }
    expect(read(frame(5), { settings: elsewhere, schemas: [known('id', '5')] })).toMatchObject({
      json: null,
      decoding: null,
    })
    const byDlqTopic = { registries: [{ ...confluent.registries[0]!, topics: ['orders.dlq.*'] }], rules: [] }
    expect(read(frame(5), { settings: byDlqTopic, schemas: [known('id', '5')] }).json).toBe(shown)
  })
})

describe('JSON', () => {
  test('is shown as it was sent, with nothing said of it', () => {
    expect(read(Buffer.from(' {"a": 1.10}'))).toMatchObject({ json: ' {"a": 1.10}', decoding: null })
  })

  test('with a header that its producer left is JSON, and a short Avro value that looks like a number is not', () => {
    const headers: Header[] = [['apicurio.value.globalId', int64(9n)]]
    const given = { settings: apicurio, headers, schemas: [known('global', '9', 'avro', '"long"')] }
    expect(read(Buffer.from('{"a":1}'), given)).toMatchObject({ json: '{"a":1}', decoding: null })
    expect(read(Buffer.from('7'), given)).toMatchObject({ json: '-28', decoding: { format: 'avro' } })
    expect(read(Buffer.from('7'), { ...given, schemas: [] })).toMatchObject({
      json: null,
      decoding: { state: 'waiting' },
    })
    expect(
      read(Buffer.from('7'), { ...given, headers: [...headers, ['apicurio.value.encoding', Buffer.from('JSON')]] })
        .json,
    ).toBe('7')
  })

  test.each<[string, string, Header[], string[]]>([
    ['of Kafka Connect', '{"schema":null,"payload":1}', [], ['connect']],
    ['of Debezium', '{"op":"u","source":{},"before":null,"after":{}}', [], ['debezium']],
    [
      'of Debezium in Kafka Connect',
      '{"schema":{},"payload":{"op":"u","source":{},"after":{}}}',
      [],
      ['connect', 'debezium'],
    ],
    ['of CloudEvents', '{"specversion":"1.0","type":"a","source":"b"}', [], ['cloudevents']],
    [
      'of CloudEvents in the headers',
      '1',
      ['ce_id', 'ce_type', 'ce_source'].map((name) => [name, Buffer.from('x')]),
      ['cloudevents'],
    ],
    ['that only has the words', '{"schema":1,"payload":2,"op":3,"source":4}', [], []],
  ])('%s is named and not unwrapped', (_, json, headers, labels) => {
    const { json: read_, decoding } = read(Buffer.from(json), { headers })
    expect(read_).toBe(json)
    expect(decoding?.labels ?? []).toEqual(labels)
  })
})

describe('a compressed value', () => {
  test.each([
    ['gzip', gzipSync(frame(5))],
    ['zstd', zstdCompressSync(frame(5))],
  ])('of %s is unpacked before it is decoded', (compression, bytes) => {
    expect(read(bytes, { schemas: [known('id', '5')] })).toMatchObject({
      json: shown,
      decoding: { compression, format: 'avro' },
    })
  })

  test('is JSON inside, and says which compression it had', () => {
    expect(read(gzipSync(Buffer.from('{"a":1}')))).toMatchObject({
      json: '{"a":1}',
      decoding: { state: 'decoded', format: null, compression: 'gzip' },
    })
  })

  test('that is cut off says so, and one that only its header calls so is read as it is', () => {
    expect(read(gzipSync(frame(5)).subarray(0, 12)).decoding).toMatchObject({
      state: 'failed',
      problem: 'it is not whole gzip',
    })
    expect(read(Buffer.from('{"a":1}'), { headers: [['content-encoding', Buffer.from('gzip')]] })).toMatchObject({
      json: '{"a":1}',
      decoding: null,
    })
  })
})

describe('a rule', () => {
  const withRule = (...rules: PayloadSettings['rules']): PayloadSettings => ({ ...confluent, rules })

  test('decides what is read, the more exact one first', () => {
    const settings = withRule(
      { topics: ['*'], value: { format: 'auto' } },
      { topics: ['orders'], value: { format: 'none' } },
    )
    expect(read(frame(5), { settings, schemas: [known('id', '5')] })).toMatchObject({ json: null, decoding: null })
    expect(read(Buffer.from('{}'), { settings }).json).toBeNull()
  })

  test('names the schema of values without a frame', () => {
    const settings = withRule({ topics: ['orders'], value: { format: 'avro', schema_id: 5 } })
    expect(read(body, { settings, schemas: [known('id', '5')] }).json).toBe(shown)
  })

  test('or the content type names what needs no schema', () => {
    const packed = Buffer.from([0x81, 0xa1, 0x61, 0x07])
    const settings = withRule({ topics: ['orders'], value: { format: 'msgpack' }, key: { format: 'cbor' } })
    const expected = { json: '{"a":7}', decoding: { state: 'decoded', format: 'msgpack', ref: null, schema: null } }
    expect(read(packed, { settings })).toMatchObject(expected)
    expect(read(packed)).toMatchObject({ json: null, decoding: null })
    const ofType = (type: string): Header[] => [['content-type', Buffer.from(type)]]
    for (const type of ['application/msgpack', 'application/x-msgpack', 'application/vnd.msgpack; v=1'])
      expect(read(packed, { headers: ofType(type) })).toMatchObject(expected)
    for (const type of ['application/cbor', 'application/vnd.acme.order+cbor'])
      expect(read(Buffer.from([0xa1, 0x61, 0x61, 0x07]), { headers: ofType(type) })).toMatchObject({
        json: '{"a":7}',
        decoding: { format: 'cbor' },
      })
    expect(read(packed, { headers: ofType('application/cborish') })).toMatchObject({ json: null, decoding: null })
    // A framework that writes the value anew leaves the header.
    expect(read(Buffer.from('{"a":1}'), { headers: ofType('application/cbor') })).toMatchObject({
      json: '{"a":1}',
      decoding: null,
    })
    expect(read(Buffer.from('{"a":1}'), { settings }).decoding).toMatchObject({
      state: 'failed',
      format: 'msgpack',
      problem: '6 bytes are left over',
    })
    expect(read(packed, { settings, maxBytes: 3 }).decoding).toMatchObject({ state: 'not_now' })
  })

  test('for the key leaves the value as it is', () => {
    const settings = withRule({ topics: ['orders'], key: { format: 'none' } })
    expect(read(frame(5), { settings, schemas: [known('id', '5')] }).json).toBe(shown)
  })
})

test('a value that is larger than asked for is not decoded, and says so', () => {
  expect(read(frame(5), { schemas: [known('id', '5')], maxBytes: 3 }).decoding).toMatchObject({ state: 'not_now' })
  expect(read(Buffer.from('{"a":1}'), { maxBytes: 3 }).json).toBe('{"a":1}')
})

test('no bytes, headers or settings make a reading fail', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.constant(gzipSync(frame(5))),
    fc.uint8Array({ maxLength: 20 }).map((rest) => frame(5, Buffer.from(rest))),
  )
  const name = fc.constantFrom(
    '__value_schema_id',
    'apicurio.value.globalId',
    'apicurio.value.encoding',
    'content-encoding',
    'content-type',
    'ce_id',
  )
  const header = fc.tuple(
    name,
    fc.option(
      fc.uint8Array({ maxLength: 17 }).map((value) => Buffer.from(value)),
      { nil: null },
    ),
  )
  fc.assert(
    fc.property(bytes, fc.array(header), fc.constantFrom(confluent, apicurio), (value, headers, settings) => {
      const { json, decoding } = read(Buffer.from(value), {
        headers,
        settings,
        schemas: [known('id', '5'), known('content', '5')],
      })
      if (json !== null) JSON.parse(json)
      else if (decoding !== null) expect(decoding.state).not.toBe('decoded')
    }),
    { numRuns: 2000 },
  )
})
