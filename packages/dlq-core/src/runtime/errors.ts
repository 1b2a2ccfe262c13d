// The one error class for faults that are expected and named.

export type DlqErrorCode =
  | 'KAFKA_UNAVAILABLE'
  | 'KAFKA_FORBIDDEN'
  | 'SLOT_LOST'
  | 'TRANSACTION_PENDING'
  | 'DATABASE_UNAVAILABLE'
  | 'EMBEDDED_MISSING'
  | 'CONSUMER_CRASHED'
  | 'CONSUMER_STALLED'
  | 'CLUSTER_CHANGED'

/** An expected fault: `code` is stable, `cause` holds the library's error. */
export class DlqError extends Error {
  readonly code: DlqErrorCode

  constructor(code: DlqErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'DlqError'
    this.code = code
  }
}
