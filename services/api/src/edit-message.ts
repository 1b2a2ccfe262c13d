// An edit: what it makes of a message, and what of it differs.

import { decodeHeaders, encodeHeaders } from 'dlq-core/header-json.ts'
import { orderKey } from 'dlq-core/order-key.ts'
import { projectPayload } from 'dlq-core/payload-projection.ts'
import type { Edit, MessageContent } from 'dlq-core/queries/message-change.ts'
import type { Header } from 'dlq-core/record.ts'
import type { RetryPolicy } from 'dlq-core/retry-policy.ts'

/** What is to be edited; absent fields stay. */
export type Wanted = {
  key?: Buffer | null
  value?: Buffer | null
  headers?: readonly Header[]
  targetTopic?: string | null
}

export type EditedContent = Pick<Edit, 'fields' | 'after'>

/** The message after the edit. No fields where nothing differs. */
export function applyEdit(before: MessageContent, wanted: Wanted, policy: RetryPolicy): EditedContent {
  const value = sentValue(before)
  const fields: string[] = []
  if (wanted.key !== undefined && !isSame(wanted.key, before.record_key)) fields.push('key')
  if (wanted.value !== undefined && !isSame(wanted.value, value)) fields.push('value')
  const headers = wanted.headers && encodeHeaders(wanted.headers)
  if (headers !== undefined && headers !== plainHeaders(before)) fields.push('headers')
  if (wanted.targetTopic !== undefined && wanted.targetTopic !== before.target_topic) fields.push('target_topic')

  const editsRecord = fields.some((field) => field !== 'target_topic')
  const key = fields.includes('key') ? wanted.key! : before.record_key
  const after: Edit['after'] = {
    record_key: key,
    record_value: before.record_value,
    record_headers: fields.includes('headers') ? headers! : before.record_headers,
    payload: before.payload,
    target_topic: wanted.targetTopic === undefined ? before.target_topic : wanted.targetTopic,
    order_key: fields.includes('key') && policy.ordering === 'per-key' ? orderKey(key) : before.order_key,
  }
  if (editsRecord) {
    // From now on it is a record, also where it never was one: no key means none, and no value a tombstone.
    after.record_headers ??= '[]'
    after.record_value = fields.includes('value') ? wanted.value! : value
    if (fields.includes('value')) after.payload = policy.payload === 'derived' ? null : projectPayload(wanted.value!)
  }
  return { fields, after }
}

/** What would be sent: a message that never was a record sends its payload. */
export function sentValue({
  record_headers,
  record_value,
  payload,
}: Pick<MessageContent, 'record_headers' | 'record_value' | 'payload'>): Buffer | null {
  return record_headers === null && record_value === null && payload !== null ? Buffer.from(payload) : record_value
}

/** Headers without reference to a column, to be compared. */
function plainHeaders({ record_headers, error_stacktrace }: MessageContent): string | null {
  return record_headers === null ? null : encodeHeaders(decodeHeaders(record_headers, { error_stacktrace }))
}

function isSame(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b)
}
