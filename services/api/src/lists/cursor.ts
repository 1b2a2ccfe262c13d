// Cursors of all lists. A cursor is opaque text that holds the key of a row, so that a list continues after that
// row. It is bound to what the list was asked for: with another filter or sort, the same row has another place.

import { hash } from 'node:crypto'
import * as v from 'valibot'
import { invalidField } from '../http/api-error.ts'
import type { CursorSeal } from './cursor-seal.ts'

const maxCursorChars = 4000

/** A short hash of everything that decides which rows a list holds, and in which order. */
export function bindingOf(...asked: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(asked), 'base64url').slice(0, 8)
}

/**
 * Text for URLs. `key`: the values by which the list is sorted, of the last row that was looked at. `seal`: for the key of
 * a row that the caller may not see.
 */
export function encodeCursor(
  key: readonly (string | number)[],
  binding: string,
  seal: CursorSeal | null = null,
): string {
  const json = JSON.stringify([binding, ...key])
  return seal === null ? Buffer.from(json).toString('base64url') : `${sealedPrefix}${seal.close(json)}`
}

/** No other cursor begins so: it is a list's JSON in base64. */
const sealedPrefix = '_'

export function isSealedCursor(text: string | undefined): boolean {
  return text?.startsWith(sealedPrefix) ?? false
}

/**
 * The key that `encodeCursor` was given, as `schema` reads it.
 * @throws {ApiError} 400 where it is of another list
 */
export function decodeCursor<Key>(
  text: string,
  binding: string,
  schema: v.GenericSchema<unknown, Key>,
  seal: CursorSeal | null = null,
): Key {
  const [boundTo, ...key] = parse(text, seal)
  const parsed = v.safeParse(schema, key)
  if (!parsed.success)
    throw invalidField('cursor', 'invalid cursor; send the cursor of an earlier page as it was, or none')
  if (boundTo !== binding)
    throw invalidField('cursor', 'it belongs to a list with another filter or sort; begin again without a cursor')
  return parsed.output
}

/** Schemas for the parts of keys. */
export const keyParts = {
  text: v.pipe(
    v.string(),
    v.maxLength(1000),
    v.check((text) => !text.includes('\0') && text.isWellFormed()),
  ),
  int32: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2_147_483_647)),
  /** A bigint's decimal text. */
  bigint: v.pipe(
    v.string(),
    v.regex(/^\d{1,18}$/),
    v.transform((text) => BigInt(text)),
  ),
  uuid: v.pipe(v.string(), v.regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)),
  time: v.pipe(v.string(), v.check(isTime)),
}

/** A time as PostgreSQL writes it in UTC, to the microsecond. The date must exist; PostgreSQL has no year 0. */
function isTime(text: string): boolean {
  if (/^-?infinity$/.test(text)) return true
  const [, toTheSecond] = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d{1,6})?\+00$/.exec(text) ?? []
  const moment = new Date(`${toTheSecond?.replace(' ', 'T')}Z`)
  return moment.getUTCFullYear() > 0 && moment.toISOString().startsWith(toTheSecond!.replace(' ', 'T'))
}

function parse(text: string, seal: CursorSeal | null): unknown[] {
  if (text.length > maxCursorChars || !/^[\w-]+$/.test(text)) return []
  try {
    const json = isSealedCursor(text) ? seal?.open(text.slice(sealedPrefix.length)) : Buffer.from(text, 'base64url')
    const value: unknown = JSON.parse(String(json))
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
