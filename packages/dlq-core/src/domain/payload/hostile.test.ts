// Values, schemas and compressed bytes of somebody who wants to stop the service: each ends soon, in little memory, with a
// reason. The time is for a machine that does nothing else; the tests allow ten times as much.

import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { parseAvroSchema } from './avro/avro-schema.ts'
import { compileAvroReader } from './avro/read-avro.ts'
import { cborCodec } from './binary/cbor-codec.ts'
import { msgpackCodec } from './binary/msgpack-codec.ts'
import { decompress } from './decompress.ts'
import { PayloadFault } from './payload-fault.ts'
import { createFramedProtobufCodec, describedProtos } from './protobuf/protobuf-codec.ts'

const maxMs = 2000
const maxGrowthBytes = 50 * 1024 * 1024

/** The reason for which the work ends. */
function faultOf(work: () => unknown): string {
  const heap = process.memoryUsage().heapUsed
  // Of this thread: others may use the machine.
  const before = process.threadCpuUsage()
  let reason = 'no fault'
  try {
    work()
  } catch (error) {
    if (!(error instanceof PayloadFault)) throw error
    reason = error.message
  }
  const { user, system } = process.threadCpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(maxMs)
  expect(process.memoryUsage().heapUsed - heap).toBeLessThan(maxGrowthBytes)
  return reason
}

/** Zigzag and seven bits a byte, for numbers beyond 32 bits too. */
function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let zigzag = value < 0n ? -value * 2n - 1n : value * 2n
  for (; zigzag >= 0x80n; zigzag >>= 7n) bytes.push(Number(zigzag & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(zigzag)])
}

const readerOf = (schema: unknown) => compileAvroReader(parseAvroSchema(JSON.stringify(schema)))
const nulls = readerOf({ type: 'array', items: 'null' })
const selfHolding = { type: 'record', name: 'R', fields: [{ name: 'r', type: ['null', 'R'] }] }

