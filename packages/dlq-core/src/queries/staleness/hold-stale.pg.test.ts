// What its policy holds as stale: only the owner of a slot gives it back, and its run counts it.

import { randomUUID } from 'node:crypto'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { claimBatch } from '../retry/batches.ts'
import { takeSlot } from '../retry/slots.ts'
import { listStaleness } from './answers.ts'
import { forceStale, holdStale } from './hold-stale.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

async function claim(run?: string) {
  const slot = await takeSlot(service.sql, { owner: 'test', leaseMs: 60_000 })
  const share = { topic: 'orders', quota: 9, maxInFlight: null, ordered: false, pausedGroups: [], ...(run && { run }) }
  const claimed = await claimBatch(service.sql, { ...slot, token: randomUUID(), shares: [share], maxBytes: 1e9 })
  return { slot: slot.slot, epoch: slot.epoch, batch: claimed!.batch }
}

test('a retrier that has lost its slot, or means another batch, holds nothing', async () => {
  const id = await insertMessageRow(database.sql, { original_topic: 'orders', next_retry_at: new Date(0) })
  const batch = await claim()
  const held = [{ id, answer: 'superseded' as const, reason: null, newer_offset: 8n, newer_at: null }]
  expect(await holdStale(service.sql, { ...batch, epoch: batch.epoch - 1n, held })).toEqual([])
  expect(await holdStale(service.sql, { ...batch, batch: batch.batch + 1n, held })).toEqual([])
  expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'RETRYING', retry_count: 1 })
  expect(await holdStale(service.sql, { ...batch, held })).toEqual([id])
  expect(await readMessageRow(database.sql, id)).toMatchObject({
    ...{ status: 'PENDING', retry_count: 0, next_retry_at: null, lease_slot: null, lease_token: null },
  })
})

test('what leaves its run is counted there by its reason, and is due by nobody’s request', async () => {
  const [run] = await database.sql`
    insert into dlq.dlq_runs (kind, status, actor, selection, until_id, matched, matched_relation)
    values ('retry', 'running', 'ann', '{}', gen_random_uuid(), 2, 'eq') returning id`
  const insert = () =>
    insertMessageRow(database.sql, { original_topic: 'orders', run_id: run!.id, retry_requested: true })
  const [newer, unknown] = [await insert(), await insert()]
  const before = new Date('2026-01-01')
  await database.sql`
    insert into dlq.dlq_staleness (message_id, original_topic, answer, reason, answered_at)
    values (${unknown}, 'orders', 'unknown', 'no_key', ${before})`
  const nothing = { newer_offset: null, newer_at: null }
  const held = [
    { id: newer, answer: 'superseded' as const, reason: null, ...nothing },
    { id: unknown, answer: 'unknown' as const, reason: 'no_key' as const, ...nothing },
  ]
  expect(await holdStale(service.sql, { ...(await claim(run!.id)), held })).toHaveLength(2)
  const counted = await database.sql`select outcome, n::int as n from dlq.dlq_run_deltas order by outcome`
  expect([...counted]).toEqual([
    { outcome: 'staleness_unknown', n: 1 },
    { outcome: 'superseded', n: 1 },
  ])
  for (const id of [newer, unknown])
    expect(await readMessageRow(database.sql, id)).toMatchObject({ run_id: null, retry_requested: false })
  // When it was found out is not forgotten; and it was not due by itself, so a look makes it due no more.
  const [row] = await database.sql`select answered_at, held_at from dlq.dlq_staleness where message_id = ${unknown}`
  expect(row).toEqual({ answered_at: before, held_at: null })
})

test('what a run took by force, and its policy holds, is as it was before', async () => {
  const [run] = await database.sql`
    insert into dlq.dlq_runs (kind, status, is_forced, actor, selection, until_id, matched, matched_relation)
    values ('retry', 'running', true, 'ann', '{}', gen_random_uuid(), 2, 'eq') returning id`
  const row = { original_topic: 'orders', run_id: run!.id, retry_count: 3, max_retries: 4 }
  const [dead, changed] = [
    await insertMessageRow(database.sql, row),
    await insertMessageRow(database.sql, { ...row, max_retries: 9 }),
  ]
  for (const id of [dead, changed])
    await database.sql`insert into dlq.dlq_run_undo (run_id, message_id, status, max_retries) values (${run!.id}, ${id}, 'DEAD', 3)`
  const stale = { answer: 'superseded', reason: null, newer_offset: 8n, newer_at: null } as const
  await holdStale(service.sql, { ...(await claim(run!.id)), held: [dead, changed].map((id) => ({ id, ...stale })) })
  const left = { retry_count: 3, run_id: null, next_retry_at: null }
  expect(await readMessageRow(database.sql, dead)).toMatchObject({ status: 'DEAD', max_retries: 3, ...left })
  // Somebody has given it another budget since.
  expect(await readMessageRow(database.sql, changed)).toMatchObject({ status: 'PENDING', max_retries: 9, ...left })
})

test('the probe of a paused group was due by itself, and so a look makes it due again', async () => {
  const group_id = randomUUID()
  const row = { original_topic: 'orders', group_id, retry_requested: true, next_retry_at: new Date(0) }
  const [probe, asked] = [await insertMessageRow(database.sql, row), await insertMessageRow(database.sql, row)]
  await database.sql`
    insert into dlq.dlq_group_probes (original_topic, group_id, message_id, attempt) values ('orders', ${group_id}, ${probe}, 1)`
  await database.sql`
    insert into dlq.dlq_staleness (message_id, original_topic, answer) values (${probe}, 'orders', 'waiting'), (${asked}, 'orders', 'waiting')`
  const unknown = { answer: 'unknown', reason: 'not_allowed', newer_offset: null, newer_at: null } as const
  await holdStale(service.sql, { ...(await claim()), held: [probe, asked].map((id) => ({ id, ...unknown })) })
  const due = await database.sql`select message_id from dlq.dlq_staleness where held_at is not null`
  expect(due.map(({ message_id }) => message_id)).toEqual([probe])
})

test('an attempt is forced also where nobody has asked about the message before', async () => {
  const id = await insertMessageRow(database.sql, { original_topic: 'orders' })
  await forceStale(service.sql, { id, attempt: 1 })
  expect(await listStaleness(service.sql, [id])).toMatchObject([{ message_id: id, forced_attempt: 1 }])
})
