// What is stored of a large record. A record is in memory several times while it is stored, and again when it is sent.

import { type DeadLetterRecord, maxKeyAndHeaderBytes } from 'dlq-core/domain/record/record.ts'

/**
 * The record without what is too large to be stored: without its value, whose size is kept, or, where key and headers
 * are too large, with its coordinates alone.
 */
export function withinBounds(record: DeadLetterRecord, maxValueBytes: number): DeadLetterRecord {
  const valueBytes = record.value?.length ?? 0
  const otherBytes = keyAndHeaderBytes(record)
  if (otherBytes > maxKeyAndHeaderBytes) {
    const undecodable = `the record's key and headers of ${otherBytes} bytes are too large to be stored`
    return { ...record, key: null, value: null, headers: [], unstoredValueBytes: valueBytes, undecodable }
  }
  if (valueBytes <= maxValueBytes) return record
  return { ...record, value: null, unstoredValueBytes: valueBytes }
}

function keyAndHeaderBytes({ key, headers }: DeadLetterRecord): number {
  let bytes = key?.length ?? 0
  for (const [name, value] of headers) bytes += name.length + (value?.length ?? 0)
  return bytes
}