describe('a value', () => {
  test('of 50 million nulls in five bytes', () => {
    expect(faultOf(() => nulls(Buffer.concat([varint(50_000_000n), Buffer.from([0])])))).toBe(
      'it holds more than 100000 values',
    )
  })

  test('of nulls in many blocks', () => {
    const block = Buffer.concat([varint(50_000n)])
    expect(faultOf(() => nulls(Buffer.concat([...Array(1000).fill(block), Buffer.from([0])])))).toBe(
      'it holds more than 100000 values',
    )
  })

  test.each([
    ['a negative number of items', -50_000_000n],
    ['more items than a number can count', 2n ** 62n],
    ['the least number of items', -(2n ** 63n)],
  ])('with %s', (_, count) => {
    const bytes = Buffer.concat([varint(count), varint(0n), Buffer.from([0])])
    expect(faultOf(() => nulls(bytes))).toMatch(/it holds more than|a block of/)
  })

  test('of empty records in empty records', () => {
    let schema: unknown = { type: 'record', name: 'R0', fields: [] }
    for (let level = 1; level < 30; level += 1) {
      const fields = [{ name: 'a', type: schema }, ...'bcdefghij'].map((field) =>
        typeof field === 'string' ? { name: field, type: `R${level - 1}` } : field,
      )
      schema = { type: 'record', name: `R${level}`, fields }
    }
    expect(faultOf(() => readerOf(schema)(Buffer.alloc(0)))).toBe('it holds more than 100000 values')
  })

  test('whose names are longer than its bytes', () => {
    const schema = {
      type: 'array',
      items: { type: 'record', name: 'R', fields: [{ name: 'n'.repeat(100_000), type: 'null' }] },
    }
    const bytes = Buffer.concat([varint(40_000n), Buffer.from([0])])
    expect(faultOf(() => readerOf(schema)(bytes))).toBe('its text is longer than 4194304 characters')
  })

  test('nested without end', () => {
    expect(faultOf(() => readerOf(selfHolding)(Buffer.alloc(200_000, 2)))).toBe('it is nested deeper than 100 levels')
    const endless = { type: 'record', name: 'R', fields: [{ name: 'r', type: 'R' }] }
    expect(faultOf(() => readerOf(endless)(Buffer.alloc(0)))).toBe('it is nested deeper than 100 levels')
  })

  test.each([
    ['a text longer than itself', 'string', varint(1_000_000_000n), 'it ends too early'],
    ['a text of negative length', 'string', varint(-1n), 'it has a length that is negative or too large'],
    ['a text of 2^62 bytes', 'bytes', varint(2n ** 62n), 'it has a length that is negative or too large'],
    ['an integer that does not end', 'long', Buffer.alloc(9, 0xff), 'it ends too early'],
    ['an integer of 70 bits', 'long', Buffer.alloc(11, 0xff), 'it has an integer of more than 64 bits'],
    ['an int of 33 bits', 'int', varint(2n ** 32n), 'it has an int of more than 32 bits'],
    ['a branch that does not exist', ['null', 'int'], varint(7n), 'it has a branch that its union does not know'],
    [
      'a symbol that does not exist',
      { type: 'enum', name: 'E', symbols: ['A'] },
      varint(1n),
      'it has a symbol that E does not know',
    ],
    ['a boolean of 2', 'boolean', Buffer.from([2]), 'it has a boolean that is neither 0 nor 1'],
    ['bytes behind it', 'int', Buffer.from([2, 2]), '1 bytes are left over'],
  ])('with %s', (_, schema, bytes, reason) => {
    expect(faultOf(() => readerOf(schema)(bytes))).toBe(reason)
  })

  test('with a decimal of a mebibyte', () => {
    const schema = { type: 'bytes', logicalType: 'decimal', precision: 9_999_999, scale: 0 }
    const bytes = Buffer.concat([varint(1_048_576n), Buffer.alloc(1_048_576, 0x7f)])
    expect(faultOf(() => readerOf(schema)(bytes))).toBe('it has a decimal of more than 1000 bytes')
  })

  test('of small decimals with many digits behind the point', () => {
    const schema = { type: 'array', items: { type: 'bytes', logicalType: 'decimal', precision: 1000, scale: 1000 } }
    const bytes = Buffer.concat([varint(90_000n), Buffer.alloc(180_000, 2), Buffer.from([0])])
    expect(faultOf(() => readerOf(schema)(bytes))).toBe('its text is longer than 4194304 characters')
  })
})

