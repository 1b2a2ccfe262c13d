// Edits of what was decoded: the JSON that is shown is the JSON that is accepted. The value is written with its schema, its
// frame and its compression; what does not change keeps its bytes.

import type { ValueChange } from 'dlq-core/domain/message/change-value.ts'
import type { Wanted } from 'dlq-core/domain/message/edit-message.ts'
import type { MessageTopics } from 'dlq-core/domain/retry/effective-policy.ts'
import { getMessageDetail } from 'dlq-core/queries/reading/message-detail.ts'
import { changeAside } from 'dlq-core/runtime/aside/change-aside.ts'
import type { Changed } from 'dlq-core/runtime/aside/change-worker.ts'
import { ApiError, invalidField } from '../http/api-error.ts'
import type { Call } from '../http/define-route.ts'
import { decodeMessage, maxOneMessageBytes, schemaWaitMs } from './decode-message.ts'

/** JSON texts: the whole key or value, or a JSON Patch of the value. */
export type DecodedEdit = { key?: string; value?: string; patch?: string }

/** What the edit makes of the message. A part that stays as it is, is left out. */
export type EncodedEdit = Pick<Wanted, 'key' | 'value'> & Pick<Changed, 'projected'>

export type EditedParts = MessageTopics & { key: Buffer | null; value: Buffer | null }

/** `headers`: as stored, before the edit and after it. */
type How = {
  reencode: boolean
  force: boolean
  headers: { before: string | null; after: string | null }
  /** Masks hide parts of the value from the sender: what does not fit may quote them. */
  hidesValue: boolean
}

type EditCall = Pick<Call, 'payloads' | 'aside' | 'access' | 'signal'>

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
 * The bytes for the edit. It may wait for a schema, and for other large edits, so no transaction must be open.
 *
 * @throws {ApiError} 400 with the path that does not fit the schema; 409 where the bytes cannot be decoded, or SYS_DLQ_NOT_EXACT
 * @throws {AsideFault} where too many others wait
 */
export async function encodeEdit(
  call: EditCall,
  message: EditedParts,
  { edit, ...how }: { edit: DecodedEdit } & How,
): Promise<EncodedEdit> {
  const encode = (part: 'key' | 'value', change: ValueChange) => encodePart(call, message, { part, change, ...how })
  const { key, value, patch } = edit
  const newKey = key === undefined ? null : await encode('key', { json: key })
  const change = value !== undefined ? { json: value } : patch !== undefined ? { patch } : null
  const newValue = change && (await encode('value', change))
  return {
    ...(newKey?.bytes && { key: newKey.bytes }),
    ...(newValue?.bytes && { value: newValue.bytes }),
    projected: newValue?.projected ?? null,
  }
}

/** Without bytes where nothing changes. */
async function encodePart(
  call: EditCall,
  message: EditedParts,
  { part, change, hidesValue, ...how }: { part: 'key' | 'value'; change: ValueChange } & How,
): Promise<Changed> {
  const bytes = message[part]
  if (bytes === null) throw new ApiError('SYS_DLQ_CONFLICT', `the message has no ${part} that could be changed`)
  const changing = { bytes, part, topics: message, change, ...how, maxBytes: maxOneMessageBytes, waitMs: schemaWaitMs }
  const changed = await changeAside(call, changing, { owner: call.access.actor, signal: call.signal })
  refuseProblem(hidesValue ? withoutQuotes(changed) : changed, part, 'patch' in change ? 'patch' : part)
  return changed
}

/** Why bytes are not decoded, and what a JSON Schema does not allow, may be about places that the edit leaves alone. */
function withoutQuotes(changed: Changed): Changed {
  const why = 'masks hide why from this token'
  if (changed.problem === 'no_json') return { ...changed, details: [why] }
  if (!changed.isForcible) return changed
  return { ...changed, details: [`its JSON Schema does not allow it, and ${why}`] }
}

/** `field`: of the request. @throws {ApiError} */
function refuseProblem({ problem, details, isForcible }: Changed, part: 'key' | 'value', field: string): void {
  const why = details.join('; ')
  switch (problem) {
    case null:
    case 'unchanged':
      return
    case 'no_json':
      throw new ApiError('SYS_DLQ_CONFLICT', `the ${part} is not decoded (${why}): send it as text or base64`)
    case 'patch_does_not_fit':
      throw invalidField('patch', why)
    case 'schema_refuses':
      throw invalidField(part, isForcible ? `${why}; send it with "force": true and a reason to accept that` : why)
    case 'not_exact':
      throw new ApiError(
        'SYS_DLQ_NOT_EXACT',
        `the ${part} cannot be written so that only the change differs; send it with "reencode": true to accept that`,
        details.map((message) => ({ field: part, message })),
      )
    case 'takes_too_long':
      throw invalidField(field, `${why} to work this change out; send the whole ${part} as text or base64 instead`)
  }
}
