// What dlq_messages keeps of the decoding of its value: enough to find the rows that wait for a schema, and to name the
// schema in lists without reading the bytes.

import { decodeHeader, isReference, readStoredHeaders } from '../record/header-json.ts'
import { projectPayload, projectWritten } from '../record/payload-projection.ts'
import type { Header } from '../record/record.ts'
import type { Reading } from './read-payload.ts'
import { payloadHeaders } from './schema-frames.ts'

/** Null: the value was stored as it is, as JSON or as bytes. */
export const decodeStates = { decoded: 1, waiting: 2, failed: 3 } as const

export type StoredDecoding = {
  /** JSON text that jsonb can hold. */
  payload: string | null
  /** A row of dlq_schemas. */
  value_schema: number | null
  decode_state: number | null
}

/** The columns for a reading. `stores`: whether the topic's policy stores payloads. */
export function storedDecoding({ json, decoding }: Reading, stores: boolean): StoredDecoding {
  const payload = stores && json !== null ? projectionOf(json, decoding) : null
  if (decoding === null) return { payload, value_schema: null, decode_state: null }
  const value_schema = decoding.schema?.number ?? null
  // Rows that wait are found by their schema. Without one, the value is read when somebody asks.
  const waits = decoding.state === 'waiting' && value_schema !== null && stores
  const decode_state = json !== null ? decodeStates.decoded : waits ? decodeStates.waiting : decodeStates.failed
  return { payload, value_schema, decode_state }
}

function projectionOf(json: string, decoding: Reading['decoding']): string | null {
  // Protobuf's `Any` may be nested deeper than jsonb takes.
  return decoding?.format === 'avro' ? projectWritten(json) : projectPayload(Buffer.from(json))
}

/** Those stored headers that decide how a record is read; none where SQL has written what are no headers. */
export function storedPayloadHeaders(stored: string | null): Header[] {
  if (stored === null) return []
  return (readStoredHeaders(stored) ?? [])
    .filter(([name, value]) => payloadHeaders.has(name) && !isReference(value))
    .map((header) => decodeHeader(header))
}
