// The bytes of an Avro value: five of them can declare an array of 50 million nulls.

import { BoundedInput } from '../binary/bounded-input.ts'
import { PayloadFault } from '../payload-fault.ts'

export class AvroInput extends BoundedInput {
  /** A 64-bit integer: a bigint where a number would round it. */
  long(): number | bigint {
    let byte = this.byte()
    if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1)
    // Seven bits a byte, 28 in each of two numbers, and eight.
    let low = byte & 0x7f
    let shift = 7
    do {
      byte = this.byte()
      low |= (byte & 0x7f) << shift
      shift += 7
    } while (byte >= 0x80 && shift < 28)
    if (byte < 0x80) return (low >>> 1) ^ -(low & 1)
    let middle = 0
    shift = 0
    do {
      byte = this.byte()
      middle |= (byte & 0x7f) << shift
      shift += 7
    } while (byte >= 0x80 && shift < 28)
    if (byte < 0x80 && middle < 0x1000000) {
      const zigzag = middle * 0x10000000 + low
      return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
    }
    let high = 0
    if (byte >= 0x80) {
      byte = this.byte()
      high = byte & 0x7f
      if (byte >= 0x80) {
        byte = this.byte()
        if (byte > 1) throw new PayloadFault('it has an integer of more than 64 bits')
        high |= byte << 7
      }
    }
    const zigzag = (BigInt(high) << 56n) | (BigInt(middle) << 28n) | BigInt(low)
    return (zigzag >> 1n) ^ -(zigzag & 1n)
  }

  int(): number {
    const value = this.long()
    if (typeof value === 'bigint' || value !== (value | 0)) throw new PayloadFault('it has an int of more than 32 bits')
    return value
  }

  /** A length or an index: not negative. */
  size(): number {
    const value = this.long()
    if (typeof value === 'bigint' || value < 0) throw new PayloadFault('it has a length that is negative or too large')
    return value
  }
}