describe('a value without a schema', () => {
  const uint32 = (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return bytes
  }
  const of = (first: number, ...rest: (Buffer | number)[]) =>
    Buffer.concat([
      Buffer.from([first]),
      ...rest.map((part) => (typeof part === 'number' ? Buffer.from([part]) : part)),
    ])
  const megabyte = 1024 * 1024
  const tooMany = 'it holds more than 100000 values'

  test.each([
    ['of four billion items in five bytes', of(0xdd, uint32(2 ** 32 - 1)), 'it ends too early'],
    ['of a mebibyte of nulls', of(0xdd, uint32(megabyte), Buffer.alloc(megabyte, 0xc0)), tooMany],
    ['of a mebibyte of empty maps', of(0xdd, uint32(megabyte), Buffer.alloc(megabyte, 0x80)), tooMany],
    ['of lists in lists', Buffer.alloc(megabyte, 0x91), 'it is nested deeper than 100 levels'],
    ['of maps in keys of maps', Buffer.alloc(megabyte, 0x81), 'it is nested deeper than 100 levels'],
    ['with a text longer than itself', of(0xdb, uint32(2 ** 32 - 1)), 'it ends too early'],
    ['with a text that is not UTF-8', of(0xa1, 0xff), 'it has a text that is not UTF-8'],
    ['of control characters', of(0xdb, uint32(megabyte), Buffer.alloc(megabyte, 1)), /its text is longer than/],
    ['with an extension longer than itself', of(0xc9, uint32(2 ** 32 - 1), 0), 'it ends too early'],
    ['with the byte that stands for nothing', of(0xc1), 'it has the byte c1, which stands for nothing'],
    ['with bytes behind it', of(0xc0, 0xc0), '1 bytes are left over'],
    ['of nothing', Buffer.alloc(0), 'it ends too early'],
  ])('of MessagePack, %s', (_, bytes, reason) => {
    expect(faultOf(() => msgpackCodec.read(bytes, 0))).toMatch(reason)
  })

  test.each([
    ['of 2^64 items in nine bytes', of(0x9b, Buffer.alloc(8, 0xff)), 'it has a length that is too large'],
    ['of four billion items in five bytes', of(0x9a, uint32(2 ** 32 - 1)), 'it ends too early'],
    ['of nulls without end', of(0x9f, Buffer.alloc(megabyte, 0xf6)), tooMany],
    ['of lists in lists', Buffer.alloc(megabyte, 0x9f), 'it is nested deeper than 100 levels'],
    ['of maps in keys of maps', Buffer.alloc(megabyte, 0xbf), 'it is nested deeper than 100 levels'],
    ['of tags of tags', Buffer.alloc(megabyte, 0xc6), 'it is nested deeper than 100 levels'],
    ['of empty chunks', of(0x5f, Buffer.alloc(megabyte, 0x40)), tooMany],
    ['of chunks in chunks', of(0x5f, 0x5f), 'it has a text of chunks that are none'],
    ['of chunks of another kind', of(0x7f, 0x41, 0x61), 'it has a text of chunks that are none'],
    [
      'with an integer of a mebibyte',
      of(0xc2, 0x5a, uint32(megabyte), Buffer.alloc(megabyte, 0x7f)),
      /more than 1000 bytes/,
    ],
    ['with a break outside of a list', of(0xff), /a break outside of a list/],
    ['with a break in place of a value', of(0xbf, 0x01, 0xff), /a break outside of a list/],
    ['with a false in two bytes', of(0xf8, 0x14), /a value that CBOR does not know/],
    ['with a length of a kind that does not exist', of(0x1c), /of a kind that CBOR does not know/],
    ['with bytes behind it', of(0xf6, 0xf6), '1 bytes are left over'],
  ])('of CBOR, %s', (_, bytes, reason) => {
    expect(faultOf(() => cborCodec.read(bytes, 0))).toMatch(reason)
  })

  test('with the names of an object’s own members', () => {
    const bytes = of(0x81, 0xa9, Buffer.from('__proto__'), 0x07)
    expect(msgpackCodec.read(bytes, 0)).toBe('{"__proto__":7}')
    expect(msgpackCodec.write('{"__proto__":8}', bytes, 0)).toEqual(of(0x81, 0xa9, Buffer.from('__proto__'), 0x08))
  })
})

describe('a schema', () => {
  const nested = (levels: number) => `${'{"type":"array","items":'.repeat(levels)}"int"${'}'.repeat(levels)}`

  test.each([
    ['1,000 levels deep', nested(1000), 'the schema is nested deeper than 64 levels'],
    ['of two mebibytes', `"${'x'.repeat(2 ** 21)}"`, 'the schema is longer than 1048576 characters'],
    [
      'of 1,001 named types',
      JSON.stringify(Array.from({ length: 1001 }, (_, n) => ({ type: 'fixed', name: `F${n}`, size: 1 }))),
      'the schema has more than 1000 named types',
    ],
    [
      'that needs itself to be named',
      '{"type":"record","name":"R","fields":[{"name":"a","type":"S"}]}',
      'the schema has no type S',
    ],
    [
      'whose types have types',
      `${'{"type":'.repeat(100)}"int"${'}'.repeat(100)}`,
      'the schema is nested deeper than 64 levels',
    ],
  ])('%s', (_, schema, reason) => {
    expect(faultOf(() => parseAvroSchema(schema))).toBe(reason)
  })

  test('that holds itself costs nothing until it is read', () => {
    expect(faultOf(() => readerOf(selfHolding))).toBe('no fault')
  })

  test('with the names of an object’s own members', () => {
    const schema = { type: 'record', name: '__proto__', fields: [{ name: 'constructor', type: 'int' }] }
    expect(readerOf(schema)(Buffer.from([2]))).toBe('{"constructor":1}')
  })
})

