// Decodes the rows of a page: those whose payload is stored are named by their schema; of the others the value is read
// here, for as long as a page may take.

import { namedBinaryFormat } from 'dlq-core/domain/payload/binary/binary-formats.ts'
import { labelsOf } from 'dlq-core/domain/payload/envelope.ts'
import { maxEncodedBytes } from 'dlq-core/domain/payload/payload-bounds.ts'
import type { Decoding } from 'dlq-core/domain/payload/read-payload.ts'
import { decodeStates } from 'dlq-core/domain/payload/stored-decoding.ts'
import type { Header } from 'dlq-core/domain/record/record.ts'
import type { MessageTopics } from 'dlq-core/domain/retry/effective-policy.ts'
import type { MessageRow } from 'dlq-core/queries/reading/message-search.ts'
import { type PayloadReader, readableValue } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { type DecodingJson, decodingJson } from './decoding-json.ts'

export type DecodedRow = MessageRow & { decoding: DecodingJson }

const budgetMs = 250

/** `payloads`: null where only JSON is read. */
export async function decodeRows(payloads: PayloadReader | null, rows: readonly MessageRow[]): Promise<DecodedRow[]> {
  if (payloads === null) return rows.map((row) => ({ ...row, decoding: null }))
  const { source } = payloads
  await source.loadNumbered(rows.flatMap(({ value_schema }) => value_schema ?? []))
  const undecoded = rows.filter(({ unprojected_value }) => unprojected_value !== null)
  const readings = await payloads.readAll(
    undecoded.map((row) => readableValue({ record_headers: row.payload_headers }, row.unprojected_value, row)),
    { maxBytes: maxEncodedBytes, budgetMs },
  )
  const readingOf = new Map(undecoded.map((row, at) => [row, readings[at]!]))
  return rows.map((row) => {
    const reading = readingOf.get(row)
    if (reading === undefined) return { ...row, decoding: decodingJson(storedDecodingOf(row, payloads)) }
    // The reading counts: a rule may say that not even JSON is to be read.
    return { ...row, payload: reading.json, unprojected_value: null, decoding: decodingJson(reading.decoding) }
  })
}

/** What is known of a value that was decoded, or tried to be, when it was stored. */
export function storedDecodingOf(
  message: MessageTopics & Pick<MessageRow, 'payload' | 'value_schema' | 'decode_state'>,
  { source, planOf }: Pick<PayloadReader, 'source' | 'planOf'>,
  headers: readonly Header[] = [],
): Decoding | null {
  const { payload, value_schema, decode_state } = message
  const labels = labelsOf(payload, headers)
  if (decode_state === null && labels.length === 0) return null
  const schema = value_schema === null ? null : (source.schemaNumbered(value_schema) ?? null)
  const isDecoded = decode_state === null || decode_state === decodeStates.decoded
  return {
    state: isDecoded ? 'decoded' : decode_state === decodeStates.waiting ? 'waiting' : 'failed',
    format:
      schema?.state === 'known'
        ? schema.type
        : decode_state === decodeStates.decoded
          ? namedBinaryFormat(planOf(message).value, 'value', headers)
          : null,
    ref: schema?.ref ?? null,
    schema,
    compression: null,
    labels,
    problem: schema?.state === 'known' || schema === null ? null : (schema.problem ?? 'schema_unknown'),
  }
}
