import { expect, test } from 'vitest'
import { type CopyColumns, createCopyEncoder, encodeCopy } from './copy-format.ts'

type Row = { id: bigint; name: string | null; bytes: Buffer | null }

const columns: CopyColumns<Row> = { id: 'int8', name: 'text', bytes: 'bytea' }
const rows: Row[] = [0, 300, 40_000, 7, 0, 90_000, 1].map((bytes, at) => ({
  id: BigInt(at),
  name: bytes === 7 ? null : `é${'x'.repeat(bytes)}`,
  bytes: bytes === 0 ? null : Buffer.alloc(bytes, at),
}))

test.each([21, 64, 2 ** 20])('a memory of %i bytes at first gives the same bytes', (size) => {
  const encoder = createCopyEncoder(columns, Buffer.alloc(size))
  for (const row of rows) encoder.add(row)
  expect(encoder.bytes()).toEqual(encodeCopy(columns, rows))
  expect(encoder.count).toBe(rows.length)
})

test('a memory that was large enough is the one that is used', () => {
  const memory = Buffer.alloc(2 ** 20)
  const encoder = createCopyEncoder(columns, memory)
  for (const row of rows) encoder.add(row)
  expect(encoder.bytes().buffer).toBe(memory.buffer)
  expect(encoder.memory).toBe(memory)
})

test('rows are added behind those whose bytes were asked for, and forgotten again', () => {
  const encoder = createCopyEncoder(columns)
  encoder.add(rows[0]!)
  const first = Buffer.from(encoder.bytes())
  const mark = encoder.mark()
  for (const row of rows.slice(1)) encoder.add(row)
  expect(encoder.bytes()).toEqual(encodeCopy(columns, rows))
  encoder.back(mark)
  expect(encoder.bytes()).toEqual(first)
  expect(encoder.count).toBe(1)
})

test('the rows of two encoders go into one COPY', () => {
  const encoders = [rows.slice(0, 3), rows.slice(3)].map((part) => {
    const encoder = createCopyEncoder(columns)
    for (const row of part) encoder.add(row)
    return encoder
  })
  const parts = [encoders[0]!.bytes({ isLast: false }), encoders[1]!.bytes({ isFirst: false })]
  expect(Buffer.concat(parts)).toEqual(encodeCopy(columns, rows))
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
  const copy = encodeCopy(
    columns,
    times.map((ms) => ({ at: new Date(epoch + ms) })),
  )
  const rowsAt = 'PGCOPY\n\xff\r\n\0'.length + 8
  // Each row: the number of its columns, and the value behind its length.
  const written = times.map((_, at) => copy.readBigInt64BE(rowsAt + at * (2 + 4 + 8) + 2 + 4))
  expect(written).toEqual(times.map((ms) => BigInt(ms) * 1000n))
})

test('JSON text that is still to be written is written', () => {
  const columns: CopyColumns<{ json: string | (() => string) }> = { json: 'json' }
  const copyOf = (json: string | (() => string)) => encodeCopy(columns, [{ json }])
  expect(copyOf(() => '["é"]')).toEqual(copyOf('["é"]'))
})
