// Decodes one message, as large as its topic allows. It may wait a moment for a schema that nobody has asked for yet.

import { storedPayloadHeaders } from 'dlq-core/domain/payload/stored-decoding.ts'
import type { MessageDetail } from 'dlq-core/queries/reading/message-detail.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import type { DecodedMessage } from '../messages/message-detail-json.ts'
import { storedDecodingOf } from './decode-rows.ts'
import { decodingJson } from './decoding-json.ts'

export const maxOneMessageBytes = 1024 * 1024
/** How long an answer waits for a schema, at most. */
export const schemaWaitMs = 2000

export async function decodeMessage(payloads: PayloadReader | null, message: MessageDetail): Promise<DecodedMessage> {
  if (payloads === null) return { shown: null, key: null, decoding: null }
  const headers = storedPayloadHeaders(message.record_headers)
  const of = (part: 'key' | 'value', bytes: Buffer | null) => ({ bytes, part, headers, topics: message })
  const limits = { maxBytes: maxOneMessageBytes, waitMs: schemaWaitMs }
  const [value, key] = await Promise.all([
    payloads.readOne(of('value', message.unprojected_value), limits),
    payloads.readOne(of('key', message.record_key), limits),
    payloads.source.loadNumbered(message.value_schema === null ? [] : [message.value_schema]),
  ])
  // A plain number or text is a key that everybody can read.
  const shownKey = key.decoding?.ref ? key.json : null
  const isRead = message.unprojected_value !== null
  const isLost = value.json === null && message.payload !== null
  const decoding = isRead && !isLost ? value.decoding : storedDecodingOf(message, payloads, headers)
  // What was decoded once stays readable, whatever became of its schema.
  const shown = isRead ? { payload: value.json ?? message.payload, unprojected_value: null } : null
  return { shown, key: shownKey, decoding: decodingJson(decoding) }
}
