import { expect, test } from 'vitest'
import type { Batch } from '../store/store-batch.ts'
import { batchOf as batchOfRecords, recordAt } from '../store/test-batch.ts'
import { type FetchedPart, type Message, type Part, partsOfBatch } from './parts-of-batch.ts'

const message = (offset: number, bytes: number): Message => ({
  offset: String(offset),
  key: null,
  value: Buffer.alloc(bytes),
  headerPairs: [],
})
const recordsOf = (messages: readonly Message[]) => messages.map(({ offset }) => recordAt(BigInt(offset)))
const batchOf = (messages: readonly Message[], more = {}): FetchedPart<Message> => {
  const { records, ...batch } = batchOfRecords(recordsOf(messages), more)
  return { ...batch, messages, recordsOf }
}
const offsetsIn = ({ records }: Batch) => Array.from(records, ({ offset }) => Number(offset))
const offsetsOf = (parts: Iterable<Part>) =>
  [...parts].map(({ batch }) => [Number(batch.fetchedOffset), offsetsIn(batch), Number(batch.nextOffset)])

test('a batch that fits is one part, one without records too', () => {
  const batch = batchOf([message(3, 40), message(4, 60)], { fetchedOffset: 1n, nextOffset: 9n })
  const whole = [...partsOfBatch(batch, { maxBytes: 100, around: 2000 })]
  expect(offsetsOf(whole)).toEqual([[1, [3, 4], 9]])
  expect(whole[0]!.bytes).toBe(100 + 2 * 2000)
  const none = [...partsOfBatch({ ...batch, messages: [] }, { maxBytes: 100 })]
  expect(offsetsOf(none)).toEqual([[1, [], 9]])
  expect(none[0]!.bytes).toBe(0)
})

test('a larger one is divided at the bound, and a record that is too large is a part by itself', () => {
  const batch = batchOf([message(3, 60), message(4, 60), message(7, 500), message(8, 10)], {
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

test('each part has the bytes of its own records, and none is empty where the first record is too large', () => {
  const parts = [
    ...partsOfBatch(batchOf([500, 60, 30, 30].map((bytes, at) => message(at, bytes))), { maxBytes: 100, around: 1 }),
  ]
  expect(offsetsOf(parts)).toEqual([
    [0, [0], 1],
    [1, [1, 2], 3],
    [3, [3], 4],
  ])
  expect(parts.map(({ bytes }) => bytes)).toEqual([501, 92, 31])
})

test('many small records are divided by their number', () => {
  const batch = batchOf(Array.from({ length: 5 }, (_, at) => message(at, 1)))
  expect(offsetsOf(partsOfBatch(batch, { maxRecords: 2 }))).toEqual([
    [0, [0, 1], 2],
    [2, [2, 3], 4],
    [4, [4], 5],
  ])
})

test('headers and keys count', () => {
  const heavy = {
    ...message(0, 10),
    key: Buffer.alloc(30),
    headerPairs: [['name', Buffer.alloc(30)] as [string, Buffer]],
  }
  expect(offsetsOf(partsOfBatch(batchOf([heavy, message(1, 30)]), { maxBytes: 100 }))).toHaveLength(2)
  const sized = { ...message(0, 10), size: 80 }
  expect(offsetsOf(partsOfBatch(batchOf([sized, message(1, 30)]), { maxBytes: 100 }))).toHaveLength(2)
})

test.each([1, 50, 100, 1000, 10_000])(
  'parts of %i bytes follow each other without a gap, and hold the whole batch',
  (maxBytes) => {
    const sizes = [0, 90, 5, 5, 0, 100, 101, 1, 40, 40, 40, 0, 0, 600, 99, 1, 1]
    const messages = sizes.map((bytes, index) => message(10 + 3 * index, bytes))
    const batch = batchOf(messages, { fetchedOffset: 5n, nextOffset: 99n })
    const parts = [...partsOfBatch(batch, { maxBytes })].map((part) => part.batch)

    expect(parts.flatMap(offsetsIn)).toEqual(messages.map(({ offset }) => Number(offset)))
    expect(parts.map(({ fetchedOffset }) => fetchedOffset)).toEqual([
      5n,
      ...parts.slice(0, -1).map(({ nextOffset }) => nextOffset),
    ])
    expect(parts.at(-1)!.nextOffset).toBe(99n)
    const sizeOf = (offset: number) => sizes[(offset - 10) / 3]!
    for (const part of parts) {
      const offsets = offsetsIn(part)
      expect(offsets.length < 2 || offsets.reduce((sum, offset) => sum + sizeOf(offset), 0) <= maxBytes).toBe(true)
    }
  },
)
