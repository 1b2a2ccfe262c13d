// A message as JSON text. The payload is JSON text already and is put in as it is: parsing it would
// round a number like 12345678901234567890.12.

import { projectPayload } from 'dlq-core/payload-projection.ts'
import type { MessageView } from 'dlq-core/queries/message-read.ts'

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
function timestamp(date: Date): string {
  return date.toISOString().replace('Z', '+00:00')
}
