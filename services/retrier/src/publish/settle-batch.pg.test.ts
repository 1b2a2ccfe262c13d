// What is written of a batch by whoever holds its slot, and by who has lost it.

import { randomUUID } from 'node:crypto'
import type { SettledAttempt } from 'dlq-core/queries/retry/attempts.ts'
import { type ClaimedMessage, claimBatch } from 'dlq-core/queries/retry/batches.ts'
import { type Slot, takeSlot } from 'dlq-core/queries/retry/slots.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { asPublished, settleBatch } from './settle-batch.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_slots')
  await insertMessageRow(database.sql, { original_topic: 'orders', next_retry_at: new Date(0) })
})

type Batch = Slot & { batch: bigint; message: ClaimedMessage }

async function claim(slot: Slot): Promise<Batch> {
  const share = { topic: 'orders', quota: 1, maxInFlight: null, ordered: false, pausedGroups: [] }
  const claimed = await claimBatch(service.sql, { ...slot, token: randomUUID(), shares: [share], maxBytes: 1e9 })
  return { ...slot, batch: claimed!.batch, message: claimed!.messages[0]! }
}

/** As taken by a retrier that is gone at once. */
const takeForAMoment = () => takeSlot(service.sql, { owner: 'gone', leaseMs: -1 })
const take = () => takeSlot(service.sql, { owner: 'test', leaseMs: 60_000 })

const attemptOf = ({ slot, message }: Batch, rest: Partial<SettledAttempt>): SettledAttempt => ({
  ...{ message_id: message.id, number: 1, attempt_id: message.attempt_id, outcome: 'published', slot, run_id: null },
  ...{ target_topic: 'orders', target_partition: null, target_offset: null, error: null },
  ...rest,
})
const published = (batch: Batch, place: Partial<SettledAttempt> = {}) =>
  settleBatch(service.sql, {
    ...{ ...batch, messages: [asPublished(batch.message)], released: [] },
    attempts: [attemptOf(batch, place)],
  })
const refused = (batch: Batch) =>
  settleBatch(service.sql, {
    ...{ ...batch, released: [] },
    messages: [{ id: batch.message.id, status: 'PENDING', next_retry_at: null, run_id: null }],
    attempts: [attemptOf(batch, { outcome: 'failed', error: 'too large' })],
  })
const released = (batch: Batch, attempts: SettledAttempt[] = []) =>
  settleBatch(service.sql, { ...batch, messages: [], attempts, released: [batch.message.id] })
const attempts = async () => [
  ...(await database.sql`select outcome, error, target_offset::text as at from dlq.dlq_attempts`),
]

const place = { target_partition: 0, target_offset: 5n }
const nothing = { settled: 0, released: [], held: [] }

test('the holder of a slot writes outcome and attempt, and gives back what it has not sent', async () => {
  const slot = await take()
  const first = await claim(slot)
  expect(await released(first, [attemptOf(first, { outcome: 'unknown' })])).toMatchObject({
    released: [first.message.id],
  })
  expect(await attempts()).toEqual([{ outcome: 'unknown', error: null, at: null }])
  expect(await published(await claim(slot), place)).toMatchObject({ settled: 1 })
  expect(await attempts()).toEqual([{ outcome: 'published', error: null, at: '5' }])
  const [row] = await database.sql`select unknown_at is not null as was_unknown from dlq.dlq_attempts`
  expect(row).toEqual({ was_unknown: true })
})

describe('who has lost the slot', () => {
  test('changes no attempt that its successor has settled, and gives nothing back', async () => {
    const late = await claim(await takeForAMoment())
    const slot = await take()
    await released({ ...late, ...slot })
    await published(await claim(slot), place)
    const settled = [{ outcome: 'published', error: null, at: '5' }]

    expect(await refused(late)).toEqual(nothing)
    expect(await released(late, [attemptOf(late, { outcome: 'unknown' })])).toEqual(nothing)
    expect(await published(late, { ...place, target_offset: 4n })).toEqual(nothing)
    expect(await attempts()).toEqual(settled)
  })

  test('does not say of an attempt that it was published where its successor does not know', async () => {
    const late = await claim(await takeForAMoment())
    await released({ ...late, ...(await take()) }, [attemptOf(late, { outcome: 'unknown' })])
    expect(await published(late, place)).toEqual(nothing)
    expect(await attempts()).toEqual([{ outcome: 'unknown', error: null, at: null }])
  })

  test('leaves no attempt that its successor has given back as not sent', async () => {
    const late = await claim(await takeForAMoment())
    await released({ ...late, ...(await take()) })
    expect(await published(late, place)).toEqual(nothing)
    expect(await attempts()).toEqual([])
  })

  test('says where the record stands that its successor knows to be published', async () => {
    const late = await claim(await takeForAMoment())
    await published({ ...late, ...(await take()) })
    expect(await published(late, place)).toEqual(nothing)
    expect(await attempts()).toEqual([{ outcome: 'published', error: null, at: '5' }])
  })

  test('leaves no attempt of a message that was deleted', async () => {
    const late = await claim(await takeForAMoment())
    await take()
    await database.sql`delete from dlq.dlq_messages`
    expect(await published(late, place)).toEqual(nothing)
    expect(await attempts()).toEqual([])
  })
})

test('of a message that somebody changed by hand while it was sent the attempt is kept, unless it has an outcome already', async () => {
  const batch = await claim(await take())
  await database.sql`update dlq.dlq_messages set status = 'RESOLVED'`
  expect(await published(batch, place)).toEqual(nothing)
  expect(await attempts()).toEqual([{ outcome: 'published', error: null, at: '5' }])
  await database.sql`update dlq.dlq_attempts set outcome = 'resolved', target_offset = null`
  expect(await published(batch, place)).toEqual(nothing)
  expect(await attempts()).toEqual([{ outcome: 'resolved', error: null, at: null }])
})

test('of a message that was deleted while it was sent no attempt is left', async () => {
  const batch = await claim(await take())
  await database.sql`delete from dlq.dlq_messages`
  expect(await published(batch, place)).toEqual(nothing)
  expect(await attempts()).toEqual([])
})
