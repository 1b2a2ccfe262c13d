// Splits a batch into parts that fit into memory several times: as rows, as text of their columns, and on the way to
// PostgreSQL. The bound of a fetch counts compressed bytes, which unpack to many times as much.

import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import type { Batch } from '../store/store-batch.ts'

/** Of keys, values and headers. More rows in one transaction would not be faster. */
const maxPartBytes = 2 * 1024 * 1024

/**
 * The batch's parts, in their order, each of at most `maxBytes` or of one record; a batch without records is one
 * part. Each begins where the one before ends, so that each can be stored by itself.
 */
export function* partsOfBatch(batch: Batch, maxBytes = maxPartBytes): Generator<Batch> {
  const { records } = batch
  let start = 0
  let bytes = 0
  let fetchedOffset = batch.fetchedOffset
  for (const [index, record] of records.entries()) {
    const size = sizeOf(record)
    if (index > start && bytes + size > maxBytes) {
      const nextOffset = record.offset
      yield { ...batch, records: records.slice(start, index), fetchedOffset, nextOffset }
      start = index
      bytes = 0
      fetchedOffset = nextOffset
    }
    bytes += size
  }
  yield { ...batch, records: records.slice(start), fetchedOffset }
}

function sizeOf({ key, value, headers }: DeadLetterRecord): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0)
  for (const [name, value] of headers) bytes += name.length + (value?.length ?? 0)
  return bytes
}
