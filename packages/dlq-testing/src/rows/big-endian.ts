// Numbers as Java's ByteBuffer writes them, for the headers of Spring.

/** Four bytes, big-endian. */
export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** Eight bytes, big-endian. */
export function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}
