// From a stored message back to a record: the bytes as they were, the headers of the failure taken
// off, ours put on.

import type { Family } from './families/family.ts'
import { plainErrorHeader } from './families/plain-error.ts'
import { decodeHeader, parseHeaders, type StoredHeader } from './header-json.ts'
import { deriveAttemptId } from './message-id.ts'
import { readFailure } from './read-failure.ts'
import type { Header } from './record.ts'
import { republishingHeaders, stripFailureHeaders } from './strip-failure-headers.ts'

/** What of a stored message its record is made of. */
export type StoredRecord = {
  id: string
  retry_count: number
  record_key: Buffer | null
  record_value: Buffer | null
  record_headers: string | null
  dlq_topic: string | null
  payload: string | null
}

export type RepublishedRecord = { key: Buffer | null; value: Buffer | null; headers: Header[] }

/**
 * The record of attempt number `retry_count`. Key, value and foreign headers are byte for byte those
 * of the dead letter: no key means none. A message that never was a record (dead-lettered by SQL or HTTP) sends its
 * payload, under the attempt's id where no key is known.
 */
export function toRepublishedRecord(message: StoredRecord): RepublishedRecord {
  const { id: messageId, retry_count: attempt, payload, record_headers, record_key, record_value } = message
  const stored = record_headers === null ? [] : parseHeaders(record_headers)
  const wasRecord = record_headers !== null
  const attemptId = deriveAttemptId(messageId, attempt)
  return {
    key: !wasRecord && record_key === null ? Buffer.from(attemptId) : record_key,
    value: !wasRecord && record_value === null && payload !== null ? Buffer.from(payload) : record_value,
    headers: [
      // Only what stays is decoded: most of a dead letter's headers are its failure's.
      ...stripFailureHeaders(stored, familyOf(stored, message)).map((header) => decodeHeader(header)),
      ...republishingHeaders({ messageId, attempt, attemptId }),
    ],
  }
}

/** The family that the plain `error` header is told by; it is not asked for where there is no such header. */
function familyOf(stored: readonly StoredHeader[], { dlq_topic, record_value: value }: StoredRecord): Family | null {
  if (!stored.some(([name]) => name === plainErrorHeader)) return null
  // A stack trace that stands in its column tells no family from another.
  const headers = stored.map((header) => decodeHeader(header, { error_stacktrace: 'elsewhere' }))
  return readFailure({ topic: dlq_topic ?? '', timestamp: -1n, headers, value }).family
}
