// How the records of a slot's batches get into Kafka. Two kinds: in transactions, whose outcome the
// ledger tells whatever happens, or by a plain idempotent producer, where a crash leaves it open.

import type { FaultPoint } from './fault-points.ts'
import type { LedgerEntry } from './ledger.ts'
import type { Outgoing, Refusal } from './outgoing.ts'

/** Records that are published together, under a number of their own. */
export type Part = { readonly batch: bigint; readonly token: string; readonly records: readonly Outgoing[] }

export type Sent = { id: string; topic: string; partition: number; offset: bigint | null }

export type PublishResult = {
  published: Sent[]
  refused: Refusal[]
  /** Nothing of them was published; the attempt is given back. */
  released: string[]
  /** Nothing of them was published; each list is to be published as a part of its own. */
  again: (readonly Outgoing[])[]
  /** Why messages were released: Kafka is away, or (`topics`) only some topics are. */
  fault: { error: Error; topics: readonly string[] | null } | null
}

/** The commit's answer never came: only the ledger knows, after the producer is connected anew. */
export class UnsureError extends Error {
  readonly part: Part
  /** Where the records stand, if they were published. */
  readonly sent: readonly Sent[]

  constructor(part: Part, sent: readonly Sent[], cause: Error) {
    super(`Kafka did not say whether batch ${part.batch} was committed: ${cause.message}`, { cause })
    this.name = 'UnsureError'
    this.part = part
    this.sent = sent
  }
}

export type SlotProducer = {
  /**
   * Connects anew. Afterwards nothing that an earlier producer of the slot sent can take effect any more.
   * Returns what Kafka committed last; null where there is no ledger to ask.
   *
   * @throws {DlqError} KAFKA_UNAVAILABLE, KAFKA_FORBIDDEN
   */
  connect(): Promise<LedgerEntry | null>
  /** Commits a number without records, so that from now on the ledger has an entry. Right after `connect`. */
  begin(entry: { batch: bigint; token: string }): Promise<void>
  /** Publishes a part. Every part has a higher number than those before. @throws {UnsureError} */
  publish(part: Part): Promise<PublishResult>
  close(): Promise<void>
}

export type SlotProducerDeps = { passFaultPoint: (point: FaultPoint) => void }
