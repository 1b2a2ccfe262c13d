// Cursors of short lists that go forwards only: the last row's key, bound to what was asked for.

import * as v from 'valibot'
import { invalidField } from './api-error.ts'

export function encodeKey(key: readonly (string | number)[], binding: string): string {
  return Buffer.from(JSON.stringify([binding, ...key])).toString('base64url')
}

const storable = v.pipe(
  v.string(),
  v.maxLength(1000),
  v.check((text) => !text.includes('\0') && text.isWellFormed()),
)
const int32 = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2_147_483_647))

/** What the parts of keys are. */
export const keyParts = { text: storable, int32 }

/** @throws {ApiError} 400 where it is none of this list */
export function decodeKey<const Parts extends v.TupleItems>(
  text: string,
  binding: string,
  parts: Parts,
): v.InferOutput<v.StrictTupleSchema<Parts, undefined>> {
  const [boundTo, ...key] = parse(text)
  const parsed = v.safeParse(v.strictTuple(parts), key)
  if (!parsed.success) throw invalidField('cursor', 'invalid cursor')
  if (boundTo !== binding) throw invalidField('cursor', 'it belongs to a list with another filter or sort')
  return parsed.output
}

function parse(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
