// The one error class for faults that are expected and named.

export type DlqErrorCode =
  | 'KAFKA_UNAVAILABLE'
  | 'KAFKA_FORBIDDEN'
  | 'SLOT_LOST'
  | 'DATABASE_UNAVAILABLE'
  | 'CONSUMER_CRASHED'
  | 'CONSUMER_STALLED'

/** A fault that the caller may meet: `code` is stable, `cause` holds what the library said. */
export class DlqError extends Error {
  readonly code: DlqErrorCode

  constructor(code: DlqErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'DlqError'
    this.code = code
  }
}
