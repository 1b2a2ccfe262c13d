// Splits a batch into parts that fit into memory several times: as rows, as text of their columns, and on the way to
// PostgreSQL. The bound of a fetch counts compressed bytes, which unpack to many times as much.

import type { Records } from 'dlq-core/domain/record/record.ts'
import { messageBytes } from 'dlq-core/runtime/fetching/fetch-originals.ts'
import type { KafkaMessage } from 'kafkajs'
import type { Batch } from '../store/store-batch.ts'

/** Of keys, values and headers. More rows in one transaction would not be faster. */
const maxPartBytes = 4 * 1024 * 1024

/**
 * `around`: what stands around the bytes of a record, roughly: its objects, and the row that is made of it. `early`: where
 * most rows are written as soon as their records are read (early-rows.ts). Others keep what was read of them until they are
 * stored: of a thousand such records only one batch fitted into memory, so nothing was read while PostgreSQL stored.
 */
export const partBounds = {
  early: { around: 2048, maxRecords: 1000 },
  late: { around: 5120, maxRecords: 500 },
} satisfies Record<string, { around: number; maxRecords: number }>

/** What kafkajs says of a record. `size`: of all its bytes; absent where it has read the parts. */
export type Message = Pick<KafkaMessage, 'offset' | 'key' | 'value' | 'headerPairs'> & { size?: number }

/** A batch whose records are not made yet. */
export type FetchedPart<M extends Message> = Omit<Batch, 'records'> & {
  messages: readonly M[]
  recordsOf: (messages: readonly M[]) => Records
}

/** `bytes`: what it takes in memory, roughly. */
export type Part = { batch: Batch; bytes: number }

/**
 * The batch's parts, in their order, each of at most `maxBytes` and `maxRecords`, or of one record; a batch without records is one
 * part. Each begins where the one before ends, so that each can be stored by itself.
 */
export function* partsOfBatch<M extends Message>(
  { messages, recordsOf, ...batch }: FetchedPart<M>,
  { maxBytes = maxPartBytes, maxRecords = partBounds.late.maxRecords, around = partBounds.late.around } = {},
): Generator<Part> {
  let start = 0
  let bytes = 0
  let fetchedOffset = batch.fetchedOffset
  const partTo = (end: number, nextOffset: bigint): Part => ({
    batch: { ...batch, records: recordsOf(messages.slice(start, end)), fetchedOffset, nextOffset },
    bytes: bytes + around * (end - start),
  })
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!
    const size = message.size ?? messageBytes(message)
    if (index > start && (bytes + size > maxBytes || index - start === maxRecords)) {
      const nextOffset = BigInt(message.offset)
      yield partTo(index, nextOffset)
      start = index
      bytes = 0
      fetchedOffset = nextOffset
    }
    bytes += size
  }
  yield partTo(messages.length, batch.nextOffset)
}
