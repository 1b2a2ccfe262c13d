// A message as JSON text. The payload is JSON text already and is put in as it is: parsing it would
// round a number like 12345678901234567890.12.

import { statuses } from 'dlq-core/message.ts'
import { projectPayload } from 'dlq-core/payload-projection.ts'
import type { MessageView } from 'dlq-core/queries/message-read.ts'
import type { Context } from 'hono'
import * as v from 'valibot'

export const count = v.pipe(v.number(), v.integer(), v.minValue(0))
/** As the specification writes it: 2026-02-20T10:30:00.000+00:00 */
export const timestampText = v.pipe(v.string(), v.isoTimestamp())

/** The specification's message object. */
export const messageSchema = v.pipe(
  v.strictObject({
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
  }),
  v.title('Message'),
)

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

/** The specification's message object, field by field in its order. */
export function messageJson(message: MessageView): string {
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
  })
  // A topic's policy may keep no projection of the value; then it is made here.
  const payload = message.payload ?? projectPayload(message.unprojected_value) ?? 'null'
  return `${before.slice(0, -1)},"payload":${payload},${after.slice(1)}`
}

export type Page = { totalCount: number; page: number; pageSize: number }

/** The specification's list with its pagination. */
export function messageListJson(messages: readonly MessageView[], { totalCount, page, pageSize }: Page): string {
  const pagination = { total_count: totalCount, page, page_size: pageSize, has_next: page * pageSize < totalCount }
  return `{"messages":[${messages.map(messageJson).join(',')}],"pagination":${JSON.stringify(pagination)}}`
}

/** "2026-02-20T10:30:00.000+00:00", as the specification writes it. */
export function timestamp(date: Date): string {
  return date.toISOString().replace('Z', '+00:00')
}

/** Answers with JSON that is text already. */
export function sendJsonText(c: Context, json: string, status: 200 | 201 = 200): Response {
  return c.body(json, status, { 'content-type': 'application/json' })
}
