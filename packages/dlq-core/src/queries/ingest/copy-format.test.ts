import { expect, test } from 'vitest'
import { type CopyColumns, encodeCopy } from './copy-format.ts'

type Row = { id: bigint; name: string | null; bytes: Buffer | null }

const columns: CopyColumns<Row> = { id: 'int8', name: 'text', bytes: 'bytea' }
const rows: Row[] = [0, 300, 40_000, 7, 0, 90_000, 1].map((bytes, at) => ({
  id: BigInt(at),
  name: bytes === 7 ? null : `é${'x'.repeat(bytes)}`,
  bytes: bytes === 0 ? null : Buffer.alloc(bytes, at),
}))

test.each([1, 64, 2 ** 20])(
  'pieces in a memory of %i bytes at first are those that have memory of their own',
  (size) => {
    const memory = { buffer: Buffer.alloc(size) }
    // Each is copied before the next one is asked for.
    const shared = Array.from(encodeCopy(columns, rows, 2, memory), (piece) => Buffer.from(piece))
    expect(shared).toEqual([...encodeCopy(columns, rows, 2)])
  },
)

test('a memory that was large enough is used for every piece', () => {
  const memory = { buffer: Buffer.alloc(2 ** 20) }
  const { buffer } = memory
  const pieces = [...encodeCopy(columns, rows, 2, memory)]
  expect(pieces).toHaveLength(4)
  expect(pieces.every((piece) => piece.buffer === buffer.buffer)).toBe(true)
  expect(memory.buffer).toBe(buffer)
})
