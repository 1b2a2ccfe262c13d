// Splits a batch into parts that fit into memory several times: as rows, as text of their columns, and on the way to
// PostgreSQL. The bound of a fetch counts compressed bytes, which unpack to many times as much.

import type { Records } from 'dlq-core/domain/record/record.ts'
import type { Batch } from '../store/store-batch.ts'

/** Of keys, values and headers. More rows in one transaction would not be faster. */
const maxPartBytes = 4 * 1024 * 1024
const maxPartRecords = 1000

/** What stands around the bytes of a record, roughly: its objects, and the row that is made of it. */
const bytesAround = 2048

/** What kafkajs says of a record. `size`: of all its bytes; absent where it has read the parts. */
export type Message = {
  offset: string
  size?: number
  key: Buffer | null
  value: Buffer | null
  headerPairs: readonly (readonly [string, Buffer | null])[]
}

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
  { maxBytes = maxPartBytes, maxRecords = maxPartRecords } = {},
): Generator<Part> {
  let start = 0
  let bytes = 0
  let fetchedOffset = batch.fetchedOffset
  const partTo = (end: number, nextOffset: bigint): Part => ({
    batch: { ...batch, records: recordsOf(messages.slice(start, end)), fetchedOffset, nextOffset },
    bytes: bytes + bytesAround * (end - start),
  })
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!
    const size = sizeOf(message)
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

/** By indexes, because iterators and pairs taken apart leave a KB of garbage per record. */
function sizeOf(message: Message): number {
  if (message.size !== undefined) return message.size
  const { key, value, headerPairs } = message
  let bytes = (key?.length ?? 0) + (value?.length ?? 0)
  for (let at = 0; at < headerPairs.length; at++) {
    const header = headerPairs[at]!
    bytes += header[0].length + (header[1]?.length ?? 0)
  }
  return bytes
}
