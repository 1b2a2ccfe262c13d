// Stores the payloads of messages that came in while the ingester was behind ("payload: auto"), once it has caught up:
// JSON as it is, and with schemas also what has to be decoded.

import { setTimeout as sleep } from 'node:timers/promises'
import { maxEncodedBytes } from 'dlq-core/domain/payload/payload-bounds.ts'
import { projectPayload } from 'dlq-core/domain/record/payload-projection.ts'
import { countBatches } from 'dlq-core/queries/retry/slots.ts'
import { writeDecoded } from 'dlq-core/queries/schemas/waiting-messages.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import {
  lockDeferred,
  lockUnprojected,
  shortenDeferred,
  storePayloads,
  type Unprojected,
} from 'dlq-core/queries/upkeep/deferred-payloads.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'
import { decodeProjected } from 'dlq-core/runtime/schemas/decode-projected.ts'
import { type PayloadReader, readableValue } from 'dlq-core/runtime/schemas/payload-reader.ts'

export type FillDeps = {
  sql: Database
  /** Null where only JSON is read. */
  reader: PayloadReader | null
  policyOf: PolicySource['policyOf']
  quietMs?: number
}

/** A range that was widened within this time is that of an ingester that is still behind. */
const usualQuietMs = 30_000
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
  { sql, reader, policyOf, quietMs = usualQuietMs }: FillDeps,
  signal: AbortSignal,
): Promise<number> {
  let stored = 0
  const until = performance.now() + maxTickMs
  let batches = await countBatches(sql)
  for (let looked = 0; looked < maxPerTick && performance.now() < until; looked += examine) {
    signal.throwIfAborted()
    const began = performance.now()
    const one = await sql.begin(async (sql) => {
      const range = await lockDeferred(sql, { quietMs })
      if (range === null) return null
      const { messages, last } = await lockUnprojected(sql, { ...range, examine, maxBytes })
      const wanted = messages.filter((message) => policyOf(message).payload !== 'derived')
      const payloads = await storeValues(sql, reader, wanted)
      await shortenDeferred(sql, { ...range, last })
      return payloads
    })
    if (one === null) return stored
    stored += one
    const claimed = await countBatches(sql)
    if (claimed !== batches) await sleep(restFactor * (performance.now() - began), undefined, { signal })
    batches = claimed
  }
  return stored
}

/** Returns how many payloads it stored. */
async function storeValues(sql: Sql, reader: PayloadReader | null, messages: readonly Unprojected[]): Promise<number> {
  const values = messages.map((message) => ({
    id: message.id,
    payload: projectPayload(message.record_value),
    readable: { ...readableValue(message, message.record_value, message), part: 'value' as const },
  }))
  const decoded =
    reader === null
      ? new Map<number, never>()
      : await decodeProjected(reader, values, { maxBytes: maxEncodedBytes, sql })
  const isPlain = ({ payload }: (typeof values)[number], at: number) => payload !== null && !decoded.has(at)
  const plain = values.filter(isPlain).map(({ id, payload }) => ({ id, payload: payload! }))
  const others = [...decoded].map(([at, columns]) => ({ id: values[at]!.id, ...columns }))
  await storePayloads(sql, plain)
  await writeDecoded(
    sql,
    others.filter(({ payload, decode_state }) => payload !== null || decode_state !== null),
  )
  return plain.length + others.filter(({ payload }) => payload !== null).length
}
