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

test('times are the microseconds since 2000, in the years 1 to 9999', () => {
  const epoch = Date.UTC(2000, 0, 1)
  const times = [
    0,
    1,
    -1,
    2 ** 32,
    -(2 ** 32),
    253_402_300_799_999 - epoch,
    -62_135_596_800_000 - epoch,
    Date.now() - epoch,
  ]
  const columns: CopyColumns<{ at: Date }> = { at: 'timestamptz' }
  const [copy] = [
    ...encodeCopy(
      columns,
      times.map((ms) => ({ at: new Date(epoch + ms) })),
      100,
    ),
  ]
  const rowsAt = 'PGCOPY\n\xff\r\n\0'.length + 8
  // Each row: the number of its columns, and the value behind its length.
  const written = times.map((_, at) => copy!.readBigInt64BE(rowsAt + at * (2 + 4 + 8) + 2 + 4))
  expect(written).toEqual(times.map((ms) => BigInt(ms) * 1000n))
})

test('JSON text that is still to be written is written', () => {
  const columns: CopyColumns<{ json: string | (() => string) }> = { json: 'json' }
  const copyOf = (json: string | (() => string)) => Buffer.concat([...encodeCopy(columns, [{ json }], 1)])
  expect(copyOf(() => '["é"]')).toEqual(copyOf('["é"]'))
})
