// Rebuilds the record of a stored message: the bytes as they were, without the failure's headers, with ours.

import type { Family } from 'dlq-core/domain/failure/families/family.ts'
import { plainErrorHeader } from 'dlq-core/domain/failure/families/plain-error.ts'
import { readFailure } from 'dlq-core/domain/failure/read-failure.ts'
import {
  type Republishing,
  republishingHeaders,
  stripFailureHeaders,
} from 'dlq-core/domain/failure/strip-failure-headers.ts'
import { decodeHeader, parseHeaders, type StoredHeader } from 'dlq-core/domain/record/header-json.ts'
import type { Header } from 'dlq-core/domain/record/record.ts'

/** The columns of a message that its record is built from. */
export type StoredRecord = {
  id: string
  retry_count: number
  attempt_id: string
  record_key: Buffer | null
  record_value: Buffer | null
  record_headers: string | null
  dlq_topic: string | null
  payload: string | null
}

export type RepublishedRecord = { key: Buffer | null; value: Buffer | null; headers: Header[] }

/**
 * The record of attempt number `retry_count`. Key, value and foreign headers are byte for byte those of the dead letter;
 * a record without a key stays without one. A message that never was a record (dead-lettered by SQL or HTTP) sends its
 * payload, with the attempt's id as key where it has none.
 *
 * @param forGroup the group that failed, where the record is for that group alone
 */
export function toRepublishedRecord(
  message: StoredRecord,
  forGroup: Republishing['forGroup'] = null,
): RepublishedRecord {
  const {
    id: messageId,
    retry_count: attempt,
    attempt_id: attemptId,
    payload,
    record_headers,
    record_key,
    record_value,
  } = message
  const stored = record_headers === null ? [] : parseHeaders(record_headers)
  const wasRecord = record_headers !== null
  return {
    key: !wasRecord && record_key === null ? Buffer.from(attemptId) : record_key,
    value: !wasRecord && record_value === null && payload !== null ? Buffer.from(payload) : record_value,
    headers: [
      // Only the remaining headers are decoded: most of a dead letter's headers belong to its failure.
      ...stripFailureHeaders(stored, familyOf(stored, message)).map((header) => decodeHeader(header)),
      ...republishingHeaders({ messageId, attempt, attemptId, forGroup }),
    ],
  }
}

/** The family that decides about a plain `error` header. Null where there is no such header. */
function familyOf(stored: readonly StoredHeader[], { dlq_topic, record_value: value }: StoredRecord): Family | null {
  if (!stored.some(([name]) => name === plainErrorHeader)) return null
  // No family is recognised by its stack trace, so the one in the column is not needed.
  const headers = stored.map((header) => decodeHeader(header, { error_stacktrace: 'elsewhere' }))
  return readFailure({ topic: dlq_topic ?? '', timestamp: -1n, headers, value }).family
}
