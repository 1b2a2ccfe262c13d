// Bytes for tests of readers: uniform ones hardly ever make an integer that goes on for ten bytes.

import fc from 'fast-check'

/** Bytes between runs of one byte: all bits, the mark of an integer that goes on, nothing. */
export function anyBytes({ maxChunks = 6 } = {}): fc.Arbitrary<Buffer> {
  const run = fc
    .tuple(fc.constantFrom(0xff, 0x80, 0x81, 0), fc.integer({ min: 1, max: 12 }))
    .map(([byte, length]) => Buffer.alloc(length, byte))
  const chunk = fc.oneof(
    fc.uint8Array({ maxLength: 24 }).map((bytes) => Buffer.from(bytes)),
    run,
  )
  return fc.array(chunk, { maxLength: maxChunks }).map((chunks) => Buffer.concat(chunks))
}
