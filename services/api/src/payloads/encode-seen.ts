// An edit of what was decoded, worked out while nothing is locked and no connection is held: it may take seconds, and wait
// for others.

import type { Mask } from 'dlq-core/domain/masks/create-masks.ts'
import { type ProjectValue, sentValue, type Wanted } from 'dlq-core/domain/message/edit-message.ts'
import { encodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import { readContent } from 'dlq-core/queries/change/message-change.ts'
import type { Call } from '../http/define-route.ts'
import { refuseTarget as refuseMaskedTarget, refusePart, refusePatch } from '../masks/refuse-hidden.ts'
import { type Asked, beingRetried, lookAt } from '../messages/change-message.ts'
import { headersOf } from '../messages/message-content.ts'
import { type DecodedEdit, encodeEdit } from './edit-decoded.ts'

type EditedCall = Pick<Call, 'sql' | 'sight' | 'payloads' | 'aside' | 'access' | 'signal'> & {
  body: EditBody & { reencode: boolean; headers?: Parameters<typeof headersOf>[0] | undefined }
}

/** `etag`: of the message that was encoded. `projectWith`: what was projected beside the event loop is not projected here. */
type EncodedSeen = {
  etag: string
  wanted: Pick<Wanted, 'key' | 'value'>
  projectWith: (project: ProjectValue) => ProjectValue
}

/**
 * What the edit makes of the message as it is now. `asked`: whose ETag it has.
 *
 * @throws {ApiError} as `holdAsSeen`, `refuseUnseen` and `encodeEdit` do
 */
export async function encodeSeen(
  call: EditedCall,
  asked: Asked,
  { edit, force }: { edit: DecodedEdit; force: boolean },
): Promise<EncodedSeen> {
  const { body, sight } = call
  const seen = await lookAt(call.sql, asked, async (sql, message) => {
    refuseUnseen(body, sight.maskOf(message))
    if (message.status === 'RETRYING') throw beingRetried(message.id)
    return { message, content: await readContent(sql, message.id) }
  })
  const { record_headers: before, record_key: key } = seen.content
  const after = body.headers === undefined ? before : encodeHeaders(headersOf(body.headers))
  const parts = { ...seen.message, key, value: sentValue(seen.content) }
  const hidesValue = sight.maskOf(seen.message)?.paths != null
  const how = { edit, reencode: body.reencode, force, headers: { before, after }, hidesValue }
  const { projected, ...wanted } = await encodeEdit(call, parts, how)
  const projectWith =
    (project: ProjectValue): ProjectValue =>
    (value, headers) =>
      value === wanted.value && projected !== null ? projected : project(value, headers)
  return { etag: seen.message.etag, wanted, projectWith }
}

type EditBody = Partial<Record<'key' | 'value' | 'headers', unknown>> & {
  record?: 'origin' | undefined
  patch?: Parameters<typeof refusePatch>[0] | undefined
  target_topic?: string | null | undefined
}

/** @throws {ApiError} 403 where the edit replaces, asks for or sends elsewhere what is hidden from the sender */
export function refuseUnseen(body: EditBody, mask: Mask | null): void {
  const isReplaced = (part: 'key' | 'value' | 'headers') => body[part] !== undefined || body.record !== undefined
  for (const part of ['key', 'value', 'headers'] as const) if (isReplaced(part)) refusePart(part, mask)
  if (body.patch !== undefined) refusePatch(body.patch, mask)
  if (body.target_topic) refuseMaskedTarget(mask)
}
