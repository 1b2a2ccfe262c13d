// The job "decode": values that were stored before their schema was known get their payload once it has come.

import { maxEncodedBytes } from 'dlq-core/domain/payload/payload-bounds.ts'
import { decodeStates, storedDecoding } from 'dlq-core/domain/payload/stored-decoding.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { listAwaitedSchemas, lockWaitingMessages, writeDecoded } from 'dlq-core/queries/schemas/waiting-messages.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { type PayloadReader, readableValue } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { type BatchPace, nextBatchSize } from '../batch-size.ts'

export type DecodeDeps = { sql: Database; reader: PayloadReader; policyOf: PolicyOf }

/** Whoever wants a message that a batch holds waits no longer than this; 100 values of 256 KiB are 25 MiB. */
const decodePace: BatchPace = { targetMs: 250, least: 10, most: 100, growth: 2 }

/** @throws the signal's reason when it aborts between two batches */
export async function decodeWaiting(deps: DecodeDeps, signal: AbortSignal): Promise<{ decoded: number }> {
  const progress = { size: 50 }
  let decoded = 0
  for (const schema of await listAwaitedSchemas(deps.sql)) {
    await deps.reader.source.loadNumbered([schema])
    while (true) {
      signal.throwIfAborted()
      const startedAt = performance.now()
      const found = await deps.sql.begin((sql) => decodeBatch(deps, sql, { schema, limit: progress.size }))
      decoded += found
      if (found === 0) break
      const batch = { size: progress.size, found, tookMs: performance.now() - startedAt }
      progress.size = nextBatchSize(batch, decodePace)
    }
  }
  return { decoded }
}

async function decodeBatch(
  { reader, policyOf }: DecodeDeps,
  sql: Parameters<typeof writeDecoded>[0],
  { schema, limit }: { schema: number; limit: number },
): Promise<number> {
  const messages = await lockWaitingMessages(sql, { schema, limit, maxBytes: maxEncodedBytes })
  const readings = await reader.readAll(
    messages.map((message) => readableValue(message, message.record_value, message)),
    { maxBytes: maxEncodedBytes, sql },
  )
  await writeDecoded(
    sql,
    messages.map((message, at) => {
      const stored = storedDecoding(readings[at]!, policyOf(message).payload !== 'derived')
      // It waits for nothing any more: else the next batch would find it again.
      return { id: message.id, ...stored, value_schema: stored.value_schema ?? schema, decode_state: settled(stored) }
    }),
  )
  return messages.length
}

function settled({ decode_state }: { decode_state: number | null }): number | null {
  return decode_state === decodeStates.waiting ? decodeStates.failed : decode_state
}
