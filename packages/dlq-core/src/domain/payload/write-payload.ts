// A changed value, written with the schema, frame and compression that it had.

import { digitsOf, parseExact } from '../record/exact-json.ts'
import { compress } from './decompress.ts'
import { PayloadFault } from './payload-fault.ts'
import type { Reading } from './read-payload.ts'

export type Rewritten =
  | { kind: 'unchanged' }
  /** Writing the old value anew would change more than was asked for: why. */
  | { kind: 'not_exact'; reasons: readonly string[] }
  /** It can be written, and its JSON Schema does not allow it: why, with the path. */
  | { kind: 'violates'; problem: string }
  | { kind: 'written'; bytes: Buffer }

/** `plainBefore`: what `reading` shows, without white space; `json` has none then either. */
type Rewriting = { json: string; plainBefore?: string | undefined; reencode: boolean; force?: boolean }

/**
 * The bytes for `json`, the changed form of what `reading` shows of `bytes`. Unless `reencode`, it is refused where the
 * old value, written anew, would not be the old bytes; unless `force`, where its JSON Schema does not allow it. @throws {PayloadFault} where the value does not fit the schema
 */
export function rewritePayload(
  bytes: Buffer,
  { json: before, layout, decoding }: Reading,
  { json: after, plainBefore, reencode, force = false }: Rewriting,
): Rewritten {
  if (before === null || layout === null)
    throw new PayloadFault(`the value is not decoded: ${decoding?.problem ?? 'it is no JSON'}`)
  const { prefix, body, schema, isJson, write } = layout
  // White space in JSON says nothing, so JSON is always written anew.
  // PostgreSQL sorts the keys of what it stores, and a map's entries would change their order.
  const isPlain = isJson && plainBefore !== undefined
  const json = isPlain
    ? after
    : JSON.stringify(isJson ? parseExact(after) : inOrderOf(parseExact(after), parseExact(before)))
  const old = write(plainBefore ?? JSON.stringify(parseExact(before)))
  const changed = write(json)
  if (changed.equals(old)) return { kind: 'unchanged' }
  const violation = force ? null : (schema?.codec.violationOf?.(json) ?? null)
  if (violation !== null) return { kind: 'violates', problem: violation }
  const packed = (written: Buffer) => {
    const whole = Buffer.concat([prefix, written])
    return decoding?.compression ? compress(whole, decoding.compression) : whole
  }
  if (reencode) return { kind: 'written', bytes: packed(changed) }
  const reasons: string[] = []
  if (!isJson && !old.equals(body))
    reasons.push(
      schema?.type === 'protobuf'
        ? 'it has fields that the schema does not know, which would be lost, or its writer encoded it otherwise'
        : 'its writer encoded it otherwise: lists in several blocks, keys twice, or integers in more bytes',
    )
  if (decoding?.compression && !packed(body).equals(bytes))
    reasons.push(`${decoding.compression} would pack it otherwise`)
  return reasons.length > 0 ? { kind: 'not_exact', reasons } : { kind: 'written', bytes: packed(changed) }
}

/** The value with the keys of its objects in the order that they have in `model`; new ones follow. */
function inOrderOf(value: unknown, model: unknown): unknown {
  if (Array.isArray(value)) {
    const models = Array.isArray(model) ? model : []
    return value.map((item, at) => inOrderOf(item, models[at]))
  }
  if (!isObject(value)) return value
  const order = isObject(model) ? model : {}
  const known = Object.keys(order).filter((key) => Object.hasOwn(value, key))
  const fresh = Object.keys(value).filter((key) => !Object.hasOwn(order, key))
  return Object.fromEntries([...known, ...fresh].map((key) => [key, inOrderOf(value[key], order[key])]))
}

/** Not a number: those of `parseExact` are objects too. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && digitsOf(value) === null
}
