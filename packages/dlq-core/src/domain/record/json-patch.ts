// JSON Patch (RFC 6902) over JSON text. Not a library's, because those work on what JSON.parse returns, and that
// rounds 12345678901234567890.12: what a patch does not name must come out as it went in.

import * as v from 'valibot'
import { parseExact } from './exact-json.ts'

const pointer = v.pipe(
  v.string('must be a JSON Pointer'),
  v.maxLength(1000, 'must be at most 1000 characters'),
  v.check((text) => /^(\/([^~/]|~[01])*)*$/.test(text), 'must be a JSON Pointer such as "/customer/id"'),
)
const value = { value: v.unknown() }

export const jsonPatchSchema = v.pipe(
  v.array(
    v.variant(
      'op',
      [
        v.strictObject({ op: v.literal('add'), path: pointer, ...value }),
        v.strictObject({ op: v.literal('remove'), path: pointer }),
        v.strictObject({ op: v.literal('replace'), path: pointer, ...value }),
        v.strictObject({ op: v.literal('move'), from: pointer, path: pointer }),
        v.strictObject({ op: v.literal('copy'), from: pointer, path: pointer }),
        v.strictObject({ op: v.literal('test'), path: pointer, ...value }),
      ],
      'must be a JSON Patch operation: add, remove, replace, move, copy or test',
    ),
    'must be a list of JSON Patch operations',
  ),
  v.minLength(1, 'must not be empty'),
  v.maxLength(100, 'must be at most 100 operations'),
)

type Operation = v.InferOutput<typeof jsonPatchSchema>[number]

/** A patch that does not fit the document: a path that is not there, a test that does not hold. */
export class PatchError extends Error {}

/** The patched document as JSON text, without white space. All operations, or none. @throws {PatchError} */
export function patchJson(text: string, patchText: string): string {
  const patch = parseExact(patchText) as Operation[]
  // In an object of its own, so that the whole document is a member like any other.
  const holder: Record<string, unknown> = { document: parseExact(text) }
  for (const operation of patch) apply(holder, operation)
  if (holder.document === undefined) throw new PatchError('the whole document was removed')
  return JSON.stringify(holder.document)
}

function apply(holder: object, operation: Operation): void {
  const { op, path } = operation
  switch (op) {
    case 'add':
      add(holder, path, operation.value)
      break
    case 'remove':
      remove(holder, path)
      break
    case 'replace':
      remove(holder, path)
      add(holder, path, operation.value)
      break
    case 'move':
      if (`${path}/`.startsWith(`${operation.from}/`) && path !== operation.from)
        throw new PatchError(`${operation.from} cannot be moved into itself`)
      add(holder, path, remove(holder, operation.from))
      break
    case 'copy':
      add(holder, path, clone(find(holder, operation.from)))
      break
    case 'test':
      if (canonical(find(holder, path)) !== canonical(operation.value)) throw new PatchError(`${path} is another value`)
  }
}

/** The object or list that holds the last part of the path, and that part. */
function locate(holder: object, path: string): { parent: object; key: string } {
  const keys = ['document', ...path.split('/').slice(1)].map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const key = keys.pop()!
  let parent: unknown = holder
  for (const step of keys) parent = isContainer(parent) ? memberOf(parent, step, path) : missing(path)
  return isContainer(parent) ? { parent, key } : missing(path)
}

function isContainer(value: unknown): value is object {
  // A number is an object too (exact-json.ts).
  return typeof value === 'object' && value !== null && !isNumber(value)
}

function isNumber(value: object): boolean {
  return (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value)
}

function missing(path: string): never {
  throw new PatchError(`there is no ${path}`)
}

function memberOf(parent: object, key: string, path: string): unknown {
  if (Array.isArray(parent) && !/^(0|[1-9]\d*)$/.test(key)) return missing(path)
  // Its own only: a document has no "constructor".
  return Object.hasOwn(parent, key) ? (parent as Record<string, unknown>)[key] : missing(path)
}

function find(holder: object, path: string): unknown {
  const { parent, key } = locate(holder, path)
  return memberOf(parent, key, path)
}

function remove(holder: object, path: string): unknown {
  const { parent, key } = locate(holder, path)
  const removed = memberOf(parent, key, path)
  if (Array.isArray(parent)) parent.splice(Number(key), 1)
  else delete (parent as Record<string, unknown>)[key]
  return removed
}

function add(holder: object, path: string, value: unknown): void {
  const { parent, key } = locate(holder, path)
  if (!Array.isArray(parent)) {
    // Not by assignment, which "__proto__" would be taken for something else by.
    Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })
    return
  }
  const at = key === '-' ? parent.length : /^(0|[1-9]\d*)$/.test(key) ? Number(key) : Number.NaN
  if (!(at <= parent.length)) missing(path)
  parent.splice(at, 0, value)
}

function clone(value: unknown): unknown {
  return parseExact(JSON.stringify(value))
}

/** Text that is the same for equal values: members in one order, numbers by their value where JavaScript can hold it. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (isContainer(value)) {
    const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)
    return `{${members.toSorted().join()}}`
  }
  const text = JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return text
  const number = Number(text)
  return Number.isSafeInteger(number) ? String(number) : text
}
