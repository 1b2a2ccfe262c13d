// The holders of slots. A holder that lost its slot can do nothing with it.
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import {
  forgetUnanswered,
  nextBatchNumbers,
  noteUnanswered,
  readUnanswered,
  releaseSlot,
  renewSlot,
  takeAbandonedSlot,
  takeSlot,
} from './slots.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const leaseMs = 60_000
const take = (lease = leaseMs) => takeSlot(service.sql, { owner: 'test', leaseMs: lease })

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_slots', 'dlq.dlq_messages')
})

test('every retrier gets a different slot, however many take one at once', async () => {
  const taken = await Promise.all(Array.from({ length: 12 }, () => take()))
  expect(taken.map(({ slot }) => slot).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1))
  expect(taken.every(({ epoch, fresh }) => epoch === 1n && fresh)).toBe(true)
})

test('a slot that was given back, or whose lease has expired, is taken again under a higher epoch', async () => {
  const first = await take()
  await releaseSlot(service.sql, first)
  expect(await take(-1)).toEqual({ slot: 1, epoch: 2n, batch: 0n, fresh: false })
  expect(await take()).toEqual({ slot: 1, epoch: 3n, batch: 0n, fresh: false })
  expect(await take()).toMatchObject({ slot: 2, epoch: 1n })
})

test('a holder that lost its slot cannot renew it, give it back, or use a number of it', async () => {
  const lost = await take(-1)
  const owner = await take()
  expect(owner.slot).toBe(lost.slot)

  expect(await renewSlot(service.sql, { ...lost, leaseMs })).toBeNull()
  await releaseSlot(service.sql, lost)
  expect(await nextBatchNumbers(service.sql, lost)).toBeNull()
  const [row] = await database.sql`select owner, batch::int, owner_until > now() as held from dlq.dlq_slots`
  expect(row).toEqual({ owner: 'test', batch: 0, held: true })
  expect(await renewSlot(service.sql, { ...owner, leaseMs })).toBe(0n)
  await nextBatchNumbers(service.sql, { ...owner, count: 4 })
  expect(await renewSlot(service.sql, { ...owner, leaseMs })).toBe(4n)
})

test('where records of an unanswered commit stand is noted and forgotten by the holder only', async () => {
  const lost = await take(-1)
  const owner = await take()
  const note = (offset: bigint | null) => ({
    token: '00000000-0000-4000-8000-000000000001',
    records: [{ id: '00000000-0000-7000-8000-000000000001', topic: 'orders', partition: 2, offset }],
  })
  await noteUnanswered(service.sql, { ...owner, ...note(9_007_199_254_740_993n) })
  await noteUnanswered(service.sql, { ...lost, ...note(null) })
  await forgetUnanswered(service.sql, lost)
  expect(await readUnanswered(service.sql, owner.slot)).toEqual(note(9_007_199_254_740_993n))
  await noteUnanswered(service.sql, { ...owner, ...note(null) })
  expect(await readUnanswered(service.sql, owner.slot)).toEqual(note(null))
  await forgetUnanswered(service.sql, owner)
  expect(await readUnanswered(service.sql, owner.slot)).toBeNull()
})

test('the numbers of a slot only rise, and are above the one in the ledger', async () => {
  const slot = await take()
  expect(await nextBatchNumbers(service.sql, slot)).toBe(1n)
  expect(await nextBatchNumbers(service.sql, { ...slot, count: 3 })).toBe(2n)
  expect(await nextBatchNumbers(service.sql, { ...slot, floor: 3n })).toBe(5n)
  expect(await nextBatchNumbers(service.sql, { ...slot, floor: 70n })).toBe(71n)
})

test('an abandoned slot has no holder and still has claimed messages', async () => {
  const owned = await take()
  const empty = await take(-1)
  expect(empty.slot).toBe(2)
  const hold = (slot: number) =>
    insertMessageRow(database.sql, { status: 'RETRYING', retry_count: 1, lease_slot: slot, lease_batch: 1 })
  await hold(owned.slot)
  expect(await takeAbandonedSlot(service.sql, { owner: 'sweeper', leaseMs })).toBeNull()

  await hold(empty.slot)
  expect(await takeAbandonedSlot(service.sql, { owner: 'sweeper', leaseMs })).toMatchObject({ slot: 2, epoch: 2n })
  expect(await takeAbandonedSlot(service.sql, { owner: 'sweeper', leaseMs })).toBeNull()
})
