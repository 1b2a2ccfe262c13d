// JSON Patch (RFC 6902) over JSON text. Libraries work on what JSON.parse returns, and that rounds
// 12345678901234567890.12. Here everything that a patch does not name stays as it was.

import * as v from 'valibot'
import { digitsOf, parseExact } from './exact-json.ts'
import { beyondJsonBounds } from './json-bounds.ts'
import { createPatchBounds, type PatchBounds } from './patch-bounds.ts'

const pointer = v.pipe(
  v.string('must be a JSON Pointer'),
  v.maxLength(1000, 'must be at most 1000 characters'),
  v.check((text) => /^(\/([^~/]|~[01])*)*$/.test(text), 'must be a JSON Pointer such as "/customer/id"'),
)
const value = { value: v.unknown() }

/** A member's name as a step of a JSON Pointer (RFC 6901). */
export function pointerStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The name that a step of a JSON Pointer stands for. */
export function nameOfStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

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

/** A patch that does not fit the document: a path does not exist, a test fails, or the document becomes too large. */
export class PatchError extends Error {}

/** Reading so many takes half a second. */
export const maxPatchedValues = 500_000

/**
 * The patched document as JSON text, and the document as it was, both without white space: reading it once more would
 * cost as much. All operations, or none. @throws {PatchError}
 */
export function patchJson(text: string, patchText: string): { before: string; after: string } {
  const beyond = beyondJsonBounds(Buffer.from(text), 'the document', maxPatchedValues)
  if (beyond !== null) throw new PatchError(beyond)
  const patch = parseExact(patchText) as Operation[]
  // Wrapped in an object, so that the whole document is a member like any other.
  const holder: Record<string, unknown> = { document: parseExact(text) }
  const bounds = createPatchBounds(holder.document, (reason) => {
    throw new PatchError(reason)
  })
  const before = JSON.stringify(holder.document)
  for (const operation of patch) apply(holder, operation, bounds)
  if (holder.document === undefined) throw new PatchError('the whole document was removed')
  return { before, after: JSON.stringify(holder.document) }
}

/** What an operation adds is measured before it is added: 26 copies of 1 KB would otherwise become 64 GB. */
function apply(holder: object, operation: Operation, bounds: PatchBounds): void {
  const { op, path } = operation
  switch (op) {
    case 'add':
      bounds.add(operation.value, path)
      add(holder, path, operation.value)
      break
    case 'remove':
      bounds.remove(remove(holder, path))
      break
    case 'replace':
      bounds.remove(find(holder, path))
      bounds.add(operation.value, path)
      replace(holder, path, operation.value)
      break
    case 'move': {
      if (`${path}/`.startsWith(`${operation.from}/`) && path !== operation.from)
        throw new PatchError(`${operation.from} cannot be moved into itself`)
      const moved = remove(holder, operation.from)
      bounds.remove(moved)
      bounds.add(moved, path)
      add(holder, path, moved)
      break
    }
    case 'copy': {
      const copied = find(holder, operation.from)
      bounds.add(copied, path)
      add(holder, path, clone(copied))
      break
    }
    case 'test':
      bounds.look(find(holder, path))
      if (!isSame(find(holder, path), operation.value)) throw new PatchError(`${path} is another value`)
  }
}

/** The object or list that holds the last part of the path, and that part. */
function locate(holder: object, path: string): { parent: object; key: string } {
  const keys = ['document', ...path.split('/').slice(1).map(nameOfStep)]
  const key = keys.pop()!
  let parent: unknown = holder
  for (const step of keys) parent = isContainer(parent) ? memberOf(parent, step, path) : missing(path)
  return isContainer(parent) ? { parent, key } : missing(path)
}

function isContainer(value: unknown): value is object {
  // A number is an object too (exact-json.ts).
  return typeof value === 'object' && value !== null && digitsOf(value) === null
}

function missing(path: string): never {
  throw new PatchError(`there is no ${path}`)
}

function memberOf(parent: object, key: string, path: string): unknown {
  if (Array.isArray(parent) && !/^(0|[1-9]\d*)$/.test(key)) return missing(path)
  // Own members only: "constructor" is not one.
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
    // Not by assignment: that would set the prototype for "__proto__".
    Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })
    return
  }
  const at = key === '-' ? parent.length : /^(0|[1-9]\d*)$/.test(key) ? Number(key) : Number.NaN
  if (!(at <= parent.length)) missing(path)
  parent.splice(at, 0, value)
}

/** In its place: some readers want a member such as "$type" before all others. */
function replace(holder: object, path: string, value: unknown): void {
  const { parent, key } = locate(holder, path)
  Object.defineProperty(parent, key, { value })
}

function clone(value: unknown): unknown {
  return parseExact(JSON.stringify(value))
}

/** Members in any order, and numbers by their value. Text of each would take ten times as long. */
function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => isSame(item, b[at]))
  const [x, y] = [digitsOf(a), digitsOf(b)]
  if (x !== null || y !== null) return x !== null && y !== null && isSameNumber(x, y)
  if (!isContainer(a) || !isContainer(b)) return a === b
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) =>
        Object.hasOwn(b, key) && isSame((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  )
}

function isSameNumber(x: string, y: string): boolean {
  return x === y || (Number(x) === Number(y) && decimalOf(x) === decimalOf(y))
}

/** The same text for the same value: its digits without the zeros around them, and the exponent of the last one. */
function decimalOf(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = whole + fraction
  let [from, to] = [0, digits.length]
  while (digits[from] === '0') from++
  while (to > from && digits[to - 1] === '0') to--
  if (from === to) return '0'
  const sign = mantissa.startsWith('-') ? '-' : ''
  return `${sign}${digits.slice(from, to)}e${Number(exponent) - fraction.length + digits.length - to}`
}
