// From a stored message back to a record: the bytes as they were, the headers of the failure taken
// off, ours put on.

import { decodeHeaders } from './header-json.ts'
import { deriveAttemptId } from './message-id.ts'
import { readFailure } from './read-failure.ts'
import type { Header } from './record.ts'
import { republishHeaders } from './strip-failure-headers.ts'

/** What of a stored message its record is made of. */
export type StoredRecord = {
  id: string
  retry_count: number
  record_key: Buffer | null
  record_value: Buffer | null
  record_headers: string | null
  dlq_topic: string | null
  payload: string | null
  error_stacktrace: string | null
}

export type RepublishedRecord = { key: Buffer | null; value: Buffer | null; headers: Header[]; attemptId: string }

/**
 * The record of attempt number `retry_count`. Key, value and foreign headers are byte for byte those
 * of the dead letter: no key means none. A message that never was a record (dead-lettered by SQL or HTTP) sends its
 * payload, under the attempt's id where no key is known.
 */
export function toRepublishedRecord(message: StoredRecord): RepublishedRecord {
  const { id, retry_count: attempt, payload, error_stacktrace } = message
  const stored = message.record_headers === null ? [] : decodeHeaders(message.record_headers, { error_stacktrace })
  const value =
    message.record_headers === null && message.record_value === null && payload !== null
      ? Buffer.from(payload)
      : message.record_value
  // The plain "error" header is taken off only where it was what told of the failure.
  const { family } = readFailure({ topic: message.dlq_topic ?? '', timestamp: -1n, headers: stored, value })
  const attemptId = deriveAttemptId(id, attempt)
  const key =
    message.record_headers === null && message.record_key === null ? Buffer.from(attemptId) : message.record_key
  return { key, value, headers: republishHeaders(stored, { messageId: id, attempt, attemptId, family }), attemptId }
}
