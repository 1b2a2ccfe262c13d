// A message as JSON text. The payload is JSON text already and is put in as it is: parsing it would
// round a number like 12345678901234567890.12.

import { isUtf8 } from 'node:buffer'
import { projectPayload } from 'dlq-core/domain/record/payload-projection.ts'
import { statuses } from 'dlq-core/domain/retry/message-state.ts'
import type { Previewed } from 'dlq-core/queries/reading/message-search.ts'
import type { SpecifiedMessage } from 'dlq-core/queries/reading/message-view.ts'
import type { Context } from 'hono'
import * as v from 'valibot'
import { hiddenEntries, hiddenOf, type Shown } from '../masks/shown.ts'
import type { DecodedRow } from '../payloads/decode-rows.ts'
import { decodingSchema } from '../payloads/decoding-json.ts'
import { type ReadableValue, readable } from './readable-record.ts'
import { timestamp, timestampText } from './timestamp.ts'

export const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** The specification's message object. */
export const messageEntries = {
  id: v.pipe(v.string(), v.uuid()),
  original_topic: v.string(),
  error_message: v.string(),
  retry_count: count,
  max_retries: count,
  payload: v.unknown(),
  status: v.picklist(statuses),
  created_at: timestampText,
  updated_at: timestampText,
  last_retry_at: v.nullable(timestampText),
}

export const messageSchema = v.pipe(v.strictObject({ ...messageEntries, ...hiddenEntries }), v.title('Message'))

export const messageListSchema = v.pipe(
  v.strictObject({
    messages: v.array(messageSchema),
    pagination: v.strictObject({ total_count: count, page: count, page_size: count, has_next: v.boolean() }),
  }),
  v.title('MessageList'),
)

/** The specification's example. */
export const exampleMessage = {
  id: '550e8400-e29b-41d4-a716-446655440000',
  original_topic: 'orders.events.v1',
  error_message: 'processing failed',
  retry_count: 0,
  max_retries: 3,
  payload: { order_id: '123' },
  status: 'PENDING',
  created_at: '2026-02-20T10:30:00.000+00:00',
  updated_at: '2026-02-20T10:30:00.000+00:00',
  last_retry_at: null,
}

/** The specification's message object, with the fields in its order, followed by those of `more`. */
export function messageJson(message: Shown<SpecifiedMessage>, more: object = {}): string {
  const before = JSON.stringify({
    id: message.id,
    original_topic: message.original_topic,
    error_message: message.error_message,
    retry_count: message.retry_count,
    max_retries: message.max_retries,
  })
  const after = JSON.stringify({
    status: message.status,
    created_at: timestamp(message.created_at),
    updated_at: timestamp(message.updated_at),
    last_retry_at: message.last_retry_at && timestamp(message.last_retry_at),
    ...more,
    ...hiddenOf(message),
  })
  return `${before.slice(0, -1)},"payload":${payloadJson(message)},${after.slice(1)}`
}

/** The payload. Where the topic's policy stores none, it is read from the value. */
export function payloadJson({
  payload,
  unprojected_value,
}: Pick<SpecifiedMessage, 'payload' | 'unprojected_value'>): string {
  return payload ?? projectPayload(unprojected_value) ?? 'null'
}

/** Fields that lists show beside the specification's. */
export function listedFields(row: Shown<DecodedRow>) {
  return {
    dlq_topic: row.dlq_topic,
    dlq_partition: row.dlq_partition,
    dlq_offset: row.dlq_offset === null ? null : String(row.dlq_offset),
    original_partition: row.original_partition,
    original_offset: row.original_offset === null ? null : String(row.original_offset),
    consumer_group: row.consumer_group,
    error_class: row.error_class,
    group_id: row.group_id,
    next_retry_at: row.next_retry_at && timestamp(row.next_retry_at),
    failure_count: row.failure_count,
    first_failed_at: timestamp(row.first_failed_at),
    last_failed_at: timestamp(row.last_failed_at),
    decoding: row.decoding,
  }
}

