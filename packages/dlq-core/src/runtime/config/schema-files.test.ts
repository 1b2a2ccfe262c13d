import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compilePlans } from '../../domain/payload/payload-settings.ts'
import { type KnownSchema, readPayload } from '../../domain/payload/read-payload.ts'
import type { SchemaRef } from '../../domain/payload/schema-frames.ts'
import { rewritePayload } from '../../domain/payload/write-payload.ts'
import { loadConfig } from './config.ts'
import { readSchemaFiles } from './schema-files.ts'
import type { SchemasConfig } from './schemas-schema.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dlq-desc-'))
  const cents = { name: 'cents', number: 1, type: 3, label: 1, jsonName: 'cents' }
  const file = { name: 'm.proto', package: 'acme', syntax: 'proto3', messageType: [{ name: 'Money', field: [cents] }] }
  writeFileSync(
    join(folder, 'm.desc'),
    toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] })),
  )
  writeFileSync(join(folder, 'broken.desc'), 'no descriptor')
  mkdirSync(join(folder, 'shop'))
  // With a byte order mark.
  writeFileSync(
    join(folder, 'shop/cents.proto'),
    '\uFEFFsyntax = "proto3"; package shop; message Cents { int64 n = 1; }',
  )
  writeFileSync(
    join(folder, 'bill.proto'),
    'import "shop/cents.proto"; message Bill { optional shop.Cents total = 1; }',
  )
  // As Kubernetes lays a volume out.
  mkdirSync(join(folder, '..2026'))
  writeFileSync(join(folder, '..2026/bill.proto'), 'message Bill { optional int32 old = 1; }')
  const pair = [
    { name: 'a', type: 'acme.Side' },
    { name: 'b', type: 'acme.Side' },
  ]
  writeFileSync(join(folder, 'a-pair.avsc'), JSON.stringify({ type: 'record', name: 'acme.Pair', fields: pair }))
  const side = { type: 'record', name: 'Side', namespace: 'acme', fields: [{ name: 'n', type: 'int' }] }
  writeFileSync(join(folder, 'side.avsc'), `\uFEFF${JSON.stringify(side)}`)
})
afterAll(() => rmSync(folder, { recursive: true }))

const load = (schemas: object) => loadConfig({ env: {}, yaml: JSON.stringify({ schemas }), needs: [] }).config.schemas!
const codecOf = (schema: KnownSchema | undefined) => schema!.codec
const ruleOf = (type: string) => ({ topics: 'money', value: { format: 'protobuf', type } })

test('a rule finds its message type in the files, also beside one that is broken', () => {
  const { schemas, faults } = readSchemaFiles(load({ files: folder, rules: [ruleOf('acme.Money')] }))
  expect(faults).toEqual([])
  expect(codecOf(schemas.get('acme.Money')).read(Buffer.from([8, 42]), 0)).toBe('{"cents":"42"}')
})

test('texts in .proto are message types too, and import each other by their paths', () => {
  const { schemas, faults } = readSchemaFiles(load({ files: folder, rules: [ruleOf('Bill')] }))
  expect(faults).toEqual([])
  expect(codecOf(schemas.get('Bill')).read(Buffer.from('0a020807', 'hex'), 0)).toBe('{"total":{"n":"7"}}')
})

