// A value of MessagePack or CBOR as a tree that knows which bytes each part of it takes, and the JSON text of it. What JSON
// does not have is an object with one of the `specialNames`.

import type { BoundedInput } from './bounded-input.ts'
import { doubleText, floatText } from './float-text.ts'

type Place = { readonly start: number; readonly end: number }
export type ScalarNode = Place & {
  readonly kind: 'scalar'
  /** JSON text. */
  readonly text: string
  /** `single`: a float of 32 bits; `double`: any other. */
  readonly is: 'text' | 'single' | 'double' | 'other'
}
/** `head`: where its first item begins. `isOpen`: it does not say how many items it has, and ends with a break. */
export type ListNode = Place & {
  readonly kind: 'list'
  readonly head: number
  readonly isOpen: boolean
  readonly items: readonly BinaryNode[]
}
export type MapNode = Place & {
  readonly kind: 'map'
  readonly head: number
  readonly isOpen: boolean
  readonly entries: readonly (readonly [key: BinaryNode, value: BinaryNode])[]
}
export type TagNode = Place & {
  readonly kind: 'tag'
  readonly head: number
  /** Digits. */
  readonly tag: string
  readonly value: BinaryNode
}
export type BinaryNode = ScalarNode | ListNode | MapNode | TagNode

/** A list of pairs in place of an object; bytes in base64; a tag and its value; an extension in base64; a time; a simple value. */
export const specialNames: ReadonlySet<string> = new Set(['$map', '$bytes', '$tag', '$ext', '$timestamp', '$simple'])

/** The JSON text of the node. */
export function textOf(node: BinaryNode): string {
  switch (node.kind) {
    case 'scalar':
      return node.text
    case 'list':
      return `[${node.items.map(textOf).join(',')}]`
    case 'tag':
      return `{"$tag":${node.tag},"value":${textOf(node.value)}}`
    case 'map':
      return isObject(node)
        ? `{${node.entries.map(([key, value]) => `${textOf(key)}:${textOf(value)}`).join(',')}}`
        : `{"$map":[${node.entries.map(([key, value]) => `[${textOf(key)},${textOf(value)}]`).join(',')}]}`
  }
}

/** Whether JSON can say it as an object: its keys are texts, none of them twice, and none a special name. */
export function isObject({ entries }: MapNode): boolean {
  const names = new Set<string>()
  for (const [key] of entries) {
    if (key.kind !== 'scalar' || key.is !== 'text' || names.has(key.text)) return false
    if (key.text[1] === '$' && specialNames.has(key.text.slice(1, -1))) return false
    names.add(key.text)
  }
  return true
}

/** A scalar that begins at `start` and has just been read. */
export function scalar(input: BoundedInput, start: number, text: string, is: ScalarNode['is'] = 'other'): ScalarNode {
  input.spend(1, text.length + 1)
  return { kind: 'scalar', start, end: input.at, text, is }
}

export function floatNode(input: BoundedInput, start: number, value: number, is: 'single' | 'double'): ScalarNode {
  const text = is === 'single' ? floatText(value) : doubleText(value)
  // A number without a point or an exponent is an integer.
  return scalar(input, start, /^-?\d+$/.test(text) ? `${text}.0` : text, is)
}

export function bytesNode(input: BoundedInput, start: number, bytes: Buffer): ScalarNode {
  return scalar(input, start, `{"$bytes":"${bytes.toString('base64')}"}`)
}

type ReadItem = (input: BoundedInput) => BinaryNode
/** Whether the break of a list without a count comes next; it is behind then. */
export type TakeBreak = () => boolean

/** The list whose head has just been read. `size`: how many items it has, or what tells its end. */
export function listNode(
  input: BoundedInput,
  { start, size, read }: { start: number; size: number | TakeBreak; read: ReadItem },
): ListNode {
  const head = input.at
  const items: BinaryNode[] = []
  fill(input, size, () => items.push(read(input)))
  return { kind: 'list', start, end: input.at, head, isOpen: typeof size !== 'number', items }
}

/** The map whose head has just been read. `size`: how many entries it has, or what tells its end. */
export function mapNode(
  input: BoundedInput,
  { start, size, read }: { start: number; size: number | TakeBreak; read: ReadItem },
): MapNode {
  const head = input.at
  const entries: [BinaryNode, BinaryNode][] = []
  // The brackets of a list of pairs.
  fill(input, size, () => {
    input.spend(0, 3)
    entries.push([read(input), read(input)])
  })
  return { kind: 'map', start, end: input.at, head, isOpen: typeof size !== 'number', entries }
}

/** Each item takes a byte at least, so a count that is too large ends with the bytes. */
function fill(input: BoundedInput, size: number | TakeBreak, readOne: () => void): void {
  input.enter()
  input.spend(1, 12)
  if (typeof size === 'number') for (let at = 0; at < size; at += 1) readOne()
  else while (!size()) readOne()
  input.leave()
}
