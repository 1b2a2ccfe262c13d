import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deriveAttemptId, deriveMessageId, idFloorOf, isUuid } from './message-id.ts'

const record = {
  cluster: '5L6g3nShT-eMCtK--X86sw',
  topic: 'orders.dlq.v1',
  partition: 3,
  offset: 42n,
  timestamp: 1_771_583_400_000n,
}

test.each([
  [record, '019c7a99-6840-77a8-86ab-fbe1ca316b73'],
  [{ ...record, offset: 43n }, '019c7a99-6840-79fb-9d9c-9390f3ec817d'],
  [{ ...record, timestamp: -1n }, '00000000-0000-7372-9720-071471362768'],
  [{ ...record, timestamp: 253_402_300_799_999n }, 'e677d21f-dbff-7201-a2ff-6084601803b0'],
])('a record has the id that follows from its coordinates and timestamp: %o', (record, id) => {
  expect(deriveMessageId(record)).toBe(id)
})

test('ids sort by the records’ time', () => {
  const ids = [0n, 1n, 1_771_583_400_000n, 1_771_583_400_001n].map((timestamp) =>
    deriveMessageId({ ...record, timestamp }),
  )
  expect([...ids].sort()).toEqual(ids)
})

test('a time beyond 48 bits is the last that an id can say', () => {
  const timeOf = (timestamp: bigint) => deriveMessageId({ ...record, timestamp }).slice(0, 13)
  expect(timeOf(2n ** 48n - 2n)).toBe('ffffffff-fffe')
  for (const timestamp of [2n ** 48n - 1n, 2n ** 48n, 2n ** 63n - 1n]) expect(timeOf(timestamp)).toBe('ffffffff-ffff')
})

test.each([
  [-1, '00000000-0000-0000-0000-000000000000'],
  [1.9, '00000000-0001-0000-0000-000000000000'],
  [1_771_583_400_000, '019c7a99-6840-0000-0000-000000000000'],
  [2 ** 48, 'ffffffff-ffff-0000-0000-000000000000'],
])('the smallest id of the time %d is %s', (ms, id) => expect(idFloorOf(ms)).toBe(id))

test('a UUID is told in any case, and nothing around it', () => {
  const id = deriveMessageId(record)
  expect([id, id.toUpperCase(), `${id}0`, `0${id}`, `${id}\n`].map(isUuid)).toEqual([true, true, false, false, false])
})

test('any record has a valid UUIDv7, and records at different coordinates have different ones', () => {
  const place = fc.record({
    cluster: fc.string(),
    topic: fc.string(),
    partition: fc.nat(),
    offset: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
    timestamp: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  })
  fc.assert(
    fc.property(place, (place) => {
      const id = deriveMessageId(place)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(deriveMessageId({ ...place, partition: place.partition + 1 })).not.toBe(id)
      expect(deriveMessageId({ ...place, offset: place.offset + 1n })).not.toBe(id)
    }),
  )
})

test('an attempt made again keeps its id, the next attempt has another', () => {
  const id = deriveMessageId(record)
  expect(deriveAttemptId(id, 1)).toBe(deriveAttemptId(id, 1))
  expect(deriveAttemptId(id, 1)).not.toBe(deriveAttemptId(id, 2))
  expect(isUuid(deriveAttemptId(id, 1))).toBe(true)
})
