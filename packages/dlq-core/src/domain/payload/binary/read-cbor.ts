// CBOR: https://www.rfc-editor.org/rfc/rfc8949
// Our own reader, because libraries give JavaScript's values, which do not say what an unchanged part was written as.

import { isUtf8 } from 'node:buffer'
import { PayloadFault } from '../payload-fault.ts'
import { type BinaryNode, bytesNode, floatNode, listNode, mapNode, scalar } from './binary-node.ts'
import { BoundedInput } from './bounded-input.ts'

/** Digits of a number cost time by the square of their number. */
export const maxIntegerBytes = 1000

/** @throws {PayloadFault} unless the bytes from `at` to the end are one value */
export function readCbor(bytes: Buffer, at: number): BinaryNode {
  const input = new BoundedInput(bytes, at)
  const node = readValue(input)
  input.end()
  return node
}

const breakByte = 0xff
/** The additional information of a length that is not given. */
const open = 31

function readValue(input: BoundedInput): BinaryNode {
  const start = input.at
  const byte = input.byte()
  const major = byte >>> 5
  const info = byte & 0x1f
  switch (major) {
    case 0:
      return scalar(input, start, String(argument(input, info)))
    case 1:
      return scalar(input, start, String(-1n - BigInt(argument(input, info))))
    case 2:
      return bytesNode(input, start, readString(input, major, info))
    case 3: {
      const utf8 = readString(input, major, info)
      if (!isUtf8(utf8)) throw new PayloadFault('it has a text that is not UTF-8')
      return scalar(input, start, JSON.stringify(utf8.toString()), 'text')
    }
    case 4:
      return listNode(input, { start, size: sizeOf(input, info), read: readValue })
    case 5:
      return mapNode(input, { start, size: sizeOf(input, info), read: readValue })
    case 6:
      return readTag(input, start, argument(input, info))
    default:
      return readSimple(input, start, info)
  }
}

/** A bigint where a number would round it. */
function argument(input: BoundedInput, info: number): number | bigint {
  if (info < 24) return info
  const { bytes } = input
  switch (info) {
    case 24:
      return input.byte()
    case 25:
      return bytes.readUInt16BE(input.take(2))
    case 26:
      return bytes.readUInt32BE(input.take(4))
    case 27: {
      const value = bytes.readBigUInt64BE(input.take(8))
      return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
    }
  }
  throw new PayloadFault('it has a length or a number of a kind that CBOR does not know')
}

function lengthOf(input: BoundedInput, info: number): number {
  const length = argument(input, info)
  if (typeof length === 'bigint') throw new PayloadFault('it has a length that is too large')
  return length
}

function sizeOf(input: BoundedInput, info: number): number | (() => boolean) {
  return info === open ? () => takeBreak(input) : lengthOf(input, info)
}

function takeBreak(input: BoundedInput): boolean {
  if (input.bytes[input.at] !== breakByte) return false
  input.at += 1
  return true
}

/** Bytes or text: as a whole, or in chunks of the same kind. */
function readString(input: BoundedInput, major: number, info: number): Buffer {
  const take = (length: number) => {
    const start = input.take(length)
    return input.bytes.subarray(start, start + length)
  }
  if (info !== open) return take(lengthOf(input, info))
  const chunks: Buffer[] = []
  while (!takeBreak(input)) {
    const byte = input.byte()
    if (byte >>> 5 !== major || (byte & 0x1f) === open) throw new PayloadFault('it has a text of chunks that are none')
    input.spend(1, 0)
    chunks.push(take(lengthOf(input, byte & 0x1f)))
  }
  return Buffer.concat(chunks)
}

function readTag(input: BoundedInput, start: number, tag: number | bigint): BinaryNode {
  const head = input.at
  input.enter()
  input.spend(1, 40)
  const isInteger = (tag === 2 || tag === 3) && (input.bytes[head] ?? 0) >>> 5 === 2 && input.bytes[head] !== 0x5f
  const node = isInteger ? readInteger(input, start, tag === 3) : null
  const value = node ?? readValue(input)
  input.leave()
  return node ?? { kind: 'tag', start, end: input.at, head, tag: String(tag), value }
}

/** An integer of any size, as the bytes of a number that is not negative. */
function readInteger(input: BoundedInput, start: number, isNegative: boolean): BinaryNode {
  const length = lengthOf(input, input.byte() & 0x1f)
  if (length > maxIntegerBytes) throw new PayloadFault(`it has an integer of more than ${maxIntegerBytes} bytes`)
  const at = input.take(length)
  const value = BigInt(`0x0${input.bytes.toString('hex', at, at + length)}`)
  return scalar(input, start, String(isNegative ? -1n - value : value))
}

function readSimple(input: BoundedInput, start: number, info: number): BinaryNode {
  const { bytes } = input
  switch (info) {
    case 20:
      return scalar(input, start, 'false')
    case 21:
      return scalar(input, start, 'true')
    case 22:
      return scalar(input, start, 'null')
    case 25:
      return floatNode(input, start, halfOf(bytes.readUInt16BE(input.take(2))), 'double')
    case 26:
      return floatNode(input, start, bytes.readFloatBE(input.take(4)), 'single')
    case 27:
      return floatNode(input, start, bytes.readDoubleBE(input.take(8)), 'double')
  }
  const value = info < 24 ? info : info === 24 ? input.byte() : null
  if (value === null || (info === 24 && value < 32))
    throw new PayloadFault('it has a break outside of a list, or a value that CBOR does not know')
  return scalar(input, start, `{"$simple":${value}}`)
}

/** A float of 16 bits (IEEE 754 binary16). */
function halfOf(bits: number): number {
  const exponent = (bits >>> 10) & 0x1f
  const fraction = bits & 0x3ff
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? fraction === 0
          ? Number.POSITIVE_INFINITY
          : Number.NaN
        : (1 + fraction / 1024) * 2 ** (exponent - 15)
  return bits & 0x8000 ? -size : size
}
