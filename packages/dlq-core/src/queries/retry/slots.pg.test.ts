// The holders of slots. A holder that lost its slot can do nothing with it.

import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { claimBatch } from './batches.ts'
import {
  countBatches,
  forgetUnanswered,
  listAbandonedSlots,
  nextBatchNumbers,
  noteUnanswered,
  readUnanswered,
  releaseSlot,
  renewSlot,
  type Slot,
  takeAbandonedSlot,
  takeSlot,
} from './slots.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const leaseMs = 60_000
const renew = (slot: Slot, settled = 0n) => renewSlot(service.sql, { ...slot, settled, leaseMs })
const take = (lease = leaseMs) => takeSlot(service.sql, { owner: 'test', leaseMs: lease })

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_slots', 'dlq.dlq_messages')
})

test('every retrier gets a different slot, however many take one at once', async () => {
  const taken = await Promise.all(Array.from({ length: 12 }, () => take()))
  expect(taken.map(({ slot }) => slot).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1))
  expect(taken.every(({ epoch, fresh }) => epoch === 1n && fresh)).toBe(true)
})

test('slots that were given back go to one retrier each, and one that somebody is writing is passed over', async () => {
  for (const slot of await Promise.all([take(), take(), take()])) await releaseSlot(service.sql, slot)
  const taken = await database.sql.begin(async (sql) => {
    await sql`select from dlq.dlq_slots where slot = 1 for update`
    return Promise.all(Array.from({ length: 5 }, () => take()))
  })
  const found = taken.map(({ slot, fresh }) => `${slot} ${fresh ? 'new' : 'known'}`)
  expect(found.toSorted()).toEqual(['2 known', '3 known', '4 new', '5 new', '6 new'])
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

  expect(await renew(lost)).toBeNull()
  await releaseSlot(service.sql, lost)
  expect(await nextBatchNumbers(service.sql, lost)).toBeNull()
  const [row] = await database.sql`select owner, batch::int, owner_until > now() as held from dlq.dlq_slots`
  expect(row).toEqual({ owner: 'test', batch: 0, held: true })
  expect(await renew(owner)).toEqual({ batch: 0n, holds_settled: false })
  await nextBatchNumbers(service.sql, { ...owner, count: 4 })
  expect(await renew(owner)).toEqual({ batch: 4n, holds_settled: false })
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

test('what its holder does to a slot, it does to no other of the same epoch', async () => {
  const [slot, other] = [await take(), await take()]
  expect(other.epoch).toBe(slot.epoch)
  const unanswered = { token: '00000000-0000-4000-8000-000000000001', records: [] }
  await noteUnanswered(service.sql, { ...other, ...unanswered })
  const readOther = () => database.sql`select * from dlq.dlq_slots where slot = ${other.slot}`
  const before = await readOther()
  await renewSlot(service.sql, { ...slot, settled: 0n, leaseMs: 2 * leaseMs })
  await nextBatchNumbers(service.sql, slot)
  await noteUnanswered(service.sql, { ...slot, ...unanswered, token: '00000000-0000-4000-8000-000000000002' })
  await forgetUnanswered(service.sql, slot)
  await releaseSlot(service.sql, slot)
  expect(await readOther()).toEqual(before)
})

test('the numbers of a slot only rise, and are above the one in the ledger', async () => {
  const slot = await take()
  expect(await nextBatchNumbers(service.sql, slot)).toBe(1n)
  expect(await nextBatchNumbers(service.sql, { ...slot, count: 3 })).toBe(2n)
  expect(await nextBatchNumbers(service.sql, { ...slot, floor: 3n })).toBe(5n)
  expect(await nextBatchNumbers(service.sql, { ...slot, floor: 70n })).toBe(71n)
  await nextBatchNumbers(service.sql, await take())
  expect(await countBatches(service.sql)).toBe(72n)
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
  expect(await takeAbandonedSlot(service.sql, { owner: 'sweeper', leaseMs, except: [2] })).toBeNull()
  expect(await takeSlot(service.sql, { owner: 'test', leaseMs: -1, except: [2] })).toMatchObject({ slot: 3 })
  expect(await takeAbandonedSlot(service.sql, { owner: 'sweeper', leaseMs })).toMatchObject({ slot: 2, epoch: 2n })
  expect(await takeAbandonedSlot(service.sql, { owner: 'sweeper', leaseMs })).toBeNull()
})

test('a slot whose messages SQL has settled is not abandoned, and they count for no bound', async () => {
  const slot = await take(-1)
  await insertMessageRow(database.sql, { status: 'RETRYING', retry_count: 1, lease_slot: slot.slot, lease_batch: 1 })
  await database.sql`update dlq.dlq_messages set status = 'RESOLVED'`
  expect(await listAbandonedSlots(service.sql)).toEqual([])
  expect(await takeAbandonedSlot(service.sql, { owner: 'sweeper', leaseMs })).toBeNull()

  await insertMessageRow(database.sql, { next_retry_at: new Date(0) })
  const share = { topic: 'orders.events.v1', quota: 1, maxInFlight: 1, ordered: false, pausedGroups: [] }
  const claimed = await claimBatch(service.sql, { ...slot, token: randomUUID(), shares: [share], maxBytes: 1e6 })
  expect(claimed?.messages).toHaveLength(1)
})

test('a renewal finds what is claimed under a number that was settled', async () => {
  const [slot, other] = [await take(), await take()]
  await insertMessageRow(database.sql, { status: 'RETRYING', retry_count: 1, lease_slot: slot.slot, lease_batch: 5 })
  expect(await renew(slot, 4n)).toMatchObject({ holds_settled: false })
  expect(await renew(slot, 5n)).toMatchObject({ holds_settled: true })
  expect(await renew(other, 5n)).toMatchObject({ holds_settled: false })
})
