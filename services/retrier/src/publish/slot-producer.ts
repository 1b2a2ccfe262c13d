// How the records of a slot's batches get into Kafka. There are two kinds: a transactional producer, whose outcome
// the ledger always tells, and a plain idempotent producer, whose outcome is unknown after a crash.

import type { Sent } from 'dlq-core/queries/retry/slots.ts'
import type { FaultPoint } from '../slot/fault-points.ts'
import type { LedgerEntry } from '../slot/ledger.ts'
import type { Outgoing, Refusal } from './outgoing.ts'

/** Records that are published together, under a number of their own. */
export type Part = { readonly batchNumber: bigint; readonly token: string; readonly records: readonly Outgoing[] }

export type PublishResult = {
  published: Sent[]
  refused: Refusal[]
  /** Ids of messages that were not published; their attempt is given back. */
  released: string[]
  /** Records that were not published. The caller publishes each list as a separate part. */
  splitInto: (readonly Outgoing[])[]
  /** The topics of which Kafka refused something, whether it is known yet which record. */
  refusing: readonly string[]
  /** Why messages were released: Kafka is unavailable, or only the `topics` are. */
  fault: { error: Error; topics: readonly string[] | null } | null
}

/** The commit's answer never came. Its outcome is found out once the producer has connected again. */
export class CommitUnknownError extends Error {
  readonly part: Part

  constructor(part: Part, cause: Error) {
    super(`Kafka did not say whether batch ${part.batchNumber} was committed: ${cause.message}`, { cause })
    this.name = 'CommitUnknownError'
    this.part = part
  }
}

export type SlotProducer = {
  /**
   * Connects, or connects again. It fences the slot's earlier producers: nothing that they sent can still take effect.
   * Returns what Kafka committed last; null where there is no ledger.
   *
   * @throws {DlqError} KAFKA_UNAVAILABLE, KAFKA_FORBIDDEN, TRANSACTION_PENDING
   */
  connect(): Promise<LedgerEntry | null>
  /** Commits a number without records, so that the ledger has an entry. The caller does this right after `connect`. */
  begin(entry: { batchNumber: bigint; token: string }): Promise<void>
  /** Publishes a part. Every part has a higher number than those before. @throws {CommitUnknownError} */
  publish(part: Part): Promise<PublishResult>
  close(): Promise<void>
}

/** Tells where the records of a part stand whose commit is not answered, so that it is known when this process is gone. */
export type NoteUnanswered = (part: Part, sent: readonly Sent[]) => Promise<void>

export type SlotProducerDeps = {
  passFaultPoint: (point: FaultPoint) => void
  /** By how much this process's clock is ahead of PostgreSQL's, in milliseconds. */
  clockAheadMs?: () => number
}
