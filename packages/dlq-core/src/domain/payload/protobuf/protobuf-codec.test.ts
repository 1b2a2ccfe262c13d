// Protobuf from descriptors. The bytes are written by hand, by https://protobuf.dev/programming-guides/encoding/, so that
// the library is not its own judge.

import { create, toBinary } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PayloadFault } from '../payload-fault.ts'
import { anyBytes } from '../test-bytes.ts'
import { createFramedProtobufCodec, createProtobufCodec, namedDescriptor } from './protobuf-codec.ts'

const { OPTIONAL, REPEATED } = FieldDescriptorProto_Label
const { INT64, STRING, MESSAGE, BYTES } = FieldDescriptorProto_Type

const field = (name: string, number: number, type: FieldDescriptorProto_Type, more = {}) => ({
  ...{ name, number, type, label: OPTIONAL, jsonName: name, ...more },
})

const money = create(FileDescriptorProtoSchema, {
  ...{ name: 'money.proto', package: 'acme', syntax: 'proto3' },
  messageType: [{ name: 'Money', field: [field('cents', 1, INT64)] }],
})
const order = create(FileDescriptorProtoSchema, {
  ...{
    name: 'default',
    package: 'acme',
    syntax: 'proto3',
    dependency: ['money.proto', 'google/protobuf/timestamp.proto'],
  },
  messageType: [
    { name: 'Unused' },
    {
      name: 'Order',
      field: [
        field('id', 1, STRING),
        field('total', 2, MESSAGE, { typeName: '.acme.Money' }),
        field('lines', 3, MESSAGE, { typeName: '.acme.Order.Line', label: REPEATED }),
        field('at', 4, MESSAGE, { typeName: '.google.protobuf.Timestamp' }),
        field('next', 5, MESSAGE, { typeName: '.acme.Order' }),
      ],
      nestedType: [{ name: 'Line', field: [field('sku', 1, STRING), field('raw', 2, BYTES)] }],
    },
  ],
})
const base64 = (file: typeof order) => Buffer.from(toBinary(FileDescriptorProtoSchema, file)).toString('base64')
const framed = createFramedProtobufCodec([
  namedDescriptor(base64(money), 'money.proto')!,
  namedDescriptor(base64(order))!,
])

/** Confluent's frame, and the way to the message. */
const frame = (...indexes: number[]) => Buffer.from([0, 0, 0, 0, 7, ...indexes])
/** id "o1", total 42 cents, at 2026-02-20T10:30:00Z (1771583400 seconds). */
const body = Buffer.from([0x0a, 2, 0x6f, 0x31, 0x12, 2, 8, 42, 0x22, 6, 8, 0xa8, 0xef, 0xe0, 0xcc, 6])
const shown = '{"id":"o1","total":{"cents":"42"},"at":"2026-02-20T10:30:00Z"}'

describe('a value in Confluent’s frame', () => {
  const bytes = Buffer.concat([frame(2, 2), body])

  test('is shown as ProtoJSON, and written to the same bytes', () => {
    expect(framed.read(bytes, 5)).toBe(shown)
    expect(framed.bodyAt!(bytes, 5)).toBe(7)
    expect(framed.write(shown, bytes, 5)).toEqual(body)
  })

  test('is of the message that its indexes name', () => {
    const line = Buffer.concat([frame(4, 2, 0), Buffer.from([0x0a, 1, 0x73])])
    expect(framed.read(line, 5)).toBe('{"sku":"s"}')
    // A single zero stands for the first message of the file.
    expect(framed.read(frame(0), 5)).toBe('{}')
    expect(() => framed.read(Buffer.concat([frame(2, 8), body]), 5)).toThrow('a message that the schema does not have')
    expect(() => framed.read(Buffer.concat([frame(4, 2, 8), body]), 5)).toThrow(PayloadFault)
  })

  test('keeps all digits of 64 bits', () => {
    const cents = Buffer.from([0x12, 10, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])
    expect(framed.read(Buffer.concat([frame(2, 2), cents]), 5)).toBe('{"total":{"cents":"9223372036854775807"}}')
  })

  test('that does not fit is a fault, and so is JSON that does not', () => {
    expect(() => framed.read(bytes.subarray(0, 12), 5)).toThrow(PayloadFault)
    expect(() => framed.write('{"id":1}', bytes, 5)).toThrow(PayloadFault)
    expect(() => framed.write('{"other":1}', bytes, 5)).toThrow(PayloadFault)
  })
})

describe('a value of a type from a file', () => {
  const set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [money] }))
  const codec = createProtobufCodec(set, 'acme.Money')

  test('is read with a frame and without one', () => {
    expect(codec.read(Buffer.from([8, 42]), 0)).toBe('{"cents":"42"}')
    expect(codec.read(Buffer.concat([frame(0), Buffer.from([8, 42])]), 0)).toBe('{"cents":"42"}')
    expect(codec.bodyAt!(Buffer.concat([frame(0), Buffer.from([8, 42])]), 0)).toBe(6)
  })

  test('must be a message of the file', () => {
    expect(() => createProtobufCodec(set, 'acme.Order')).toThrow('there is no message type acme.Order')
    expect(() => createProtobufCodec(Buffer.from('no descriptor'), 'a')).toThrow(PayloadFault)
  })
})

describe('hostile Protobuf', () => {
  test.each([
    [
      'nested without end',
      Buffer.concat(Array.from({ length: 30_000 }, (_, n) => Buffer.from([0x2a, ...varint((30_000 - n) * 4)]))),
    ],
    ['an unknown group that does not end', Buffer.from([0x7b])],
    ['groups in groups', Buffer.alloc(100_000, 0x7b)],
    ['a length beyond the end', Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 7])],
    ['an integer of eleven bytes', Buffer.concat([Buffer.from([8]), Buffer.alloc(11, 0xff)])],
  ])('%s ends soon, with a reason', (_, value) => {
    const startedAt = performance.now()
    expect(() => framed.read(Buffer.concat([frame(2, 2), value]), 5)).toThrow(PayloadFault)
    expect(performance.now() - startedAt).toBeLessThan(2000)
  })

  test('a value of more than 256 KiB is not read, though it fits', () => {
    const value = (length: number) =>
      Buffer.concat([Buffer.from([0x0a, ...varint(length)]), Buffer.alloc(length, 0x61)])
    expect(framed.read(Buffer.concat([frame(2, 2), value(1000)]), 5)).toContain('"id":"aaa')
    expect(() => framed.read(Buffer.concat([frame(2, 2), value(300_000)]), 5)).toThrow('more than 262144 bytes')
  })

  test.each([
    ['with a million indexes', [0x80, 0x89, 0x7a]],
    ['with a negative number of them', [1]],
    ['with a number that does not end', [0xff, 0xff, 0xff, 0xff, 0xff]],
    ['that ends', []],
  ])('a frame %s is a fault', (_, indexes) => {
    expect(() => framed.read(frame(...indexes), 5)).toThrow(PayloadFault)
  })

  test('any bytes are a value or a fault', () => {
    fc.assert(
      fc.property(anyBytes(), (bytes) => {
        try {
          JSON.parse(framed.read(Buffer.concat([frame(), bytes]), 5))
        } catch (error) {
          expect(error).toBeInstanceOf(PayloadFault)
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('a descriptor is taken for one only if it declares something', () => {
    expect(namedDescriptor('syntax = "proto3"; message A {}')).toBeNull()
    expect(namedDescriptor('')).toBeNull()
    expect(() => createFramedProtobufCodec([namedDescriptor(base64(order))!])).toThrow(PayloadFault)
  })
})

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}
