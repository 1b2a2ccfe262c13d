// A record as it was read from a DLQ topic: bytes, not interpretations.
// Offsets and timestamps are bigint, because Kafka's are int64 and any value may arrive.

/** One header in wire order. Names may repeat; a value may be null or any bytes. */
export type Header = readonly [name: string, value: Buffer | null]

/** Where a record stands in Kafka. */
export type Coordinates = { readonly topic: string; readonly partition: number; readonly offset: bigint }

/** A record of a DLQ topic, byte for byte. */
export type DeadLetterRecord = Coordinates & {
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
  /** Set for a dead letter without key and value: whether they were fetched from where the original stands. */
  readonly original?: 'fetched' | 'gone' | 'unreachable'
  /** Set where Kafka's bytes could not be decoded into records: why. `value` then holds the raw batch. */
  readonly undecodable?: string
}
