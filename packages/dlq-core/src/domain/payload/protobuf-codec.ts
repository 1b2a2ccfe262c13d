// Protobuf as ProtoJSON (https://protobuf.dev/programming-guides/json/) and back, by @bufbuild/protobuf, from descriptors:
// text in .proto is not parsed here. Fields that have their default value are left out, as ProtoJSON does.

import {
  createFileRegistry,
  type DescFile,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  fromJsonString,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf'
import {
  type DescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
} from '@bufbuild/protobuf/wkt'
import { maxDecodedText, maxDepth, maxEncodedBytes } from './payload-bounds.ts'
import { PayloadFault } from './payload-fault.ts'
import type { SchemaCodec } from './schema-codec.ts'

const wellKnown = new Map<string, DescFile>(
  [
    file_google_protobuf_any,
    file_google_protobuf_descriptor,
    file_google_protobuf_duration,
    file_google_protobuf_empty,
    file_google_protobuf_field_mask,
    file_google_protobuf_struct,
    file_google_protobuf_timestamp,
    file_google_protobuf_wrappers,
  ].map((file) => [`${file.name}.proto`, file]),
)

const mainName = 'main.proto'

/** A FileDescriptorProto in base64, under the name by which others import it. Null where it is none. */
export function namedDescriptor(base64: string, name: string = mainName): string | null {
  try {
    const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(base64, 'base64'))
    // Any text is base64 to Node, and any bytes may be a message without known fields.
    if (file.messageType.length + file.enumType.length === 0 && file.dependency.length === 0) return null
    return Buffer.from(toBinary(FileDescriptorProtoSchema, { ...file, name })).toString('base64')
  } catch {
    return null
  }
}

/** Values in Confluent's frame: `descriptors` are those that `namedDescriptor` gave, the main one last. @throws {PayloadFault} */
export function createFramedProtobufCodec(descriptors: readonly string[]): SchemaCodec {
  const files = descriptors.map((text) => fromBinary(FileDescriptorProtoSchema, Buffer.from(text, 'base64')))
  const byName = new Map(files.map((file) => [file.name, file]))
  const main = files.at(-1)!
  const registry = faultless(() => createFileRegistry(main, (name) => byName.get(name) ?? wellKnown.get(name)))
  return codecOf(registry, (bytes, at) => {
    const { indexes, end } = readIndexes(bytes, at)
    return { desc: messageAt(registry, main, indexes), at: end }
  })
}

/** Values of one type of a FileDescriptorSet, as protoc writes it with --include_imports. A frame of Confluent's is passed over. */
export function createProtobufCodec(descriptorSet: Uint8Array, typeName: string): SchemaCodec {
  const registry = faultless(() => createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet)))
  const desc = registry.getMessage(typeName)
  if (desc === undefined) throw new PayloadFault(`there is no message type ${typeName}`)
  // No field has the number 0, so a value without a frame does not begin with a zero byte.
  return codecOf(registry, (bytes, at) => ({ desc, at: bytes[at] === 0 ? readIndexes(bytes, at + 5).end : at }))
}

type FindType = (bytes: Buffer, at: number) => { desc: DescMessage; at: number }

function codecOf(registry: FileRegistry, find: FindType): SchemaCodec {
  return {
    bodyAt: (bytes, at) => find(bytes, at).at,
    read(bytes, at) {
      const { desc, at: start } = find(bytes, at)
      // Empty messages in a mebibyte take 90 MB and a third of a second.
      if (bytes.length - start > maxEncodedBytes) throw new PayloadFault(`it has more than ${maxEncodedBytes} bytes`)
      const message = faultless(() => fromBinary(desc, bytes.subarray(start), { recursionLimit: maxDepth }))
      const text = faultless(() => toJsonString(desc, message, { registry }))
      if (text.length > maxDecodedText) throw new PayloadFault(`its text is longer than ${maxDecodedText} characters`)
      return text
    },
    write(json, bytes, at) {
      const { desc } = find(bytes, at)
      return Buffer.from(
        toBinary(
          desc,
          faultless(() => fromJsonString(desc, json, { registry })),
        ),
      )
    },
  }
}

/** The library's faults are about the bytes or the JSON that it was given. */
function faultless<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new PayloadFault((error as Error).message)
  }
}

const maxIndexes = 64

/** The way to a message in its file: a count and indexes, as zigzag varints. A single zero stands for the first message. */
function readIndexes(bytes: Buffer, start: number): { indexes: number[]; end: number } {
  let at = start
  const next = () => {
    let value = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[at]
      if (byte === undefined) throw new PayloadFault('it ends within its frame')
      at += 1
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1)
    }
    throw new PayloadFault('its frame has an index that is too large')
  }
  const count = next()
  if (count < 0 || count > maxIndexes) throw new PayloadFault('its frame has too many indexes')
  const indexes = Array.from({ length: count }, next)
  return { indexes: count === 0 ? [0] : indexes, end: at }
}

/** By the descriptor and not by the library's lists, which leave out the messages of maps. */
function messageAt(registry: FileRegistry, file: FileDescriptorProto, indexes: readonly number[]): DescMessage {
  let name = file.package
  let types: readonly DescriptorProto[] = file.messageType
  for (const index of indexes) {
    const type = types[index]
    if (type === undefined) throw new PayloadFault('its frame names a message that the schema does not have')
    name = name === '' ? type.name : `${name}.${type.name}`
    types = type.nestedType
  }
  return registry.getMessage(name) ?? refuseType(name)
}

function refuseType(name: string): never {
  throw new PayloadFault(`${name} is no message`)
}
