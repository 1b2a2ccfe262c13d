import { expect, test } from 'vitest'
import { batchOf, recordAt } from '../store/test-batch.ts'
import { type Part, partsOfBatch } from './parts-of-batch.ts'

const record = (offset: number, bytes: number) => ({
  ...recordAt(offset),
  key: null,
  value: Buffer.alloc(bytes),
  headers: [],
})
const offsetsOf = (parts: Iterable<Part>) =>
  [...parts].map(({ batch: { fetchedOffset, records, nextOffset } }) => [
    Number(fetchedOffset),
    records.map(({ offset }) => Number(offset)),
    Number(nextOffset),
  ])

test('a batch that fits is one part, one without records too', () => {
  const batch = batchOf([record(3, 40), record(4, 60)], { fetchedOffset: 1n, nextOffset: 9n })
  expect([...partsOfBatch(batch, { maxBytes: 100 })]).toEqual([{ batch, bytes: 100 + 2 * 2048 }])
  expect([...partsOfBatch({ ...batch, records: [] }, { maxBytes: 100 })]).toEqual([
    { batch: { ...batch, records: [] }, bytes: 0 },
  ])
})

test('a larger one is divided at the bound, and a record that is too large is a part by itself', () => {
  const batch = batchOf([record(3, 60), record(4, 60), record(7, 500), record(8, 10)], {
    fetchedOffset: 1n,
    nextOffset: 12n,
  })
  expect(offsetsOf(partsOfBatch(batch, { maxBytes: 100 }))).toEqual([
    [1, [3], 4],
    [4, [4], 7],
    [7, [7], 8],
    [8, [8], 12],
  ])
})

test('many small records are divided by their number', () => {
  const batch = batchOf(Array.from({ length: 5 }, (_, at) => record(at, 1)))
  expect(offsetsOf(partsOfBatch(batch, { maxRecords: 2 }))).toEqual([
    [0, [0, 1], 2],
    [2, [2, 3], 4],
    [4, [4], 5],
  ])
})

test('headers and keys count', () => {
  const heavy = { ...record(0, 10), key: Buffer.alloc(30), headers: [['name', Buffer.alloc(30)] as const] }
  expect(offsetsOf(partsOfBatch(batchOf([heavy as never, record(1, 30)]), { maxBytes: 100 }))).toHaveLength(2)
})

test.each([1, 50, 100, 1000, 10_000])(
  'parts of %i bytes follow each other without a gap, and hold the whole batch',
  (maxBytes) => {
    const sizes = [0, 90, 5, 5, 0, 100, 101, 1, 40, 40, 40, 0, 0, 600, 99, 1, 1]
    const records = sizes.map((bytes, index) => record(10 + 3 * index, bytes))
    const batch = batchOf(records, { fetchedOffset: 5n, nextOffset: 99n })
    const parts = [...partsOfBatch(batch, { maxBytes })].map((part) => part.batch)

    expect(parts.flatMap(({ records }) => records)).toEqual(records)
    expect(parts.map(({ fetchedOffset }) => fetchedOffset)).toEqual([
      5n,
      ...parts.slice(0, -1).map(({ nextOffset }) => nextOffset),
    ])
    expect(parts.at(-1)!.nextOffset).toBe(99n)
    for (const { records } of parts)
      expect(records.length < 2 || records.reduce((sum, { value }) => sum + value!.length, 0) <= maxBytes).toBe(true)
  },
)