describe('a text in .proto', () => {
  const mebibyte = 1024 * 1024
  const filled = (part: string, size = mebibyte) => part.repeat(Math.floor(size / part.length))

  test.each([
    ['of messages in messages', filled('message A{'), 'the schema is nested deeper than 64 levels'],
    [
      'of 1,001 messages',
      Array.from({ length: 1001 }, (_, n) => `message M${n}{}`).join(''),
      'more than 1000 named types',
    ],
    [
      'of 1,001 maps',
      `message A{${Array.from({ length: 1001 }, (_, n) => `map<int32,int32> m${n}=${n + 1};`).join('')}}`,
      'more than 1000 named types',
    ],
    [
      'of 5,001 fields',
      `message A{${Array.from({ length: 5001 }, (_, n) => `int32 f${n}=${n + 1};`).join('')}}`,
      'more than 5000 fields',
    ],
    [
      'of long names in long names',
      `${`message ${'a'.repeat(400)}{`.repeat(3)}}}}`,
      'a name of more than 500 characters',
    ],
    ['of two mebibytes', filled(' ', 2 * mebibyte), 'the schema is longer than 1048576 characters'],
    ['of beginnings of comments', filled('/* '), 'a comment that does not end'],
    ['of beginnings of comments in an option', `option ${filled('/* ', mebibyte - 10)}`, 'a comment that does not end'],
    ['of beginnings of texts', filled('"'), 'which does not belong there'],
    [
      'of brackets that do not close',
      `option a = ${filled('{', mebibyte - 20)}`,
      'its end, which does not belong there',
    ],
    ['of one name', `message ${filled('a', mebibyte - 20)}`, 'a name of more than 500 characters'],
    ['of one number', `message A { int32 n = ${filled('9', mebibyte - 40)}; }`, 'which does not belong there'],
    ['of points', `message A { ${filled('a.', mebibyte - 40)} n = 1; }`, 'a name of more than 500 characters'],
    ['of underlines', `message A { int32 ${filled('_', mebibyte - 40)} = 1; }`, 'a name of more than 500 characters'],
    ['of lines', `${filled('\n', mebibyte - 10)}x`, 'in line 1048567'],
  ])('%s', (_, text, reason) => {
    const fault = faultOf(() => describedProtos([{ name: '', text }]))
    expect(fault.length).toBeLessThan(500)
    expect(fault).toContain(reason)
  })

  test('of many long names in deep scopes', () => {
    const open = Array.from({ length: 60 }, (_, n) => `message M${n}${'x'.repeat(4)}{`).join('')
    const fields = Array.from({ length: 5000 }, (_, n) => `M0xxxx f${n}=${n + 1};`).join('')
    expect(faultOf(() => describedProtos([{ name: '', text: `${open}${fields}${'}'.repeat(60)}` }]))).toBe('no fault')
  })

  test('with the names of an object’s own members', () => {
    const text = 'syntax = "proto3"; message __proto__ { int32 constructor = 1; map<string, int32> toString = 2; }'
    const codec = createFramedProtobufCodec(describedProtos([{ name: '', text }]))
    expect(codec.read(Buffer.from([0, 8, 7]), 0)).toBe('{"constructor":7}')
  })
})

describe('compressed bytes', () => {
  test.each([
    ['gzip', gzipSync(Buffer.alloc(100 * 1024 * 1024))],
    ['zstd', zstdCompressSync(Buffer.alloc(100 * 1024 * 1024))],
  ] as const)('of %s that are zeros end at 4 MiB', (compression, bytes) => {
    expect(faultOf(() => decompress(bytes, compression))).toBe('it unpacks to more than 4194304 bytes')
  })

  test('that are cut off, or are none', () => {
    const whole = gzipSync(Buffer.from('{"a":1}'.repeat(1000)))
    expect(faultOf(() => decompress(whole.subarray(0, 20), 'gzip'))).toBe('it is not whole gzip')
    expect(faultOf(() => decompress(Buffer.from('x'), 'br'))).toBe('it is not whole br')
  })

  test('of zstd with a window of 128 MiB are refused before the memory is taken', () => {
    // A frame header with a window descriptor of 2^27, and an empty last block.
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 0x01, 0x00, 0x00])
    expect(faultOf(() => decompress(frame, 'zstd'))).toBe('it is not whole zstd')
  })
})
