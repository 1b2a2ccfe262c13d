// Refuses what would tell of something hidden, or carry it to where it can be read. Each refusal is decided from the request
// and the masks alone, never from what messages hold: neither a count nor a cursor nor the time of an answer tells anything.

import type { Mask } from 'dlq-core/domain/masks/create-masks.ts'
import { asksForHidden, patchesHidden } from 'dlq-core/domain/masks/mask-oracles.ts'
import { sealedPrefix } from 'dlq-core/domain/masks/seal-key.ts'
import type { MessageFilter } from 'dlq-core/domain/message/message-filter.ts'
import type { jsonPatchSchema } from 'dlq-core/domain/record/json-patch.ts'
import type { InferOutput } from 'valibot'
import { ApiError } from '../http/api-error.ts'
import type { Sight } from './sight.ts'

const remedy = 'a token with payloads: full may, with unmask=true'

function refused(what: string): ApiError {
  return new ApiError('SYS_DLQ_FORBIDDEN', `${what}; ${remedy}`)
}

/** The filter with its key's pseudonym opened. @throws {ApiError} 403 where it asks for what is hidden in any topic */
export function allowedFilter<Filter extends MessageFilter>(filter: Filter, { anywhere, seal }: Sight): Filter {
  const { payload, q, key } = filter
  if (payload !== undefined && anywhere?.paths && asksForHidden(payload, anywhere.paths))
    throw refused('payload: asks for values that masks hide from this token')
  if (q !== undefined) refuseTextSearch(anywhere)
  if (key === undefined) return filter
  const opened = anywhere?.key !== 'hide' && key.startsWith(sealedPrefix) ? (seal?.open(key) ?? null) : null
  if (opened !== null) return { ...filter, key: `base64:${opened.toString('base64')}` }
  if (anywhere && anywhere.key !== 'show')
    throw refused(
      anywhere.key === 'pseudonym'
        ? `key: masks hide keys from this token; give a pseudonym as it is shown, "${sealedPrefix}…"`
        : 'key: masks hide keys from this token',
    )
  return filter
}

/** A search within text yields a number digit by digit. */
export function refuseTextSearch(anywhere: Mask | null): void {
  if (anywhere?.text) throw refused('q: masks hide parts of errors and reasons from this token')
}

/** @throws {ApiError} 403 where the patch overlaps a mask */
export function refusePatch(patch: InferOutput<typeof jsonPatchSchema>, mask: Mask | null): void {
  const pointer = mask?.paths ? patchesHidden(patch, mask.paths) : null
  if (pointer !== null) throw refused(`patch: ${pointer || 'the whole value'} overlaps what masks hide from this token`)
}

/**
 * A key that somebody gives comes back as its pseudonym, which is that of all messages with this key: so keys could be
 * guessed, one by one.
 */
export function refuseGuessedKey(mask: Mask | null): void {
  if (mask?.key === 'pseudonym')
    throw new ApiError(
      'SYS_DLQ_FORBIDDEN',
      'key: masks show only pseudonyms of this topic’s keys to this token, so it may give none; leave the key out, or report with a token that has payloads: full',
    )
}

/** What is not seen is not replaced, nor given away as it is stored. */
export function refusePart(part: 'key' | 'value' | 'headers', mask: Mask | null): void {
  if (mask === null) return
  const isHidden = {
    key: mask.key !== 'show',
    value: mask.paths !== null,
    // Frameworks copy keys, values and errors into headers.
    headers: mask.hidesHeader !== null || mask.text !== null || mask.paths !== null || mask.key !== 'show',
  }[part]
  if (isHidden) throw refused(`${part}: masks hide it, or parts of it, from this token`)
}

/** Elsewhere it could be read. */
export function refuseTarget(mask: Mask | null): void {
  if (mask !== null)
    throw refused('target_topic: messages with masks are not sent elsewhere by a token that does not see them whole')
}
