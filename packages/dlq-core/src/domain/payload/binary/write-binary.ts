// JSON as binary-node.ts shows it, back as bytes. What stays as it was keeps its bytes, whatever form its writer chose: the
// old value is read beside the new one, and a part with the same text is copied.

import { digitsOf, parseExact } from '../../record/exact-json.ts'
import { pointerStep } from '../../record/json-patch.ts'
import { maxDepth } from '../payload-bounds.ts'
import { refuse } from '../payload-fault.ts'
import { type BinaryNode, isObject, type ListNode, type MapNode, specialNames, textOf } from './binary-node.ts'
import { doubleText, floatText, notFinite } from './float-text.ts'

/** How a format writes what both have. */
export type BinaryEncoder = {
  constant(value: null | boolean): Buffer
  /** Null where the format has none so large. */
  integer(value: bigint): Buffer | null
  float(value: number, is: 'single' | 'double'): Buffer
  text(utf8: Buffer): Buffer
  bytes(bytes: Buffer): Buffer
  listHead(length: number): Buffer
  mapHead(length: number): Buffer
  /** Ends a list or a map that does not say how many items it has. */
  readonly breakByte: Buffer
  /** The bytes before a tag's value; null where the format has no such tag. */
  tagHead(tag: bigint): Buffer | null
  /** An object with a special name that only this format has. Null where it is none. */
  special(value: Readonly<Record<string, unknown>>): Buffer | null
}

/** A new value, and the old one at its place. */
type Part = { value: unknown; old: BinaryNode | null; path: string; depth: number }

/** The bytes of the JSON text, in place of `old`, a node of `bytes`. @throws {PayloadFault} with the path of what cannot be written */
export function writeBinary(json: string, { old, bytes }: { old: BinaryNode; bytes: Buffer }, encoder: BinaryEncoder) {
  const chunks: Buffer[] = []
  const copy = (start: number, end: number) => void chunks.push(bytes.subarray(start, end))

  function write(part: Part): void {
    const { value, old, path, depth } = part
    if (depth > maxDepth) refuse(path, `within ${maxDepth} levels`)
    if (old?.kind === 'scalar' && JSON.stringify(value) === old.text) copy(old.start, old.end)
    else if (value === null || typeof value === 'boolean') chunks.push(encoder.constant(value))
    else if (typeof value === 'string') writeText(value, part)
    else if (Array.isArray(value)) writeList(value, part)
    else if (digitsOf(value) !== null) chunks.push(numberBytes(digitsOf(value)!, part, encoder))
    else writeObject(value as Record<string, unknown>, part)
  }

  function writeText(value: string, { old, path }: Part): void {
    const float = notFinite.get(value)
    if (!value.isWellFormed()) refuse(path, 'text')
    const isNotFinite = float !== undefined && isFloat(old)
    chunks.push(isNotFinite ? encoder.float(float, old.is) : encoder.text(Buffer.from(value)))
  }

  function writeList(items: readonly unknown[], { old, path, depth }: Part): void {
    const list = old?.kind === 'list' ? old : null
    writeHead(list, list?.items.length, items.length, encoder.listHead)
    const olds = aligned(list?.items ?? [], items)
    for (const [at, value] of items.entries()) write({ value, old: olds[at]!, path: `${path}/${at}`, depth: depth + 1 })
    if (list?.isOpen) chunks.push(encoder.breakByte)
  }

  function writeHead(
    old: ListNode | MapNode | null,
    before: number | undefined,
    after: number,
    head: (length: number) => Buffer,
  ): void {
    if (old !== null && (old.isOpen || before === after)) copy(old.start, old.head)
    else chunks.push(head(after))
  }

  function writeObject(value: Record<string, unknown>, part: Part): void {
    const names = Object.keys(value)
    if (!names.some((name) => specialNames.has(name))) writeEntries(value, part)
    else if (names.length === 1 && Array.isArray(value.$map)) writePairs(value.$map, part)
    else if (names.length === 1 && typeof value.$bytes === 'string') writeBytes(value.$bytes, part)
    else if (!(names.length === 2 && '$tag' in value && 'value' in value && writeTag(value, part)))
      chunks.push(encoder.special(value) ?? refuse(part.path, `one of the forms of ${[...specialNames].join(', ')}`))
  }

  function writeBytes(base64: string, { path }: Part): void {
    chunks.push(encoder.bytes(base64Bytes(base64) ?? refuse(`${path}/$bytes`, 'base64')))
  }

  function writeTag({ $tag, value }: Record<string, unknown>, { old, path, depth }: Part): boolean {
    const digits = digitsOf($tag)
    if (digits === null || !/^\d{1,20}$/.test(digits)) return false
    const isSame = old?.kind === 'tag' && old.tag === digits
    const head = encoder.tagHead(BigInt(digits))
    if (head === null) return false
    if (isSame) copy(old.start, old.head)
    else chunks.push(head)
    write({ value, old: isSame ? old.value : null, path: `${path}/value`, depth: depth + 1 })
    return true
  }

  /** In the order of the old map, which is not JavaScript's where names are numbers; new names follow. */
  function writeEntries(value: Record<string, unknown>, { old, path, depth }: Part): void {
    const map = old?.kind === 'map' && isObject(old) ? old : null
    const names = Object.keys(value)
    writeHead(map, map?.entries.length, names.length, encoder.mapHead)
    const writeValue = (name: string, old: BinaryNode | null) =>
      write({ value: value[name], old, path: `${path}/${pointerStep(name)}`, depth: depth + 1 })
    const known = new Set<string>()
    for (const [key, oldValue] of map?.entries ?? []) {
      const name = JSON.parse(textOf(key)) as string
      if (!Object.hasOwn(value, name)) continue
      known.add(name)
      copy(key.start, key.end)
      writeValue(name, oldValue)
    }
    for (const name of names) {
      if (known.has(name)) continue
      if (!name.isWellFormed()) refuse(path, 'an object whose names are text')
      chunks.push(encoder.text(Buffer.from(name)))
      writeValue(name, null)
    }
    if (map?.isOpen) chunks.push(encoder.breakByte)
  }

  function writePairs(pairs: readonly unknown[], { old, path, depth }: Part): void {
    const map = old?.kind === 'map' ? old : null
    const entries = map?.entries ?? []
    writeHead(map, map?.entries.length, pairs.length, encoder.mapHead)
    const isAligned = entries.length === pairs.length
    const byKey = new Map(isAligned ? [] : entries.map((entry) => [textOf(entry[0]), entry]))
    for (const [at, pair] of pairs.entries()) {
      const place = `${path}/$map/${at}`
      if (!Array.isArray(pair) || pair.length !== 2) refuse(place, 'a pair [key, value]')
      // A key is found by its text, so that a pair that is taken away does not change the others.
      const entry = isAligned ? entries[at] : byKey.get(JSON.stringify(pair[0]))
      for (const side of [0, 1] as const)
        write({ value: pair[side], old: entry?.[side] ?? null, path: `${place}/${side}`, depth: depth + 1 })
    }
    if (map?.isOpen) chunks.push(encoder.breakByte)
  }

  write({ value: parseExact(json), old, path: '', depth: 0 })
  return Buffer.concat(chunks)
}

