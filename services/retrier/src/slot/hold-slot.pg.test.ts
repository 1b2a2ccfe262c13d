import { nextBatchNumbers, takeSlot } from 'dlq-core/queries/retry/slots.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { eventually, nothingHappensFor } from 'dlq-testing/eventually.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { holdSlot } from './hold-slot.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const log = createLog({ service: 'retrier', level: 'silent' })
/** Renewed every 50 ms. */
const leaseMs = 150

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_slots'))

async function hold() {
  const taken = await takeSlot(service.sql, { owner: 'test', leaseMs: 60_000 })
  const slot = holdSlot(taken, { sql: service.sql, leaseMs, log })
  const claim = async () => slot.used((await nextBatchNumbers(service.sql, taken))!)
  return { slot, taken, claim }
}

/** What a standby that was behind does when it takes over. */
const forgetBatches = () => database.sql`update dlq.dlq_slots set batch = batch - 1`

test('a slot stays held while its numbers rise, and stays free once it is given back', async () => {
  const { slot, claim } = await hold()
  for (let n = 0; n < 3; n += 1) await claim()
  await nothingHappensFor(leaseMs)
  expect(slot.isLost()).toBe(false)
  await slot.release()
  await nothingHappensFor(leaseMs)
  expect([...(await database.sql`select owner_until from dlq.dlq_slots`)]).toEqual([{ owner_until: null }])
})

test('a slot whose number fell counts as lost: by a look, and by the next claim', async () => {
  const idle = await hold()
  await idle.claim()
  await forgetBatches()
  await eventually(() => expect(idle.slot.isLost()).toBe(true))
  await idle.slot.release()

  const taken = await takeSlot(service.sql, { owner: 'test', leaseMs: 60_000 })
  // Not renewed while this test runs: only the claim can tell.
  const busy = holdSlot(taken, { sql: service.sql, leaseMs: 600_000, log })
  busy.used((await nextBatchNumbers(service.sql, taken))!)
  await forgetBatches()
  expect(busy.isLost()).toBe(false)
  busy.used((await nextBatchNumbers(service.sql, taken))!)
  expect(busy.isLost()).toBe(true)
  await busy.release()
})

test('a slot that another retrier has taken counts as lost, and giving it back does not end the lease of the other', async () => {
  const { slot } = await hold()
  await database.sql`update dlq.dlq_slots set owner_until = now() - interval '1 s', epoch = epoch + 1`
  const other = await takeSlot(service.sql, { owner: 'other', leaseMs: 60_000 })
  expect(other.slot).toBe(slot.slot)
  await eventually(() => expect(slot.isLost()).toBe(true))
  await slot.release()
  const [row] = await database.sql`select owner, owner_until > now() + interval '30 s' as lasts from dlq.dlq_slots`
  expect(row).toEqual({ owner: 'other', lasts: true })
})

/** A message as a claim, or a standby that lacks a settlement, leaves it. */
const holdMessage = (slot: number, batch: number) =>
  insertMessageRow(database.sql, { status: 'RETRYING', retry_count: 1, lease_slot: slot, lease_batch: batch })

test('a slot that holds messages which it has settled counts as lost, though its number has not fallen', async () => {
  const { slot, claim } = await hold()
  await claim()
  slot.settled()
  await nothingHappensFor(leaseMs)
  expect(slot.isLost()).toBe(false)
  await holdMessage(slot.slot, 1)
  await eventually(() => expect(slot.isLost()).toBe(true))
  await slot.release()
})

test('a slot stays held while its batch, or one of its parts, is under way, and while nobody has recovered it', async () => {
  const before = await hold()
  await before.claim()
  await before.slot.release()
  const { slot, taken, claim } = await hold()
  await holdMessage(slot.slot, 1)
  await claim()
  await nothingHappensFor(leaseMs)
  expect(slot.isLost()).toBe(false)

  await database.sql`delete from dlq.dlq_messages`
  slot.settled()
  // Claimed, and its number is not known here yet.
  const part = await holdMessage(slot.slot, 3)
  await nothingHappensFor(leaseMs)
  await claim()
  await holdMessage(slot.slot, 5)
  slot.used((await nextBatchNumbers(service.sql, { ...taken, count: 2 }))!, 2)
  await nothingHappensFor(leaseMs)
  expect(slot.isLost()).toBe(false)

  await database.sql`delete from dlq.dlq_messages where id = ${part}`
  slot.settled()
  await eventually(() => expect(slot.isLost()).toBe(true))
  await slot.release()
})

test('a slot is renewed after a third of its lease', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const taken = await takeSlot(service.sql, { owner: 'test', leaseMs: 1000 })
  const slot = holdSlot(taken, { sql: service.sql, leaseMs: 60_000, log })
  vi.advanceTimersByTime(20_000)
  await eventually(async () => {
    const [row] = await database.sql`select owner_until > now() + interval '30 s' as is_renewed from dlq.dlq_slots`
    expect(row).toEqual({ is_renewed: true })
  })
  await slot.release()
})
