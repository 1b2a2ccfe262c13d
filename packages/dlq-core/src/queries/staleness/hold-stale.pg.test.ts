// Only the owner of a slot gives back what its batch holds.

import { randomUUID } from 'node:crypto'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { claimBatch } from '../retry/batches.ts'
import { takeSlot } from '../retry/slots.ts'
import { holdStale } from './hold-stale.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

test('a retrier that has lost its slot, or means another batch, holds nothing', async () => {
  const id = await insertMessageRow(database.sql, { original_topic: 'orders', next_retry_at: new Date(0) })
  const slot = await takeSlot(service.sql, { owner: 'test', leaseMs: 60_000 })
  const share = { topic: 'orders', quota: 9, maxInFlight: null, ordered: false, pausedGroups: [] }
  const claimed = await claimBatch(service.sql, { ...slot, token: randomUUID(), shares: [share], maxBytes: 1e9 })
  const batch = { slot: slot.slot, epoch: slot.epoch, batch: claimed!.batch }
  const held = [{ id, answer: 'superseded' as const, reason: null, newer_offset: 8n, newer_at: null }]
  expect(await holdStale(service.sql, { ...batch, epoch: batch.epoch - 1n, held })).toEqual([])
  expect(await holdStale(service.sql, { ...batch, batch: batch.batch + 1n, held })).toEqual([])
  expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'RETRYING', retry_count: 1 })
  expect(await holdStale(service.sql, { ...batch, held })).toEqual([id])
  expect(await readMessageRow(database.sql, id)).toMatchObject({
    ...{ status: 'PENDING', retry_count: 0, next_retry_at: null, lease_slot: null, lease_token: null },
  })
})
