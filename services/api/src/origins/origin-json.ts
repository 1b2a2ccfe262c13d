// How a message compares with its original, as answers show it.

import { createHash } from 'node:crypto'
import { comparedParts } from 'dlq-core/domain/origin/compare-origin.ts'
import { storedPayloadHeaders } from 'dlq-core/domain/payload/stored-decoding.ts'
import { diffJson } from 'dlq-core/domain/record/json-diff.ts'
import { projectPayload } from 'dlq-core/domain/record/payload-projection.ts'
import { readContent } from 'dlq-core/queries/change/message-change.ts'
import type { StoredOrigin } from 'dlq-core/queries/origin/origins.ts'
import type { MessageDetail } from 'dlq-core/queries/reading/message-detail.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import * as v from 'valibot'
import { headersSchema, shownHeaders } from '../messages/message-content.ts'
import { count } from '../messages/message-json.ts'
import { timestamp, timestampText } from '../messages/timestamp.ts'
import { maxOneMessageBytes } from '../payloads/decode-message.ts'

const digest = v.nullable(
  v.strictObject({ bytes: count, sha256: v.pipe(v.string(), v.description('In hexadecimal digits.')) }),
)
const record = v.strictObject({ key: digest, value: digest, headers: headersSchema })

export const originSchema = v.pipe(
  v.strictObject({
    state: v.pipe(
      v.picklist(['same', 'different', 'mismatch', 'unproved', 'gone', 'unreachable']),
      v.description(
        'mismatch: another record stands there, because the topic was made anew. unproved: neither key nor value say that it is the record that failed. gone: Kafka has no record there any more, or the dead letter does not say where it failed. unreachable: it could not be read.',
      ),
    ),
    differs: v.pipe(
      v.array(v.picklist(comparedParts)),
      v.description('When they were compared. Headers that describe the failure, and ours, do not count.'),
    ),
    compared_at: timestampText,
    tries: count,
    next_try_at: v.nullable(timestampText),
    problem: v.pipe(v.nullable(v.string()), v.description('Why it could not be read.')),
    copy: record,
    origin: v.nullable(v.strictObject({ ...record.entries, timestamp: v.nullable(timestampText) })),
    patch: v.pipe(
      v.nullable(v.array(v.unknown())),
      v.description(
        'The JSON Patch (RFC 6902) that makes the original’s value of the copy’s. Null where one of them cannot be shown as JSON.',
      ),
    ),
  }),
  v.title('Origin'),
)

export const exampleOrigin = {
  state: 'different',
  differs: ['value', 'headers'],
  compared_at: '2026-02-20T10:30:00.000+00:00',
  tries: 1,
  next_try_at: null,
  problem: null,
  copy: {
    key: { bytes: 3, sha256: '2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683' },
    value: { bytes: 21, sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
    headers: [],
  },
  origin: {
    key: { bytes: 3, sha256: '2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683' },
    value: { bytes: 23, sha256: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752' },
    headers: [],
    timestamp: '2026-02-20T10:29:58.000+00:00',
  },
  patch: [{ op: 'replace', path: '/amount', value: 10.5 }],
}

/** JSON text. */
export async function originJson(
  sql: Sql,
  { message, origin, payloads }: { message: MessageDetail; origin: StoredOrigin; payloads: PayloadReader | null },
): Promise<string> {
  const copy = await readContent(sql, message.id)
  const { state, differs, compared_at, tries, next_try_at, problem, record_timestamp } = origin
  const hasRecord = origin.record_headers !== null
  const patch = hasRecord ? await patchBetween(payloads, message, [copy, origin]) : null
  const shown = JSON.stringify({
    ...{ state, differs, compared_at: timestamp(compared_at), tries },
    ...{ next_try_at: next_try_at && timestamp(next_try_at), problem },
    copy: recordJson(copy, { error_stacktrace: copy.error_stacktrace }),
    origin: hasRecord
      ? { ...recordJson(origin), timestamp: record_timestamp === null ? null : timestamp(new Date(record_timestamp)) }
      : null,
  })
  return `${shown.slice(0, -1)},"patch":${patch ?? 'null'}}`
}

type Bytes = { record_key: Buffer | null; record_value: Buffer | null; record_headers: string | null }

function recordJson({ record_key, record_value, record_headers }: Bytes, columns: Record<string, string | null> = {}) {
  return { key: digestOf(record_key), value: digestOf(record_value), headers: shownHeaders(record_headers, columns) }
}

function digestOf(bytes: Buffer | null) {
  return bytes && { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

async function patchBetween(
  payloads: PayloadReader | null,
  topics: MessageDetail,
  records: readonly [Bytes, Bytes],
): Promise<string | null> {
  const readings = payloads
    ? await payloads.readAll(
        records.map(({ record_value: bytes, record_headers }) => ({
          ...{ bytes, part: 'value' as const, topics },
          headers: storedPayloadHeaders(record_headers),
        })),
        { maxBytes: maxOneMessageBytes },
      )
    : records.map(({ record_value }) => ({ json: projectPayload(record_value) }))
  const [before, after] = readings.map(({ json }) => json)
  return before && after ? diffJson(before, after) : null
}
