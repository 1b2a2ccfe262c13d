import { expect, test } from 'vitest'
import { avroFingerprint, canonicalForm, fingerprintOf } from './avro-fingerprint.ts'
import { parseAvroSchema } from './avro-schema.ts'

/** With the canonical form and the single object that Avro 1.12 for Java has made of it (infra/recipes/frames). */
const schema =
  '{"type":"record","name":"Order","namespace":"shop","doc":"An order","fields":[{"name":"id","type":"string"},{"name":"cents","type":"long","default":0},{"name":"note","type":["null","string"],"default":null},{"name":"kind","type":{"type":"enum","name":"Kind","symbols":["A","B"]}},{"name":"hash","type":{"type":"fixed","name":"Hash","namespace":"com.acme","size":2}},{"name":"other","type":["null","Kind"]}]}'
const canonical =
  '{"name":"shop.Order","type":"record","fields":[{"name":"id","type":"string"},{"name":"cents","type":"long"},{"name":"note","type":["null","string"]},{"name":"kind","type":{"name":"shop.Kind","type":"enum","symbols":["A","B"]}},{"name":"hash","type":{"name":"com.acme.Hash","type":"fixed","size":2}},{"name":"other","type":["null","shop.Kind"]}]}'
const single = Buffer.from('c30157b617c457cf87af0e6f726465722d37e8070002010200', 'hex')

test('a schema has the canonical form and the fingerprint that Java gives it', () => {
  expect(canonicalForm(parseAvroSchema(schema))).toBe(canonical)
  expect(avroFingerprint(parseAvroSchema(schema))).toBe(fingerprintOf(single))
  // The specification's own tests: https://github.com/apache/avro/blob/main/share/test/data/schema-tests.txt
  expect(avroFingerprint(parseAvroSchema('"int"'))).toBe('7275d51a3f395c8f')
  expect(avroFingerprint(parseAvroSchema('{"items":{"type":"null"},"type":"array"}'))).toBe('f7d13f2f68170a6d')
  expect(canonicalForm(parseAvroSchema('{"values":{"type":"long"},"type":"map"}'))).toBe(
    '{"type":"map","values":"long"}',
  )
})

test('a schema that holds itself has one, too', () => {
  const list = '{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]}'
  expect(canonicalForm(parseAvroSchema(list))).toBe(
    '{"name":"L","type":"record","fields":[{"name":"next","type":["null","L"]}]}',
  )
})

test.each([['c301'], ['c30257b617c457cf87af0e'], ['0000000000000000000000']])('%s is no single object', (hex) => {
  expect(fingerprintOf(Buffer.from(hex, 'hex'))).toBeNull()
})
