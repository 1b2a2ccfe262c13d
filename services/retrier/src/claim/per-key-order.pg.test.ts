// Per-key order under concurrency: in any order of the slots' steps, no message is published while an earlier one of
// its key is not resolved.

import { randomUUID } from 'node:crypto'
import { orderKey } from 'dlq-core/domain/record/order-key.ts'
import { claimBatch, releaseBatch, settleMessages } from 'dlq-core/queries/retry/batches.ts'
import { takeSlot } from 'dlq-core/queries/retry/slots.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asPublished } from '../publish/settle-batch.ts'
import { createTopicOrder } from './topic-order.ts'

const soak = process.env.DLQ_SOAK === '1'
const database = useDatabase()
const service = useServiceDatabase(database)
const topic = 'orders'
const keys = 4

/** Messages of some keys, in a random order of ids and due times; `keyed` of them have their order key already. */
async function insertMessages(count: number, keyed: boolean): Promise<void> {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_slots')
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message, record_key, original_partition, original_offset, next_retry_at)
    select ${topic}, 'failed', convert_to('key ' || n % ${keys}::int, 'UTF8'), n % ${keys}::int % 2, n,
           now() - random() * interval '1 hour'
    from generate_series(1, ${count}::int) n`
  for (let key = 0; keyed && key < keys; key += 1) {
    const bytes = Buffer.from(`key ${key}`)
    await service.sql`update dlq.dlq_messages set order_key = ${orderKey(bytes)} where record_key = ${bytes}`
  }
}

type Step = { slot: number; quota: number; outcome: 'publish' | 'release' }

/** Runs all slots at once, each with its steps in order. Returns the offsets in the order of publishing. */
async function run(steps: readonly Step[], count: number): Promise<number[]> {
  const published: number[] = []
  const work = async (own: readonly Step[]) => {
    const slot = await takeSlot(service.sql, { owner: 'test', leaseMs: 60_000 })
    for (const { quota, outcome } of own) {
      const shares = [{ topic, quota, maxInFlight: null, ordered: true, pausedGroups: [] }]
      const claimed = await claimBatch(service.sql, { ...slot, token: randomUUID(), shares, maxBytes: 1e9 })
      if (claimed === null) continue
      const batch = { ...slot, batch: claimed.batch }
      if (outcome === 'release') await releaseBatch(service.sql, batch)
      else {
        const rows = await database.sql<{ offset: number }[]>`
          select original_offset::int as offset from dlq.dlq_messages
          where lease_slot = ${slot.slot} and lease_batch = ${String(claimed.batch)}`
        published.push(...rows.map(({ offset }) => offset))
        const messages = claimed.messages.map(asPublished)
        await settleMessages(service.sql, { ...batch, messages })
      }
    }
  }
  const slots = [...Map.groupBy(steps, ({ slot }) => slot).values()]
  await Promise.all(slots.map(work))
  // Publishes the rest, so that a lost message would show.
  await work(Array.from({ length: count }, () => ({ slot: 9, quota: 100, outcome: 'publish' as const })))
  return published
}

test('messages of a key are published in the order of their original offsets, each once', async () => {
  const step = fc.record({
    slot: fc.integer({ min: 0, max: 3 }),
    quota: fc.integer({ min: 1, max: 10 }),
    outcome: fc.constantFrom('publish' as const, 'publish' as const, 'release' as const),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), fc.boolean(), async (steps, keyed) => {
      const count = 40
      await insertMessages(count, keyed)
      const order = createTopicOrder(service.sql)
      order.isReady(topic)
      while (!order.isReady(topic)) await order.pass()
      const published = await run(steps, count)
      expect(published.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, n) => n + 1))
      for (const ofKey of Map.groupBy(published, (offset) => offset % keys).values()) {
        expect(ofKey).toEqual(ofKey.toSorted((a, b) => a - b))
      }
    }),
    { numRuns: soak ? 300 : 15 },
  )
})