export function base64Bytes(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}

type FloatNode = BinaryNode & { kind: 'scalar'; is: 'single' | 'double' }

function isFloat(node: BinaryNode | null): node is FloatNode {
  return node?.kind === 'scalar' && (node.is === 'single' || node.is === 'double')
}

/** JSON has one kind of number: where a float was, one stays, of the same size if it can hold the digits. */
function numberBytes(digits: string, { old, path }: Part, encoder: BinaryEncoder): Buffer {
  if (/^-?\d+$/.test(digits) && !isFloat(old)) {
    const bytes = digits.length > maxDigits ? null : encoder.integer(BigInt(digits))
    return bytes ?? refuse(path, 'an integer that the format can hold')
  }
  const number = Number(digits)
  const isWhole = (text: string) => decimalOf(text) === decimalOf(digits)
  if (isFloat(old) && old.is === 'single' && isWhole(floatText(Math.fround(number))))
    return encoder.float(number, 'single')
  if (!isWhole(doubleText(number))) refuse(path, 'a number that a float of 64 bits holds with all its digits')
  return encoder.float(number, 'double')
}

/** Of 1,000 bytes. */
const maxDigits = 2400

/** The number without what JSON may write in several ways: its digits and the place of its point. */
function decimalOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const bare = digits.replace(/0+$/, '')
  // A negative zero is another float.
  return bare === '' ? `${sign}0` : `${sign}${bare}e${Number(exponent) - fraction.length + digits.length - bare.length}`
}

/** For each new item the old one of which it may keep the form: the same place, counted from whichever end is alike. */
function aligned(olds: readonly BinaryNode[], items: readonly unknown[]): (BinaryNode | null)[] {
  if (olds.length === items.length) return [...olds]
  const found: (BinaryNode | null)[] = items.map(() => null)
  const shorter = Math.min(olds.length, items.length)
  const isSame = (old: BinaryNode, item: unknown) => textOf(old) === JSON.stringify(item)
  let front = 0
  while (front < shorter && isSame(olds[front]!, items[front])) {
    found[front] = olds[front]!
    front += 1
  }
  for (let back = 1; back <= shorter - front; back += 1) {
    const old = olds.at(-back)!
    if (!isSame(old, items.at(-back))) break
    found[items.length - back] = old
  }
  return found
}
