// The sections "masks" and "masks_secret": what of messages is hidden from whom the API shows masks.

import * as v from 'valibot'
import { keyMasks, type MaskEntry } from '../../domain/masks/create-masks.ts'
import { parseMaskPath } from '../../domain/masks/mask-paths.ts'
import { detectorFault } from '../../domain/masks/mask-text.ts'
import { text, textList } from './config-values.ts'

const pointers = v.pipe(
  v.array(
    v.pipe(
      v.string('must be text'),
      v.maxLength(1000, 'must be at most 1000 characters'),
      v.check(
        (pointer) => parseMaskPath(pointer) !== null,
        'must be a JSON Pointer such as "/customer/email", "/cards/*/number" or "/**/iban"',
      ),
    ),
    'must be a list of JSON Pointers',
  ),
  v.minLength(1, 'must not be empty'),
  v.maxLength(100, 'must be at most 100 pointers'),
)

/** Names of detectors, and patterns. */
export const detectors = v.pipe(
  v.array(
    v.pipe(
      text,
      v.maxLength(1000, 'must be at most 1000 characters'),
      v.check(
        (detector) => detectorFault(detector) === null,
        (issue) => detectorFault(issue.input)!,
      ),
    ),
    'must be a list of email, iban, card and patterns',
  ),
  v.maxLength(20, 'must be at most 20 detectors'),
)

const mask = v.pipe(
  v.strictObject({
    /** Globs of original topics or DLQ topics. */
    topics: textList,
    /** JSON Pointers of what is hidden in the value; `*` is one step, `**` any. */
    hide: v.optional(pointers),
    /** Or of what is shown; all else is hidden. */
    show: v.optional(pointers),
    key: v.optional(v.picklist(keyMasks, `must be one of ${keyMasks.join(', ')}`), 'show'),
    /** Globs of the names of headers whose values are hidden. */
    headers: v.optional(textList),
    /** What is hidden in error messages, stack traces and what people write: email, iban, card, or patterns of RE2. */
    errors: v.optional(detectors),
  }),
  v.check(({ hide, show }) => !(hide && show), 'must have hide or show, not both; entries for the same topics unite'),
  v.check(
    ({ hide, show, key, headers, errors }) => Boolean(hide || show || key !== 'show' || headers || errors?.length),
    'hides nothing: give hide, show, key, headers or errors',
  ),
)

export const masksSchema = v.pipe(
  v.array(mask, 'must be a list of { topics, hide, … }'),
  v.maxLength(200, 'must be at most 200 masks'),
)

/** The secret of pseudonyms, the same in all replicas. With another one, pseudonyms are others. */
export const masksSecret = v.pipe(
  text,
  v.minLength(32, 'must be at least 32 characters, as `openssl rand -base64 32` makes'),
)

export type MasksConfig = v.InferOutput<typeof masksSchema>

export function maskEntriesOf(masks: MasksConfig | null | undefined): MaskEntry[] {
  return (masks ?? []).map(({ headers = [], errors = [], ...mask }) => ({ ...mask, headers, errors }))
}

/** A pseudonym without a secret could be tried by anybody. */
export function maskFaults({
  masks,
  masks_secret: secret,
}: {
  masks?: MasksConfig | null | undefined
  masks_secret?: string | undefined
}) {
  if (secret !== undefined) return []
  return (masks ?? []).flatMap(({ key }, at) =>
    key === 'pseudonym' ? [`masks.${at}.key: pseudonym needs masks_secret_file, a file with a secret of its own`] : [],
  )
}