describe('Avro’s schemas in the files', () => {
  const topics = { original_topic: 'pairs', dlq_topic: 'pairs.dlq.v1' }
  const shown = '{"a":{"n":1},"b":{"n":2}}'
  const bare = Buffer.from([2, 4])
  const read = (config: SchemasConfig, bytes: Buffer) => {
    const { schemas } = readSchemaFiles(config)
    const context = { plan: compilePlans(config)(topics), schemaOf: (ref: SchemaRef) => schemas.get(ref.id) }
    return readPayload(bytes, { ...context, part: 'value', headers: [], maxBytes: 262_144 })
  }

  test('are those of values without a frame, where a rule names one; a file may use the types of others', () => {
    const config = load({ files: folder, rules: [{ topics: 'pairs', value: { format: 'avro', type: 'acme.Pair' } }] })
    const reading = read(config, bare)
    expect(reading).toMatchObject({ json: shown, decoding: { state: 'decoded', schema: { name: 'acme.Pair' } } })
    expect(rewritePayload(bare, reading, { json: shown.replace('2', '3'), reencode: false })).toEqual({
      ...{ kind: 'written', bytes: Buffer.from([2, 6]) },
    })
  })

  test('are those of single objects, found by their fingerprint without a rule', () => {
    const config = load({ files: folder })
    const pair = [...readSchemaFiles(config).schemas.values()].find(({ name, ref }) => {
      return name === 'acme.Pair' && ref.id.startsWith('crc64:')
    })
    const frame = Buffer.from(`01c3${pair!.ref.id.slice('crc64:'.length)}`, 'hex')
    const single = Buffer.concat([frame.subarray(0, 2).reverse(), frame.subarray(2).reverse(), bare])
    const reading = read(config, single)
    expect(reading).toMatchObject({ json: shown, decoding: { state: 'decoded', format: 'avro' } })
    const written = rewritePayload(single, reading, { json: shown.replace('2', '3'), reencode: false })
    expect(written).toEqual({ kind: 'written', bytes: Buffer.concat([single.subarray(0, 10), Buffer.from([2, 6])]) })
    // Of a schema that is not among the files nothing is known.
    single[4]! ^= 1
    expect(read(config, single)).toEqual({ json: null, decoding: null, layout: null })
  })

  test.each([
    [
      'bad.avsc',
      '{"type":"record","name":"R","fields":[{"name":"a","type":"S"}]}',
      'bad.avsc: the schema has no type S',
    ],
    ['bad.avsc', 'no JSON', 'bad.avsc: the schema is not JSON'],
    ['bad.proto', 'message A { B b = 1; }', 'its files *.proto: the .proto text has'],
  ])('%s that cannot be used stops the start, with the reason', (name, text, fault) => {
    const file = join(folder, name)
    writeFileSync(file, text)
    try {
      expect(() => load({ files: folder })).toThrow(fault)
    } finally {
      rmSync(file)
    }
  })
})

test.each([
  [
    'without a folder',
    () => ({ rules: [ruleOf('acme.Money')] }),
    'schemas.files: missing; rules of format protobuf need it',
  ],
  ['without its type', () => ({ files: folder, rules: [ruleOf('acme.Order')] }), 'has the message type acme.Order'],
  [
    'of Avro without its file',
    () => ({ files: folder, rules: [{ topics: 'a', value: { format: 'avro', type: 'acme.Off' } }] }),
    'has the type acme.Off',
  ],
  [
    'of Avro with an id and a type',
    () => ({ files: folder, rules: [{ topics: 'a', value: { format: 'avro', type: 'acme.Pair', schema_id: 1 } }] }),
    'must have either schema_id or type',
  ],
  [
    'with a folder that is none',
    () => ({ files: join(folder, 'x'), rules: [] }),
    'schemas.files: cannot read the folder',
  ],
  [
    'without a type',
    () => ({ rules: [{ topics: 'a', value: { format: 'protobuf' } }] }),
    'must have type together with format protobuf',
  ],
  [
    'of Avro without an id or a type',
    () => ({ rules: [{ topics: 'a', value: { format: 'avro' } }] }),
    'must have either schema_id or type together with format avro',
  ],
  ['with a password in its URL', () => ({ registries: [{ name: 'a', url: 'http://u:p@r' }] }), 'without a login in it'],
  [
    'with a user and no password',
    () => ({ registries: [{ name: 'a', url: 'http://r', username: 'u' }] }),
    'username and password_file together',
  ],
  [
    'with two registries of one name',
    () => ({
      registries: [
        { name: 'a', url: 'http://r' },
        { name: 'a', url: 'http://s' },
      ],
    }),
    'two registries of one name',
  ],
])('a section %s is refused', (_, section, fault) => {
  expect(() => load(section())).toThrow(fault)
})
