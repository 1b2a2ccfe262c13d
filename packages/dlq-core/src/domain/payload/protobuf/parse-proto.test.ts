// .proto texts against protoc's rules; what the parser makes is judged by reading bytes that were written by hand.

import { fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PayloadFault } from '../payload-fault.ts'
import { createFramedProtobufCodec, createProtobufCodec, describedFiles, describedProtos } from './protobuf-codec.ts'
import { orderDescriptor, orderProto } from './test-serializer-bytes.ts'

const codecOf = (text: string) => createFramedProtobufCodec(describedProtos([{ name: '', text }]))
/** The JSON of the first message of the file. */
const read = (text: string, hex: string) => codecOf(text).read(Buffer.from(`00${hex}`, 'hex'), 0)

describe('a text in .proto', () => {
  test('of AWS Glue’s serializer is the descriptor that it was made of', () => {
    const [base64] = describedProtos([{ name: '', text: orderProto }])
    const parsed = fromBinary(FileDescriptorProtoSchema, Buffer.from(base64!, 'base64'))
    const original = fromBinary(FileDescriptorProtoSchema, Buffer.from(orderDescriptor, 'hex'))
    for (const message of [parsed, original].flatMap(({ messageType }) => messageType))
      for (const field of [message, ...message.nestedType].flatMap(({ field }) => field)) {
        expect(['', field.name]).toContain(field.jsonName)
        field.jsonName = field.name
      }
    expect({ ...parsed, name: 'order.proto' }).toEqual(original)
  })

  test.each([
    [
      'of every scalar',
      'message A { double a = 1; float b = 2; uint64 c = 4; fixed64 d = 6; bool e = 8; bytes f = 12; sint32 g = 17; sfixed32 h = 15; }',
      '150000803f3102000000000000004001880101',
      '{"b":1,"d":"2","e":true,"g":-1}',
    ],
    [
      'with comments and empty statements',
      '/* message B {} */ message A { ; // "x\n int32 a_b_c = 1; ; }',
      '0807',
      '{"aBC":7}',
    ],
    [
      'with a name of its own in JSON',
      'message A { int32 a = 1 [json_name = "the\\"a", deprecated = true]; }',
      '0807',
      '{"the\\"a":7}',
    ],
    [
      'with a map',
      'message A { map<string, B> bs = 1; message B { int32 n = 1; } }',
      '0a070a017812020807',
      '{"bs":{"x":{"n":7}}}',
    ],
    [
      'with an enumeration',
      'message A { E e = 1; } enum E { option allow_alias = true; N = 0; O = 0x1 [(my.o) = { a: "]" }]; reserved 5 to max; }',
      '0801',
      '{"e":"O"}',
    ],
    [
      'with an enumeration of negative numbers',
      'message A { E e = 1; } enum E { N = 0; M = -1; }',
      '08ffffffffffffffffff01',
      '{"e":"M"}',
    ],
    ['with alternatives', 'message A { oneof it { option (x) = 1; string s = 1; int32 n = 2; } }', '1000', '{"n":0}'],
    ['with a field that may be absent', 'message A { optional int32 n = 1; int32 m = 2; }', '08001000', '{"n":0}'],
    [
      'with options and a service',
      'option java_package = "a"; option (o) = { a: { b: 1 } }; service S { rpc R(A) returns (A) { option (h) = {}; } } message A { int32 n = 1; reserved "a", "b"; reserved 4 to 6; }',
      '0807',
      '{"n":7}',
    ],
    [
      'with names of the innermost scope',
      'message A { B b = 1; message B { int32 inner = 1; } } message B { int32 outer = 1; }',
      '0a020807',
      '{"b":{"inner":7}}',
    ],
    [
      'with fields that are named as statements',
      'message A { int32 message = 1; string option = 2; A optional = 3; }',
      '0807',
      '{"message":7}',
    ],
    [
      'with a well-known type',
      'import "google/protobuf/timestamp.proto"; message A { google.protobuf.Timestamp at = 1; }',
      '0a0608a8efe0cc06',
      '{"at":"2026-02-20T10:30:00Z"}',
    ],
    ['with a number in octal', 'message A { int32 n = 010; }', '4007', '{"n":7}'],
  ])('%s', (_, text, hex, json) => {
    expect(read(`syntax = "proto3"; ${text}`, hex)).toBe(json)
  })

  test('packs lists in proto3, and in proto2 where it says so', () => {
    const packed = Buffer.from('000a020102', 'hex')
    const lists = { proto3: 'repeated int32 n = 1;', proto2: 'repeated int32 n = 1 [packed = true];' }
    for (const [syntax, field] of Object.entries(lists))
      expect(
        codecOf(`syntax = "${syntax}"; message A { ${field} }`).write('{"n":[1,2]}', packed, 0).toString('hex'),
      ).toBe('0a020102')
    const bare = [
      codecOf('message A { repeated int32 n = 1; }'),
      codecOf('syntax = "proto3"; message A { repeated int32 n = 1 [packed=false]; }'),
    ]
    for (const codec of bare) expect(codec.write('{"n":[1,2]}', packed, 0).toString('hex')).toBe('08010802')
  })

  test('of proto2 has groups, required fields and extensions', () => {
    const text =
      'message A { required int32 n = 1; repeated group Item = 2 { optional string s = 3; } extensions 100 to 199; } extend A { optional int32 more = 100; }'
    expect(read(text, '0807131a017814a00609')).toBe('{"n":7,"item":[{"s":"x"}],"[more]":9}')
  })

  test('may import others, which may import others', () => {
    const described = describedProtos([
      { name: 'c.proto', text: 'package c; message C { int32 n = 1; }' },
      { name: 'b.proto', text: 'package b; import public "c.proto"; message B { c.C c = 1; }' },
      { name: '', text: 'import "b.proto"; message A { b.B b = 1; c.C c = 2; }' },
    ])
    const bytes = Buffer.from('000a040a02080712020808', 'hex')
    expect(createFramedProtobufCodec(described).read(bytes, 0)).toBe('{"b":{"c":{"n":7}},"c":{"n":8}}')
  })

  test('is one of files, which import each other by name', () => {
    const files = new Map([
      ['a.proto', 'import "sub/b.proto"; message A { b.B b = 1; }'],
      ['sub/b.proto', 'package b; message B { int32 n = 1; }'],
    ])
    expect(createProtobufCodec(describedFiles(files), 'A').read(Buffer.from('0a020807', 'hex'), 0)).toBe(
      '{"b":{"n":7}}',
    )
    files.delete('sub/b.proto')
    expect(() => describedFiles(files)).toThrow('a.proto imports sub/b.proto, which is not there')
    expect(() => describedFiles(new Map([['a.proto', 'import "a.proto";']]))).toThrow('a.proto imports itself')
  })

  test.each([
    ['edition = "2023"; message A {}', 'an edition, which is read from descriptors only, in line 1'],
    ['message A {\n  int32 n = 0; }', 'a field with a number that is none in line 2'],
    ['message A { int32 n = 1; int32 m = 1; }', 'two fields of one number in A'],
    ['message A { B b = 1; }', 'the .proto text has no type B, nor has what it imports'],
    ['message A { map<A, int32> n = 1; }', 'a map whose keys are no scalars'],
    ['message A { int32 n 1; }', '1 in place of "="'],
    ['message A {', 'its end, which does not belong there'],
    ['enum E {}', 'no value of E'],
    ['syntax = "proto4";', 'a syntax that is not known'],
    ['{"type":"record"}', '{, which does not belong there, in line 1'],
    ['option a = "b', 'a text that does not end'],
    ['/* message', 'a comment that does not end'],
  ])('%j is refused', (text, fault) => {
    expect(() => describedProtos([{ name: '', text }])).toThrow(fault)
  })

  test('of any words is a schema or a fault', () => {
    const words = [
      'message',
      'enum',
      'oneof',
      'map',
      'extend',
      'group',
      'option',
      'import',
      'A',
      'int32',
      '=',
      ';',
      '{',
      '}',
      '<',
      '>',
      '[',
      ']',
      ',',
      '.',
      '"',
      "'",
      '1',
      '-',
      '/*',
      '*/',
      '//',
      '\n',
      ' ',
      '\\',
      'optional',
      'repeated',
      'packed',
      'json_name',
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 60 }), (found) => {
        try {
          codecOf(found.join(' ')).read(Buffer.from([0, 8, 7]), 0)
        } catch (error) {
          expect(error).toBeInstanceOf(PayloadFault)
        }
      }),
      { numRuns: 3000 },
    )
  })
})
