// An edit: the message after it, and the fields that differ.

import type { StoredDecoding } from '../payload/stored-decoding.ts'
import { encodeHeaders, readHeaders } from '../record/header-json.ts'
import { orderKey } from '../record/order-key.ts'
import { projectPayload } from '../record/payload-projection.ts'
import { areSameBytes, type Header } from '../record/record.ts'
import type { RetryPolicy } from '../retry/retry-policy.ts'

/** The fields that can be edited, as they are now. */
export type MessageContent = {
  record_key: Buffer | null
  record_value: Buffer | null
  /** As header-json.ts stores them; null for a message that never was a record. */
  record_headers: string | null
  /** JSON text. */
  payload: string | null
  target_topic: string | null
  error_stacktrace: string | null
  order_key: bigint | null
  value_schema: number | null
  decode_state: number | null
  edits: number
}

export type AfterEdit = Pick<
  MessageContent,
  | 'record_key'
  | 'record_value'
  | 'record_headers'
  | 'payload'
  | 'target_topic'
  | 'order_key'
  | 'value_schema'
  | 'decode_state'
>

/** The requested changes; absent fields stay. */
export type Wanted = {
  key?: Buffer | null
  value?: Buffer | null
  headers?: readonly Header[]
  targetTopic?: string | null
}

/** `fields`: which of key, value, headers and target_topic differ. */
export type EditedContent = { fields: readonly string[]; after: AfterEdit }

/** What is stored of a value beside its bytes, given the stored headers. */
export type ProjectValue = (value: Buffer | null, headers: string | null) => StoredDecoding

/** For a service that decodes nothing: JSON alone has a payload. */
export const projectJson: ProjectValue = (value) => ({
  payload: projectPayload(value),
  value_schema: null,
  decode_state: null,
})

/** The message after the edit. `fields` is empty if nothing differs. */
export function applyEdit(
  before: MessageContent,
  wanted: Wanted,
  policy: RetryPolicy,
  project: ProjectValue = projectJson,
): EditedContent {
  const value = sentValue(before)
  const fields: string[] = []
  if (wanted.key !== undefined && !areSameBytes(wanted.key, before.record_key)) fields.push('key')
  if (wanted.value !== undefined && !areSameBytes(wanted.value, value)) fields.push('value')
  const headers = wanted.headers && encodeHeaders(wanted.headers)
  if (headers !== undefined && headers !== plainHeaders(before)) fields.push('headers')
  if (wanted.targetTopic !== undefined && wanted.targetTopic !== before.target_topic) fields.push('target_topic')

  const editsRecord = fields.some((field) => field !== 'target_topic')
  const key = fields.includes('key') ? wanted.key! : before.record_key
  const after: AfterEdit = {
    record_key: key,
    record_value: before.record_value,
    record_headers: fields.includes('headers') ? headers! : before.record_headers,
    payload: before.payload,
    target_topic: wanted.targetTopic === undefined ? before.target_topic : wanted.targetTopic,
    // Without an order no key: that of the former key would count once the policy asks for an order.
    order_key: !fields.includes('key') ? before.order_key : policy.ordering === 'per-key' ? orderKey(key) : null,
    value_schema: before.value_schema,
    decode_state: before.decode_state,
  }
  if (editsRecord) {
    // From now on it is a record, even if it never was one: a null key is no key, a null value a tombstone.
    after.record_headers ??= '[]'
    after.record_value = fields.includes('value') ? wanted.value! : value
    if (fields.includes('value')) {
      const projected = project(wanted.value!, after.record_headers)
      Object.assign(after, policy.payload === 'derived' ? { ...projected, payload: null } : projected)
    }
  }
  return { fields, after }
}

/** The value that a retry would send: for a message that never was a record, its payload. */
export function sentValue({
  record_headers,
  record_value,
  payload,
}: Pick<MessageContent, 'record_headers' | 'record_value' | 'payload'>): Buffer | null {
  return record_headers === null && record_value === null && payload !== null ? Buffer.from(payload) : record_value
}

/** Headers without reference to a column, for comparison; null where there are none, or they cannot be read. */
function plainHeaders({ record_headers, error_stacktrace }: MessageContent): string | null {
  const headers = record_headers && readHeaders(record_headers, { error_stacktrace })
  return headers && encodeHeaders(headers)
}
