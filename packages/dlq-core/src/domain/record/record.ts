// A record as it was read from a DLQ topic: bytes, not interpretations.
// Timestamps are bigint, because Kafka's are int64 and any value may arrive.

import type { RecordPlace } from './record-place.ts'

/** One header in wire order. Names may repeat; a value may be null or any bytes. */
export type Header = readonly [name: string, value: Buffer | null] & {
  /** Many records have the same pair, and not only an equal one: what is made of it may be kept. */
  readonly repeats?: true
}

/** Records in their order. Each may be another object, equal to the one before, when it is read again. */
export type Records = Iterable<DeadLetterRecord> & { readonly length: number }

/** A record of a DLQ topic, byte for byte. */
export type DeadLetterRecord = RecordPlace & {
  /** Kafka's cluster id. */
  readonly cluster: string
  /** Milliseconds since the epoch; −1 where the record has none. */
  readonly timestamp: bigint
  /** Who set the timestamp: the producer, or the broker when it appended the record. */
  readonly timestampType?: 'create' | 'append'
  readonly key: Buffer | null
  /** Null for a tombstone. */
  readonly value: Buffer | null
  readonly headers: readonly Header[]
  /** Set for a dead letter without key and value: whether they were fetched from the original record. */
  readonly original?: 'fetched' | 'gone' | 'unreachable' | 'not-allowed'
  /** Why Kafka's bytes could not be decoded into records; `value` then holds the raw batch. */
  readonly undecodable?: string
  /** The size of the value where it is too large to be stored; `value` is then null. */
  readonly unstoredValueBytes?: number
}

/** The most that is stored of a record's key and headers. Kafka's own default for a whole record is a mebibyte. */
export const maxKeyAndHeaderBytes = 4 * 1024 * 1024

/** Whether two keys or values are the same. */
export function areSameBytes(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b)
}
