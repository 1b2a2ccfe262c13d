import { expect, test } from 'vitest'
import { createCodec, type SchemaType, schemaName } from './create-codec.ts'
import { PayloadFault } from './payload-fault.ts'

test.each<[SchemaType, string, string | null]>([
  ['avro', '{"type":"record","name":"Order","namespace":"shop","fields":[]}', 'shop.Order'],
  ['avro', '{"type":"record","name":"Order","namespace":"","fields":[]}', 'Order'],
  ['avro', '{"type":"record","name":"shop.Order","namespace":"other","fields":[]}', 'shop.Order'],
  ['avro', '{"type":"record","name":"Order","namespace":1,"fields":[]}', 'Order'],
  ['avro', '"string"', null],
  ['avro', '{"name":1}', null],
  ['json', '{"title":"Order"}', 'Order'],
  ['json', '{"title":1,"name":"Order"}', null],
  ['json', 'true', null],
  ['json', 'no JSON', null],
  ['protobuf', '{"name":"Order"}', null],
])('a schema of type %s, %s, has the name %s', (type, definition, name) => {
  expect(schemaName({ type, definition })).toBe(name)
})

test.each<[SchemaType, string]>([
  ['avro', '{"type":"unheard-of"}'],
  ['protobuf', 'message Order {'],
])('a schema of type %s that does not compile, %s, is a fault of each value', (type, definition) => {
  const codec = createCodec({ type, definition, references: [], encrypted: false })
  const bytes = Buffer.from([0])
  expect(() => codec.read(bytes, 0)).toThrow(PayloadFault)
  expect(() => codec.write('1', bytes, 0)).toThrow(PayloadFault)
})