const nullable = {
  text: v.nullable(v.string()),
  count: v.nullable(count),
  time: v.nullable(timestampText),
  readable: v.nullable(
    v.strictObject({ value: v.nullable(v.string()), encoding: v.picklist(['text', 'number', 'base64']) }),
  ),
}

const listedEntries = {
  dlq_topic: nullable.text,
  dlq_partition: nullable.count,
  // Kafka's offsets are int64, which a JavaScript number would round.
  dlq_offset: nullable.text,
  original_partition: nullable.count,
  original_offset: nullable.text,
  consumer_group: nullable.text,
  error_class: nullable.text,
  group_id: v.nullable(v.pipe(v.string(), v.uuid())),
  next_retry_at: nullable.time,
  failure_count: count,
  first_failed_at: v.pipe(timestampText, v.description('When its dead letter was written.')),
  last_failed_at: v.pipe(timestampText, v.description('The same, until it fails again; then when that was stored.')),
  decoding: decodingSchema,
}

export const listedMessageSchema = v.pipe(
  v.strictObject({
    ...messageEntries,
    ...listedEntries,
    ...hiddenEntries,
    payload: v.exactOptional(v.pipe(v.unknown(), v.description('Absent where previews are shown.'))),
    preview: v.exactOptional(
      v.pipe(
        nullable.text,
        v.description(
          'Only with show=preview, like all that follow: the first 300 characters of the value. Null where it is no text, or takes more than 256 KiB on the disk.',
        ),
      ),
    ),
    key: v.exactOptional(v.pipe(nullable.readable, v.description('The first 2048 bytes of the record key.'))),
    value_bytes: v.exactOptional(v.pipe(nullable.count, v.description('Null for a message without a record.'))),
    edits: v.exactOptional(count),
    run_id: v.exactOptional(nullable.text),
    target_topic: v.exactOptional(
      v.pipe(nullable.text, v.description('The topic to which the edited message is sent instead.')),
    ),
  }),
  v.title('ListedMessage'),
)

export const exampleListedMessage = {
  ...exampleMessage,
  dlq_topic: 'orders.dlq.v1',
  dlq_partition: 0,
  dlq_offset: '4711',
  original_partition: 3,
  original_offset: '90210',
  consumer_group: 'billing',
  error_class: 'com.example.OutOfStockException',
  group_id: '1c9e5a3c-6d7e-8f00-a1b2-c3d4e5f60718',
  next_retry_at: '2026-02-20T10:35:00.000+00:00',
  failure_count: 1,
  first_failed_at: '2026-02-20T10:30:00.000+00:00',
  last_failed_at: '2026-02-20T10:30:00.000+00:00',
  decoding: null,
}

/** The message with the beginning of its value instead of its payload. */
export function previewJson(row: Shown<DecodedRow> & { previewed: Previewed }): string {
  const { value_start, key_start, ...rest } = row.previewed
  const { payload: _, ...message } = JSON.parse(
    messageJson({ ...row, payload: null, unprojected_value: null }, listedFields(row)),
  )
  return JSON.stringify({
    ...message,
    preview: previewOf(value_start),
    key: key_start && readableStart(key_start),
    ...rest,
  })
}

const previewChars = 300

/** The beginning of a text; null for bytes that are none. */
function previewOf(start: Buffer | null): string | null {
  const { value, encoding } = readableStart(start)
  // By code points: half a surrogate pair is no text.
  return value === null || encoding === 'base64' ? null : [...value].slice(0, previewChars).join('')
}

/** The last character may be cut in the middle. */
function readableStart(start: Buffer | null): ReadableValue {
  if (start === null) return readable(null)
  const shorter = [0, 1, 2, 3].map((bytes) => start.subarray(0, start.length - bytes))
  return readable(shorter.find((bytes) => isUtf8(bytes)) ?? start)
}

/** Answers with JSON that is text already. */
export function sendJsonText(c: Context, json: string): Response {
  return c.body(json, 200, { 'content-type': 'application/json' })
}
