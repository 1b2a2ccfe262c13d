// Splits a batch into parts that fit into memory several times: as rows, as text of their columns, and on the way to
// PostgreSQL. The bound of a fetch counts compressed bytes, which unpack to many times as much.

import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import type { Batch } from '../store/store-batch.ts'

/** Of keys, values and headers. More rows in one transaction would not be faster. */
const maxPartBytes = 2 * 1024 * 1024
const maxPartRecords = 1000

/** What stands around the bytes of a record, roughly: its objects, and the texts that are made of it. */
const bytesAround = 2048

/** `bytes`: what it takes in memory, roughly. */
export type Part = { batch: Batch; bytes: number }

/**
 * The batch's parts, in their order, each of at most `maxBytes` and `maxRecords`, or of one record; a batch without records is one
 * part. Each begins where the one before ends, so that each can be stored by itself.
 */
export function* partsOfBatch(
  batch: Batch,
  { maxBytes = maxPartBytes, maxRecords = maxPartRecords } = {},
): Generator<Part> {
  const { records } = batch
  let start = 0
  let bytes = 0
  let fetchedOffset = batch.fetchedOffset
  for (let index = 0; index < records.length; index++) {
    const record = records[index]!
    const size = sizeOf(record)
    if (index > start && (bytes + size > maxBytes || index - start === maxRecords)) {
      const nextOffset = record.offset
      yield partOf({ ...batch, records: records.slice(start, index), fetchedOffset, nextOffset }, bytes)
      start = index
      bytes = 0
      fetchedOffset = nextOffset
    }
    bytes += size
  }
  yield partOf({ ...batch, records: records.slice(start), fetchedOffset }, bytes)
}

function partOf(batch: Batch, bytes: number): Part {
  return { batch, bytes: bytes + bytesAround * batch.records.length }
}

/** By indexes, because iterators and pairs taken apart leave a KB of garbage per record. */
function sizeOf({ key, value, headers }: DeadLetterRecord): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0)
  for (let at = 0; at < headers.length; at++) {
    const header = headers[at]!
    bytes += header[0].length + (header[1]?.length ?? 0)
  }
  return bytes
}
