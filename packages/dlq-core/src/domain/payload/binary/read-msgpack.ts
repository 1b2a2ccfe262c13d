// MessagePack: https://github.com/msgpack/msgpack/blob/master/spec.md
// Our own reader, because libraries give JavaScript's values, which do not say what an unchanged part was written as.

import { isUtf8 } from 'node:buffer'
import { PayloadFault } from '../payload-fault.ts'
import { type BinaryNode, bytesNode, floatNode, listNode, mapNode, scalar } from './binary-node.ts'
import { BoundedInput } from './bounded-input.ts'
import { timestampText } from './msgpack-timestamp.ts'

/** @throws {PayloadFault} unless the bytes from `at` to the end are one value */
export function readMsgpack(bytes: Buffer, at: number): BinaryNode {
  const input = new BoundedInput(bytes, at)
  const node = readValue(input)
  input.end()
  return node
}

function readValue(input: BoundedInput): BinaryNode {
  const start = input.at
  const byte = input.byte()
  if (byte < 0x80) return scalar(input, start, String(byte))
  if (byte < 0x90) return mapNode(input, { start, size: byte & 0x0f, read: readValue })
  if (byte < 0xa0) return listNode(input, { start, size: byte & 0x0f, read: readValue })
  if (byte < 0xc0) return readText(input, start, byte & 0x1f)
  if (byte >= 0xe0) return scalar(input, start, String(byte - 0x100))
  const { bytes } = input
  switch (byte) {
    case 0xc0:
      return scalar(input, start, 'null')
    case 0xc2:
      return scalar(input, start, 'false')
    case 0xc3:
      return scalar(input, start, 'true')
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return bytesNode(input, start, takeBytes(input, unsigned(input, 1 << (byte - 0xc4))))
    case 0xc7:
    case 0xc8:
    case 0xc9:
      return readExtension(input, start, unsigned(input, 1 << (byte - 0xc7)))
    case 0xca:
      return floatNode(input, start, bytes.readFloatBE(input.take(4)), 'single')
    case 0xcb:
      return floatNode(input, start, bytes.readDoubleBE(input.take(8)), 'double')
    case 0xcc:
    case 0xcd:
    case 0xce:
      return scalar(input, start, String(unsigned(input, 1 << (byte - 0xcc))))
    case 0xcf:
      return scalar(input, start, String(bytes.readBigUInt64BE(input.take(8))))
    case 0xd0:
    case 0xd1:
    case 0xd2: {
      const size = 1 << (byte - 0xd0)
      return scalar(input, start, String(bytes.readIntBE(input.take(size), size)))
    }
    case 0xd3:
      return scalar(input, start, String(bytes.readBigInt64BE(input.take(8))))
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
      return readExtension(input, start, 1 << (byte - 0xd4))
    case 0xd9:
    case 0xda:
    case 0xdb:
      return readText(input, start, unsigned(input, 1 << (byte - 0xd9)))
    case 0xdc:
    case 0xdd:
      return listNode(input, { start, size: unsigned(input, 2 << (byte - 0xdc)), read: readValue })
    case 0xde:
    case 0xdf:
      return mapNode(input, { start, size: unsigned(input, 2 << (byte - 0xde)), read: readValue })
  }
  throw new PayloadFault('it has the byte c1, which stands for nothing')
}

/** Of one, two or four bytes. */
function unsigned(input: BoundedInput, size: number): number {
  return input.bytes.readUIntBE(input.take(size), size)
}

function takeBytes(input: BoundedInput, length: number): Buffer {
  const start = input.take(length)
  return input.bytes.subarray(start, start + length)
}

function readText(input: BoundedInput, start: number, length: number): BinaryNode {
  const utf8 = takeBytes(input, length)
  if (!isUtf8(utf8)) throw new PayloadFault('it has a text that is not UTF-8')
  return scalar(input, start, JSON.stringify(utf8.toString()), 'text')
}

function readExtension(input: BoundedInput, start: number, length: number): BinaryNode {
  const type = input.bytes.readInt8(input.take(1))
  const data = takeBytes(input, length)
  const time = type === -1 ? timestampText(data) : null
  const text = time === null ? `{"$ext":${type},"value":"${data.toString('base64')}"}` : `{"$timestamp":"${time}"}`
  return scalar(input, start, text)
}
