// Whose records are looked at when a slot is recovered: what was noted of a batch says nothing of a later one.

import { randomUUID } from 'node:crypto'
import { claimBatch } from 'dlq-core/queries/retry/batches.ts'
import { noteUnanswered, takeSlot } from 'dlq-core/queries/retry/slots.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { pretendingProducer } from '../publish/pretending-producer.ts'
import { pretendingSlotDeps } from '../test-retrier.ts'
import { connectAndRecover, type RecoverDeps } from './recover-slot.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_slots'))

/** Every record was aborted. */
const fetchRecords: NonNullable<RecoverDeps['reader']>['fetchRecords'] = async () => ({
  kind: 'records',
  messages: [],
  nextOffset: 6n,
  highWatermark: 6n,
  isAborted: true,
})

test.each([
  ['of this batch', true, { status: 'PENDING', retry_count: 0 }],
  ['of an earlier batch', false, { status: 'RESOLVED', retry_count: 1 }],
])('where records %s were aborted, and the ledger has the number of this one', async (_, isOfThis, expected) => {
  const id = await insertMessageRow(database.sql, { original_topic: 'orders', next_retry_at: new Date(0) })
  const slot = await takeSlot(service.sql, { owner: 'test', leaseMs: 60_000 })
  const token = randomUUID()
  const share = { topic: 'orders', quota: 1, maxInFlight: null, ordered: false, pausedGroups: [] }
  const claimed = await claimBatch(service.sql, { ...slot, token, shares: [share], maxBytes: 1e9 })
  const records = [{ id, topic: 'orders', partition: 0, offset: 5n }]
  await noteUnanswered(service.sql, { ...slot, token: isOfThis ? token : randomUUID(), records })

  const deps = { ...pretendingSlotDeps(service.sql), reader: { fetchRecords } }
  const producer = { ...pretendingProducer, connect: async () => ({ batchNumber: claimed!.batch, token }) }
  expect(await connectAndRecover(deps, { slot, producer })).toBe(1)
  expect(await readMessageRow(database.sql, id)).toMatchObject(expected)
})
