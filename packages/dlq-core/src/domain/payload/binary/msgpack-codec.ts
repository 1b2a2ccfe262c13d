// MessagePack as JSON text and back: https://github.com/msgpack/msgpack/blob/master/spec.md

import { digitsOf } from '../../record/exact-json.ts'
import type { SchemaCodec } from '../schema-codec.ts'
import { textOf } from './binary-node.ts'
import { timestampBytes } from './msgpack-timestamp.ts'
import { readMsgpack } from './read-msgpack.ts'
import { type BinaryEncoder, base64Bytes, writeBinary } from './write-binary.ts'

/** Every value takes the shortest form. */
const encoder: BinaryEncoder = {
  constant: (value) => Buffer.from([value === null ? 0xc0 : value ? 0xc3 : 0xc2]),
  integer: integerBytes,
  float(value, is) {
    const bytes = Buffer.alloc(is === 'single' ? 5 : 9)
    bytes[0] = is === 'single' ? 0xca : 0xcb
    if (is === 'single') bytes.writeFloatBE(value, 1)
    else bytes.writeDoubleBE(value, 1)
    return bytes
  },
  text: (utf8) => Buffer.concat([head(utf8.length, { short: [0xa0, 32], codes: [0xd9, 0xda, 0xdb] }), utf8]),
  bytes: (bytes) => Buffer.concat([head(bytes.length, { short: null, codes: [0xc4, 0xc5, 0xc6] }), bytes]),
  listHead: (length) => head(length, { short: [0x90, 16], codes: [null, 0xdc, 0xdd] }),
  mapHead: (length) => head(length, { short: [0x80, 16], codes: [null, 0xde, 0xdf] }),
  // No list is without a count.
  breakByte: Buffer.alloc(0),
  tagHead: () => null,
  special(value) {
    if (Object.keys(value).length === 1)
      return typeof value.$timestamp === 'string' ? timeBytes(value.$timestamp) : null
    const digits = digitsOf(value.$ext) ?? ''
    const data = typeof value.value === 'string' ? base64Bytes(value.value) : null
    if (data === null || !/^-?\d{1,3}$/.test(digits) || Math.abs(Number(digits) + 0.5) > 128) return null
    return extensionBytes(Number(digits), data)
  },
}

export const msgpackCodec: SchemaCodec = {
  read: (bytes, at) => textOf(readMsgpack(bytes, at)),
  write: (json, bytes, at) => writeBinary(json, { old: readMsgpack(bytes, at), bytes }, encoder),
}

type Head = { short: [base: number, below: number] | null; codes: readonly [number | null, number, number] }

/** A length: within the first byte, or in one, two or four bytes behind it. */
function head(length: number, { short, codes: [one, two, four] }: Head): Buffer {
  if (short !== null && length < short[1]) return Buffer.from([short[0] | length])
  if (one !== null && length < 0x100) return Buffer.from([one, length])
  const bytes = Buffer.alloc(length < 0x1_0000 ? 3 : 5)
  bytes[0] = bytes.length === 3 ? two : four
  bytes.writeUIntBE(length, 1, bytes.length - 1)
  return bytes
}

function integerBytes(value: bigint): Buffer | null {
  if (value < -(1n << 63n) || value >= 1n << 64n) return null
  if (value >= -32n && value < 128n) return Buffer.from([Number(value) & 0xff])
  const isNegative = value < 0n
  const size = [1, 2, 4, 8].find((size) => {
    const bits = BigInt(size * 8)
    return isNegative ? value >= -(1n << (bits - 1n)) : value < 1n << bits
  })!
  const bytes = Buffer.alloc(1 + size)
  bytes[0] = (isNegative ? 0xd0 : 0xcc) + Math.log2(size)
  if (size === 8) bytes.writeBigUInt64BE(BigInt.asUintN(64, value), 1)
  else if (isNegative) bytes.writeIntBE(Number(value), 1, size)
  else bytes.writeUIntBE(Number(value), 1, size)
  return bytes
}

function timeBytes(text: string): Buffer | null {
  const data = timestampBytes(text)
  return data && extensionBytes(-1, data)
}

function extensionBytes(type: number, data: Buffer): Buffer {
  const fixed = [1, 2, 4, 8, 16].indexOf(data.length)
  const start = fixed >= 0 ? Buffer.from([0xd4 + fixed]) : head(data.length, { short: null, codes: [0xc7, 0xc8, 0xc9] })
  return Buffer.concat([start, Buffer.from([type & 0xff]), data])
}
