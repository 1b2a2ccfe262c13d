// Which of a schema's messages a value is: each registry's serializers say it in their own way, behind the id of the schema.

import type { DescMessage, FileRegistry } from '@bufbuild/protobuf'
import type { DescriptorProto, FileDescriptorProto } from '@bufbuild/protobuf/wkt'
import { PayloadFault } from '../payload-fault.ts'
import type { MessageMark } from '../schema-codec.ts'

/** The message's type, and where it begins. @throws {PayloadFault} */
export type FindMessage = (bytes: Buffer, at: number, mark?: MessageMark) => { desc: DescMessage; at: number }

/** For the schema `file`; `registry` has its types. */
export function createMessageFinder(registry: FileRegistry, file: FileDescriptorProto): FindMessage {
  const names = namesOf(file.package, file.messageType).toSorted((a, b) => (a < b ? -1 : 1))
  const within = (name: string) => (file.package === '' ? name : `${file.package}.${name}`)
  const messageOf = (name: string) => registry.getMessage(name) ?? refuseType(name)
  return (bytes, at, mark = { kind: 'indexes' }) => {
    switch (mark.kind) {
      case 'indexes': {
        const { indexes, end } = mark.header ? readIndexes(mark.header, 0) : readIndexes(bytes, at)
        if (mark.header && end < mark.header.length) throw new PayloadFault('its header has more than indexes')
        return { desc: messageOf(messageAt(file, indexes)), at: mark.header ? at : end }
      }
      case 'number': {
        const { value, end } = readVarint(bytes, at)
        const name = names[value] ?? refuseIndex()
        return { desc: messageOf(name), at: end }
      }
      case 'name': {
        const before = readName(bytes, at)
        const inFront = before === null ? undefined : registry.getMessage(within(before.name))
        // Version 2 writes the name into a header or in front, version 3 may do both.
        if (before !== null && inFront !== undefined && (mark.named === null || mark.named === before.name))
          return { desc: inFront, at: before.end }
        if (mark.named !== null) return { desc: messageOf(within(mark.named)), at }
        throw new PayloadFault('its frame names no message of the schema')
      }
    }
  }
}

function refuseType(name: string): never {
  throw new PayloadFault(`${name.slice(0, 200)} is no message of the schema`)
}

function refuseIndex(): never {
  throw new PayloadFault('its frame names a message that the schema does not have')
}

/** By the descriptor and not by the library's lists, which leave out the messages of maps. */
function messageAt(file: FileDescriptorProto, indexes: readonly number[]): string {
  let name = file.package
  let types: readonly DescriptorProto[] = file.messageType
  for (const index of indexes) {
    const type = types[index] ?? refuseIndex()
    name = name === '' ? type.name : `${name}.${type.name}`
    types = type.nestedType
  }
  return name
}

/** All messages, also nested ones and those of maps: AWS Glue counts them by their names. */
function namesOf(scope: string, types: readonly DescriptorProto[]): string[] {
  return types.flatMap((type) => {
    const name = scope === '' ? type.name : `${scope}.${type.name}`
    return [name, ...namesOf(name, type.nestedType)]
  })
}

const maxIndexes = 64

function readVarint(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0
  for (let at = start, shift = 0; shift < 28; at += 1, shift += 7) {
    const byte = bytes[at]
    if (byte === undefined) throw new PayloadFault('it ends within its frame')
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return { value, end: at + 1 }
  }
  throw new PayloadFault('its frame has an index that is too large')
}

/** The way to a message in its file: a count and indexes, as zigzag varints. A single zero stands for the first message. */
export function readIndexes(bytes: Buffer, start: number): { indexes: number[]; end: number } {
  let at = start
  const next = () => {
    const { value, end } = readVarint(bytes, at)
    at = end
    return (value >>> 1) ^ -(value & 1)
  }
  const count = next()
  if (count < 0 || count > maxIndexes) throw new PayloadFault('its frame has too many indexes')
  const indexes = Array.from({ length: count }, next)
  return { indexes: count === 0 ? [0] : indexes, end: at }
}

const maxName = 200

/** Apicurio's message Ref, with its length before it: its only field is the name of a message of the file. Null where it is none. */
function readName(bytes: Buffer, at: number): { name: string; end: number } | null {
  const length = bytes[at] ?? 0
  const lengthEnd = length < 0x80 ? at + 1 : at + 2
  const size = length < 0x80 ? length : (length & 0x7f) | ((bytes[at + 1] ?? 0) << 7)
  if (size < 3 || size > maxName || bytes[lengthEnd] !== 0x0a) return null
  const ref = bytes.subarray(lengthEnd, lengthEnd + size)
  const nameAt = size - 2 < 0x80 ? 2 : 3
  const nameSize = nameAt === 2 ? ref[1] : (ref[1]! & 0x7f) | ((ref[2] ?? 0) << 7)
  if (ref.length < size || nameSize !== size - nameAt) return null
  const name = ref.toString('latin1', nameAt)
  return /^[A-Za-z_][\w.]*$/.test(name) ? { name, end: lengthEnd + size } : null
}
