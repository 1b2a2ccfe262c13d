// The formats that say themselves what they hold, and so need no schema. Nothing in their bytes tells them apart: a rule or
// the header "content-type" names them.

import type { Header } from '../../record/record.ts'
import type { PartRule } from '../payload-settings.ts'
import type { SchemaCodec } from '../schema-codec.ts'
import { headerValue, type Part } from '../schema-frames.ts'
import { cborCodec } from './cbor-codec.ts'
import { msgpackCodec } from './msgpack-codec.ts'

export const binaryFormats = ['msgpack', 'cbor'] as const
export type BinaryFormat = (typeof binaryFormats)[number]

export const binaryCodecs: Readonly<Record<BinaryFormat, SchemaCodec>> = { msgpack: msgpackCodec, cbor: cborCodec }

/** "application/cbor", "application/vnd.acme+cbor", and those that are in use for MessagePack, which has none of its own. */
const contentType = /^application\/(?:(?:x-|vnd\.)?(msgpack|messagepack)|(?:[\w.-]+\+)?(cbor|msgpack))\s*(?:;|$)/i

/** The format that the rule, or else the value's header, names; null where they name none of these. */
export function namedBinaryFormat(rule: PartRule, part: Part, headers: readonly Header[]): BinaryFormat | null {
  if (rule.format === 'msgpack' || rule.format === 'cbor') return rule.format
  if (rule.format !== 'auto' || part !== 'value' || headers.length === 0) return null
  const named = contentType.exec(headerValue(headers, 'content-type')?.toString('latin1').trim() ?? '')
  return named === null ? null : named[2]?.toLowerCase() === 'cbor' ? 'cbor' : 'msgpack'
}
