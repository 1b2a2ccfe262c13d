// Record keys given as JSON: encoded in each way in which keys are read, by frames of keys, headers and rules, so that the
// bytes go along the index of keys.

import { base64Keys, jsonKeyOf, type MessageFilter } from 'dlq-core/domain/message/message-filter.ts'
import { storedPayloadHeaders } from 'dlq-core/domain/payload/stored-decoding.ts'
import { exactJsonOf } from 'dlq-core/domain/record/exact-json.ts'
import { listKeyFrames, listNewestKeyHeaders } from 'dlq-core/queries/schemas/key-frames.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { invalidField } from '../http/api-error.ts'

export type EncodingDeps = { sql: Sql; payloads: PayloadReader | null }

const mostEncodings = 10
/** Frames of keys that are looked at: not every schema fits. */
const mostFrames = 50
/** Newest messages whose headers are looked at for schemas of keys. Ingesters note those of all that they store. */
const mostHeaders = 500

/**
 * The bytes of the key: as JSON text, as the rule of the topic encodes it, and with each schema that keys have and that
 * it fits. `topic`: an original or DLQ topic; null: any. @throws {ApiError} 400 where more than ten fit
 */
export async function encodeKey(
  { sql, payloads }: EncodingDeps,
  json: string,
  { topic, field }: { topic: string | null; field: string },
): Promise<Buffer[]> {
  const text = Buffer.from(json)
  if (payloads === null) return [text]
  const frames = await listKeyFrames(sql, { limit: mostFrames })
  const newest = await listNewestKeyHeaders(sql, { limit: mostHeaders })
  await payloads.noteKeys(
    newest.map(({ record_headers, ...topics }) => ({ headers: storedPayloadHeaders(record_headers), topics })),
  )
  const encoded = await payloads.encodeKey(json, { topic, frames })
  const distinct = new Map([text, ...encoded].map((bytes) => [bytes.toString('base64'), bytes]))
  if (distinct.size > mostEncodings)
    throw invalidField(field, `fits ${distinct.size} schemas of keys: name the topic, or give its bytes as base64`)
  return [...distinct.values()]
}

/** The filter with a key that is given as JSON in place of its bytes. */
export async function withEncodedKey<Filter extends MessageFilter>(
  deps: EncodingDeps,
  filter: Filter,
): Promise<Filter> {
  const asked = filter.key === undefined ? null : jsonKeyOf(filter.key)
  if (asked === null) return filter
  const topic = filter.topic !== undefined && !/[*?]/.test(filter.topic) ? filter.topic : null
  const keys = await encodeKey(deps, exactJsonOf(asked, ['json']), { topic, field: 'key' })
  return { ...filter, key: base64Keys(keys) }
}
