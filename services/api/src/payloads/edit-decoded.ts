// Edits of what was decoded: the JSON that is shown is the JSON that is accepted. The value is written with its schema, its
// frame and its compression; what does not change keeps its bytes.

import { plainReading, type Wanted } from 'dlq-core/domain/message/edit-message.ts'
import { PayloadFault } from 'dlq-core/domain/payload/payload-fault.ts'
import type { Reading } from 'dlq-core/domain/payload/read-payload.ts'
import { storedPayloadHeaders } from 'dlq-core/domain/payload/stored-decoding.ts'
import { rewritePayload } from 'dlq-core/domain/payload/write-payload.ts'
import { PatchError, patchJson } from 'dlq-core/domain/record/json-patch.ts'
import type { MessageTopics } from 'dlq-core/domain/retry/effective-policy.ts'
import { getMessageDetail } from 'dlq-core/queries/reading/message-detail.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { isPlainJson, patchAside } from 'dlq-core/runtime/patching/patch-aside.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { ApiError, invalidField } from '../http/api-error.ts'
import type { Call } from '../http/define-route.ts'
import { decodeMessage, maxOneMessageBytes } from './decode-message.ts'

/** JSON texts: the whole key or value, or a JSON Patch of the value. */
export type DecodedEdit = { key?: string; value?: string; patch?: string }

/** `reencode`: more than the change may differ. `force`: its JSON Schema need not allow it. */
type How = { reencode: boolean; force: boolean }

/**
 * Looks the schemas of the message up, before anybody waits for a lock. It may wait a moment for one that nobody has
 * asked for yet.
 */
export async function fetchSchemasOf(
  { sql, access, payloads }: Pick<Call, 'sql' | 'access' | 'payloads'>,
  id: string,
): Promise<void> {
  const message = payloads && (await getMessageDetail(sql, { id, scope: access.topics }))
  if (message) await decodeMessage(payloads, message)
}

/**
 * The bytes for the edit. A part that stays as it is, is left out.
 * @throws {ApiError} 400 with the path that does not fit the schema; 409 where the bytes cannot be decoded, or SYS_DLQ_NOT_EXACT
 */
export async function encodeEdit(
  sql: Sql,
  payloads: PayloadReader | null,
  message: MessageTopics & { record_headers: string | null; key: Buffer | null; value: Buffer | null },
  { edit, ...how }: { edit: DecodedEdit } & How,
): Promise<Pick<Wanted, 'key' | 'value'>> {
  const headers = storedPayloadHeaders(message.record_headers)
  const read = async (part: 'key' | 'value') => {
    const bytes = message[part]
    if (bytes === null) throw new ApiError('SYS_DLQ_CONFLICT', `the message has no ${part} that could be changed`)
    const [reading] = payloads
      ? await payloads.readAll([{ bytes, part, headers, topics: message }], { maxBytes: maxOneMessageBytes, sql })
      : [plainReading(bytes)]
    return { bytes, reading: reading! }
  }
  const encode = async (part: 'key' | 'value', json: string) => {
    const { bytes, reading } = await read(part)
    return changed(part, rewrite(part, bytes, { reading, changeOf: () => json, ...how }))
  }
  const encodePatched = async (patch: string) => {
    const { bytes, reading } = await read('value')
    if (!isPlainJson(reading))
      return changed('value', rewrite('value', bytes, { reading, changeOf: (json) => patchJson(json, patch), ...how }))
    const patched = await patchAside(
      { record_headers: message.record_headers, record_value: bytes, payload: null },
      patch,
    )
    if (patched.problem === 'patch_does_not_fit') throw invalidField('patch', patched.detail!)
    return changed('value', patched.bytes)
  }
  const { key, value, patch } = edit
  return {
    ...(key !== undefined && (await encode('key', key))),
    ...(value !== undefined && (await encode('value', value))),
    ...(patch !== undefined && (await encodePatched(patch))),
  }
}

function changed(part: 'key' | 'value', bytes: Buffer | null): Pick<Wanted, 'key' | 'value'> {
  return bytes === null ? {} : { [part]: bytes }
}

type Rewriting = How & { reading: Reading; changeOf: (json: string) => string }

/** Null where nothing changes. */
function rewrite(part: 'key' | 'value', bytes: Buffer, { reading, changeOf, ...how }: Rewriting): Buffer | null {
  if (reading.json === null) {
    const why = reading.decoding?.problem ?? 'it is no JSON, and no schema of it is known'
    throw new ApiError('SYS_DLQ_CONFLICT', `the ${part} is not decoded (${why}): send it as text or base64`)
  }
  try {
    const rewritten = rewritePayload(bytes, reading, { json: changeOf(reading.json), ...how })
    if (rewritten.kind === 'violates')
      throw invalidField(part, `${rewritten.problem}; send it with "force": true and a reason to accept that`)
    if (rewritten.kind === 'not_exact')
      throw new ApiError(
        'SYS_DLQ_NOT_EXACT',
        `the ${part} cannot be written so that only the change differs; send it with "reencode": true to accept that`,
        rewritten.reasons.map((message) => ({ field: part, message })),
      )
    return rewritten.kind === 'unchanged' ? null : rewritten.bytes
  } catch (error) {
    if (error instanceof PayloadFault) throw invalidField(part, error.message)
    if (error instanceof PatchError) throw invalidField('patch', error.message)
    throw error
  }
}
