// A key or value after a change of the JSON that is shown of it: a JSON Patch, or the whole JSON anew. It is written as it
// was: with its schema, its frame and its compression.

import { PayloadFault } from '../payload/payload-fault.ts'
import { jsonLayout, type Reading } from '../payload/read-payload.ts'
import { rewritePayload } from '../payload/write-payload.ts'
import { PatchError, patchJson } from '../record/json-patch.ts'
import { projectPayload } from '../record/payload-projection.ts'

/** JSON texts. */
export type ValueChange = { readonly patch: string } | { readonly json: string }

/** `reencode`: more than the change may differ. `force`: its JSON Schema need not allow it. */
export type ChangeLeave = { readonly reencode: boolean; readonly force: boolean }

export const changeProblems = [
  ...(['no_json', 'patch_does_not_fit', 'unchanged', 'not_exact', 'schema_refuses'] as const),
  'takes_too_long',
] as const
export type ChangeProblem = (typeof changeProblems)[number]

export type ChangedValue = {
  /** JSON text; null where the value is none. */
  readonly before: string | null
  readonly after: string | null
  /** The bytes after the change. Null where there is a problem. */
  readonly bytes: Buffer | null
  /** Why the value is left alone. */
  readonly problem: ChangeProblem | null
  /** What does not fit, for a person. */
  readonly details: readonly string[]
  /** `force` would let it be written. */
  readonly isForcible: boolean
}

/** How a value is read by a service that decodes nothing. */
export function plainReading(value: Buffer | null): Reading {
  const json = projectPayload(value)
  return { json, decoding: null, layout: json === null ? null : jsonLayout(value!) }
}

/** `reading`: of `bytes`. */
export function changeValue(
  bytes: Buffer,
  { reading, change, ...leave }: { reading: Reading; change: ValueChange } & ChangeLeave,
): ChangedValue {
  const { json: before } = reading
  const left = (problem: ChangeProblem, details: readonly string[], after: string | null = null): ChangedValue => ({
    ...{ before, after, bytes: null, problem, details, isForcible: false },
  })
  if (before === null)
    return left('no_json', [reading.decoding?.problem ?? 'it is no JSON, and no schema of it is known'])
  let after: string
  let plainBefore: string | undefined
  try {
    if ('json' in change) after = change.json
    else ({ before: plainBefore, after } = patchJson(before, change.patch))
  } catch (error) {
    if (error instanceof PatchError) return left('patch_does_not_fit', [error.message])
    throw error
  }
  try {
    const rewritten = rewritePayload(bytes, reading, { json: after, plainBefore, ...leave })
    if (rewritten.kind === 'violates')
      return { ...left('schema_refuses', [rewritten.problem], after), isForcible: true }
    if (rewritten.kind === 'not_exact') return left('not_exact', rewritten.reasons, after)
    if (rewritten.kind === 'unchanged') return left('unchanged', [], after)
    return { before, after, bytes: rewritten.bytes, problem: null, details: [], isForcible: false }
  } catch (error) {
    if (error instanceof PayloadFault) return left('schema_refuses', [error.message], after)
    throw error
  }
}
