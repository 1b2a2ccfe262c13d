// CBOR as JSON text and back: https://www.rfc-editor.org/rfc/rfc8949

import { digitsOf } from '../../record/exact-json.ts'
import type { SchemaCodec } from '../schema-codec.ts'
import { textOf } from './binary-node.ts'
import { maxIntegerBytes, readCbor } from './read-cbor.ts'
import { type BinaryEncoder, writeBinary } from './write-binary.ts'

/** Every value takes the shortest form (section 4.2.1), only floats keep 32 or 64 bits. */
const encoder: BinaryEncoder = {
  constant: (value) => Buffer.from([value === null ? 0xf6 : value ? 0xf5 : 0xf4]),
  integer: integerBytes,
  float(value, is) {
    const bytes = Buffer.alloc(is === 'single' ? 5 : 9)
    bytes[0] = is === 'single' ? 0xfa : 0xfb
    if (is === 'single') bytes.writeFloatBE(value, 1)
    else bytes.writeDoubleBE(value, 1)
    return bytes
  },
  text: (utf8) => Buffer.concat([head(3, BigInt(utf8.length)), utf8]),
  bytes: (bytes) => Buffer.concat([head(2, BigInt(bytes.length)), bytes]),
  listHead: (length) => head(4, BigInt(length)),
  mapHead: (length) => head(5, BigInt(length)),
  breakByte: Buffer.from([0xff]),
  tagHead: (tag) => (tag < 1n << 64n ? head(6, tag) : null),
  special(value) {
    const digits = digitsOf(value.$simple)
    if (Object.keys(value).length !== 1 || digits === null || !/^\d{1,3}$/.test(digits)) return null
    const simple = Number(digits)
    // 20 to 22 are false, true and null; 24 to 31 stand for nothing.
    if (simple > 255 || (simple >= 20 && simple < 32 && simple !== 23)) return null
    return Buffer.from(simple < 24 ? [0xe0 | simple] : [0xf8, simple])
  },
}

export const cborCodec: SchemaCodec = {
  read: (bytes, at) => textOf(readCbor(bytes, at)),
  write: (json, bytes, at) => writeBinary(json, { old: readCbor(bytes, at), bytes }, encoder),
}

/** The major type with its argument. */
function head(major: number, argument: bigint): Buffer {
  const first = major << 5
  if (argument < 24n) return Buffer.from([first | Number(argument)])
  const at = [8n, 16n, 32n].findIndex((bits) => argument < 1n << bits)
  const size = at === -1 ? 8 : 1 << at
  const bytes = Buffer.alloc(1 + size)
  bytes[0] = first | (24 + Math.log2(size))
  if (size === 8) bytes.writeBigUInt64BE(argument, 1)
  else bytes.writeUIntBE(Number(argument), 1, size)
  return bytes
}

function integerBytes(value: bigint): Buffer | null {
  const isNegative = value < 0n
  const argument = isNegative ? -1n - value : value
  if (argument < 1n << 64n) return head(isNegative ? 1 : 0, argument)
  const hex = argument.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  if (bytes.length > maxIntegerBytes) return null
  return Buffer.concat([head(6, isNegative ? 3n : 2n), head(2, BigInt(bytes.length)), bytes])
}
