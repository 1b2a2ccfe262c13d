// Stores the payloads of messages that came in while a backlog was worked off ("payload: auto"), once it is worked off.

import { setTimeout as sleep } from 'node:timers/promises'
import { projectPayload } from 'dlq-core/domain/record/payload-projection.ts'
import { countBatches } from 'dlq-core/queries/retry/slots.ts'
import {
  lockDeferred,
  lockUnprojected,
  shortenDeferred,
  storePayloads,
} from 'dlq-core/queries/upkeep/deferred-payloads.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'

/** A range that was widened within this time belongs to a backlog that is not worked off yet. */
const quietMs = 30_000
/** Messages of one transaction: what they hold locked, no retrier claims meanwhile. */
const examine = 500
/** Larger values are derived whenever they are read, so that 500 of them fit into memory. */
const maxBytes = 64 * 1024
/** Messages looked at in one tick, and its time, so that the job is done before the next one. */
const maxPerTick = 50_000
const maxTickMs = 50_000
/** What is sent matters more. While anything is, each transaction is followed by a rest of this many times its length. */
const restFactor = 9

/** Returns how many payloads it stored. */
export async function fillPayloads(
  { sql, policyOf, quiet = quietMs }: { sql: Database; policyOf: PolicySource['policyOf']; quiet?: number },
  signal: AbortSignal,
): Promise<number> {
  let stored = 0
  const until = performance.now() + maxTickMs
  let batches = await countBatches(sql)
  for (let looked = 0; looked < maxPerTick && performance.now() < until; looked += examine) {
    signal.throwIfAborted()
    const began = performance.now()
    const one = await sql.begin(async (sql) => {
      const range = await lockDeferred(sql, { quietMs: quiet })
      if (range === null) return null
      const { messages, last } = await lockUnprojected(sql, { ...range, examine, maxBytes })
      const payloads = messages
        .filter((message) => policyOf(message).payload !== 'derived')
        .map(({ id, record_value }) => ({ id, payload: projectPayload(record_value) }))
        .filter((one): one is { id: string; payload: string } => one.payload !== null)
      await storePayloads(sql, payloads)
      await shortenDeferred(sql, { ...range, last })
      return payloads.length
    })
    if (one === null) return stored
    stored += one
    const claimed = await countBatches(sql)
    if (claimed !== batches) await sleep(restFactor * (performance.now() - began), undefined, { signal })
    batches = claimed
  }
  return stored
}
