// A codec from a schema's definition: compiled when first used, and kept.

import { parseAvroSchema } from './avro/avro-schema.ts'
import { compileAvroReader } from './avro/read-avro.ts'
import { compileAvroWriter } from './avro/write-avro.ts'
import { createJsonCodec } from './json/json-codec.ts'
import { PayloadFault } from './payload-fault.ts'
import { createFramedProtobufCodec, createProtobufCodec, describedProtos } from './protobuf/protobuf-codec.ts'
import type { SchemaCodec } from './schema-codec.ts'

export const schemaTypes = ['avro', 'json', 'protobuf'] as const
export type SchemaType = (typeof schemaTypes)[number]

export type SchemaDefinition = {
  readonly type: SchemaType
  readonly definition: string
  /**
   * The definitions that it refers to, each after those that it uses itself. Of Protobuf the descriptors in base64, its
   * own last; none where the definition is text that imports nothing of the registry.
   */
  readonly references: readonly string[]
  /** It says that values are encrypted as a whole. */
  readonly encrypted: boolean
}

/** A message type of the configuration's own files, with the set of their descriptors. */
export type MessageOfFiles = { readonly descriptorSet: Uint8Array; readonly message: string }

/** From which a codec is made: plain data, which may go to another thread. */
export type CodecSource = SchemaDefinition | MessageOfFiles

/** The name of the type that the schema declares; null where it has none. */
export function schemaName({ type, definition }: Pick<SchemaDefinition, 'type' | 'definition'>): string | null {
  if (type === 'protobuf') return null
  try {
    if (type === 'json') {
      const { title } = JSON.parse(definition) as { title?: unknown }
      return typeof title === 'string' ? title : null
    }
    const { name, namespace } = JSON.parse(definition) as { name?: unknown; namespace?: unknown }
    if (typeof name !== 'string') return null
    return typeof namespace === 'string' && namespace !== '' && !name.includes('.') ? `${namespace}.${name}` : name
  } catch {
    return null
  }
}

/**
 * Compiled when first used, and kept: most schemas that are stored are never needed again. @throws {PayloadFault} where
 * files have no such message
 */
export function createCodec(schema: CodecSource): SchemaCodec {
  if ('message' in schema) return createProtobufCodec(schema.descriptorSet, schema.message)
  if (schema.type === 'json') return createJsonCodec(schema.definition, schema.references)
  const compile = schema.type === 'avro' ? compileAvro : compileProtobuf
  let compiled: SchemaCodec | null = null
  const codec = () => {
    compiled ??= refusingFaults(() => compile(schema))
    return compiled
  }
  return {
    read: (bytes, at, mark) => codec().read(bytes, at, mark),
    write: (json, bytes, at, mark) => codec().write(json, bytes, at, mark),
    bodyAt: (bytes, at, mark) => codec().bodyAt?.(bytes, at, mark) ?? at,
  }
}

function compileAvro({ definition, references }: SchemaDefinition): SchemaCodec {
  const type = parseAvroSchema(definition, references)
  return { read: compileAvroReader(type), write: compileAvroWriter(type) }
}

/** Without descriptors, as they are stored where the registry gave none, from the text. */
function compileProtobuf({ definition, references }: SchemaDefinition): SchemaCodec {
  return createFramedProtobufCodec(
    references.length > 0 ? references : describedProtos([{ name: '', text: definition }]),
  )
}

function refusingFaults(compile: () => SchemaCodec): SchemaCodec {
  try {
    return compile()
  } catch (error) {
    if (error instanceof PayloadFault) return refusing(error.message)
    throw error
  }
}

function refusing(problem: string): SchemaCodec {
  const refuse = () => {
    throw new PayloadFault(problem)
  }
  return { read: refuse, write: refuse }
}
