// Takes personal data out of what a failure says before it is stored, where a policy asks for it (`scrub`). It cannot be
// undone. Key, value and the application's own headers stay as they are, because they are republished.

import { isUtf8 } from 'node:buffer'
import type { FailureContext } from '../failure/failure-context.ts'
import type { Family } from '../failure/families/family.ts'
import { failureHeadersOf } from '../failure/strip-failure-headers.ts'
import type { Header } from '../record/record.ts'
import { hiddenMark } from './mask-json.ts'
import { createTextMask, detectorFault, type TextMask } from './mask-text.ts'

type Said = Pick<FailureContext, 'errorMessage' | 'errorStacktrace' | 'errorClass'>

/** What the failure says, and the headers of the record, without what was found. `isScrubbed`: something was. */
export type Scrubbed<Context extends Said> = { context: Context; headers: readonly Header[]; isScrubbed: boolean }

/** By the list of a policy, which is the same object until the policies change. */
const scrubbers = new WeakMap<readonly string[], TextMask>()

/** What is hidden from some place on is lost here: it comes to that only for texts of a mebibyte, or with huge patterns. */
const patience = { times: 16 }

/** @param names of detectors, or patterns in RE2's syntax, as `errors` of masks has them */
function scrubberOf(names: readonly string[]): TextMask {
  const known = scrubbers.get(names)
  if (known !== undefined) return known
  // SQL can write a pattern that is none. Then nothing may be stored of what it was meant to find.
  const isUsable = names.every((name) => detectorFault(name) === null)
  const scrubber = (isUsable ? createTextMask(names, patience) : null) ?? (() => hiddenMark)
  scrubbers.set(names, scrubber)
  return scrubber
}

/** Where the record failed, and how often: what retries, comparisons and routes are decided by. */
const isCoordinate = /(?:^|[-_.])(?:topic|partition|offset|timestamp|timestamp-type|group|attempts?|count|id)$/
/** Copies of key and value, which are the record's and not the failure's. */
const isCopy = /^(?:springDeserializerException|deserialization-failure-|original_key$)/

/**
 * @param names what to look for; not empty
 * @param family whose headers describe the failure
 */
export function scrubFailure<Context extends Said>(
  { context, headers }: { context: Context; headers: readonly Header[] },
  { names, family }: { names: readonly string[]; family: Family | null },
): Scrubbed<Context> {
  const scrub = scrubberOf(names)
  const text = (said: string | null) => said && scrub(said)
  const errorMessage = text(context.errorMessage)
  const errorStacktrace = text(context.errorStacktrace)
  const ofFailure = new Set(failureHeadersOf(headers, family))
  const scrubbed = headers.map((header): Header => {
    const [name, value] = header
    if (value === null || !ofFailure.has(header) || isCoordinate.test(name) || isCopy.test(name)) return header
    const after = scrubbedBytes(value, scrub)
    return after === value ? header : [name, after]
  })
  const isScrubbed =
    errorMessage !== context.errorMessage ||
    errorStacktrace !== context.errorStacktrace ||
    scrubbed.some((header, at) => header !== headers[at])
  return {
    context: { ...context, errorMessage, errorStacktrace },
    headers: isScrubbed ? scrubbed : headers,
    isScrubbed,
  }
}

/** Bytes that are no text, such as an error that Java has serialised, go as a whole where something is found in them. */
function scrubbedBytes(value: Buffer, scrub: TextMask): Buffer {
  const isText = isUtf8(value)
  const said = value.toString(isText ? 'utf8' : 'latin1')
  const after = scrub(said)
  return after === said ? value : Buffer.from(isText ? after : hiddenMark)
}
