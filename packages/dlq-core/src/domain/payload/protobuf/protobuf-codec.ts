// Protobuf as ProtoJSON (https://protobuf.dev/programming-guides/json/) and back, by @bufbuild/protobuf, from descriptors
// or the text of .proto. Fields that have their default value are left out, as ProtoJSON does.

import {
  create,
  createFileRegistry,
  type DescFile,
  type FileRegistry,
  fromBinary,
  fromJsonString,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf'
import {
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
import { maxDecodedText, maxDepth, maxEncodedBytes } from '../payload-bounds.ts'
import { PayloadFault } from '../payload-fault.ts'
import type { SchemaCodec } from '../schema-codec.ts'
import { createMessageFinder, type FindMessage, readIndexes } from './find-message.ts'
import { importsOf, parseProto } from './parse-proto.ts'

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

/**
 * The same of texts in .proto, each after those that it imports. `name`: by which others import it; the last one's says
 * nothing. @throws {PayloadFault}
 */
export function describedProtos(files: readonly { name: string; text: string }[]): string[] {
  const described: FileDescriptorProto[] = []
  const known = [...wellKnown.values()].map(({ proto }) => proto)
  for (const [at, { name, text }] of files.entries()) {
    const isMain = at === files.length - 1
    described.push(parseProto(text, { name: isMain ? mainName : name, imports: [...known, ...described] }))
  }
  return described.map((file) => Buffer.from(toBinary(FileDescriptorProtoSchema, file)).toString('base64'))
}

/** A FileDescriptorSet of texts in .proto, as protoc would make it of files; in any order. @throws {PayloadFault} */
export function describedFiles(texts: ReadonlyMap<string, string>): Uint8Array {
  const described = new Map<string, FileDescriptorProto>()
  const open = new Set<string>()
  const describe = (name: string): void => {
    const text = texts.get(name)
    if (described.has(name) || text === undefined) return
    if (open.has(name)) throw new PayloadFault(`${name} imports itself`)
    open.add(name)
    for (const wanted of importsOf(text)) {
      if (!texts.has(wanted) && !wellKnown.has(wanted))
        throw new PayloadFault(`${name} imports ${wanted}, which is not there`)
      describe(wanted)
    }
    const known = [...wellKnown.values()].map(({ proto }) => proto)
    described.set(name, parseProto(text, { name, imports: [...known, ...described.values()] }))
  }
  for (const name of texts.keys()) describe(name)
  const file = [...[...wellKnown.values()].map(({ proto }) => proto), ...described.values()]
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }))
}

/** Values behind the id of a schema: `descriptors` are those that `namedDescriptor` or `describedProtos` gave, the main one last. @throws {PayloadFault} */
export function createFramedProtobufCodec(descriptors: readonly string[]): SchemaCodec {
  const files = descriptors.map((text) => fromBinary(FileDescriptorProtoSchema, Buffer.from(text, 'base64')))
  const byName = new Map(files.map((file) => [file.name, file]))
  const main = files.at(-1)!
  const registry = faultless(() => createFileRegistry(main, (name) => byName.get(name) ?? wellKnown.get(name)))
  return codecOf(registry, createMessageFinder(registry, main))
}

/** Values of one type of a FileDescriptorSet, as protoc writes it with --include_imports. A frame of Confluent's is passed over. */
export function createProtobufCodec(descriptorSet: Uint8Array, typeName: string): SchemaCodec {
  const registry = faultless(() => createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet)))
  const desc = registry.getMessage(typeName)
  if (desc === undefined) throw new PayloadFault(`there is no message type ${typeName}`)
  // No field has the number 0, so a value without a frame does not begin with a zero byte.
  return codecOf(registry, (bytes, at) => ({ desc, at: bytes[at] === 0 ? readIndexes(bytes, at + 5).end : at }))
}

function codecOf(registry: FileRegistry, find: FindMessage): SchemaCodec {
  return {
    bodyAt: (bytes, at, mark) => find(bytes, at, mark).at,
    read(bytes, at, mark) {
      const { desc, at: start } = find(bytes, at, mark)
      // Empty messages in a mebibyte take 90 MB and a third of a second.
      if (bytes.length - start > maxEncodedBytes) throw new PayloadFault(`it has more than ${maxEncodedBytes} bytes`)
      const message = faultless(() => fromBinary(desc, bytes.subarray(start), { recursionLimit: maxDepth }))
      const text = faultless(() => toJsonString(desc, message, { registry }))
      if (text.length > maxDecodedText) throw new PayloadFault(`its text is longer than ${maxDecodedText} characters`)
      return text
    },
    write(json, bytes, at, mark) {
      const { desc } = find(bytes, at, mark)
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
