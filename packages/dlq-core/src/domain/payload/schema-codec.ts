// What a schema's definition is good for: reading bytes as JSON text, and writing them back.

import { projectPayload } from '../record/payload-projection.ts'
import { parseAvroSchema } from './avro/avro-schema.ts'
import { compileAvroReader } from './avro/read-avro.ts'
import { compileAvroWriter } from './avro/write-avro.ts'
import { PayloadFault } from './payload-fault.ts'

export const schemaTypes = ['avro', 'json', 'protobuf'] as const
export type SchemaType = (typeof schemaTypes)[number]

export type SchemaDefinition = {
  readonly type: SchemaType
  readonly definition: string
  /** The definitions that it refers to, each after those that it uses itself. */
  readonly references: readonly string[]
  /** It says that values are encrypted as a whole. */
  readonly encrypted: boolean
}

export type SchemaCodec = {
  /** @throws {PayloadFault} unless the bytes from `at` to the end are one value */
  read(bytes: Buffer, at: number): string
  /** @throws {PayloadFault} where the JSON text does not fit the schema */
  write(json: string): Buffer
}

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

/** Compiled when first used, and kept: most schemas that are stored are never needed again. */
export function createCodec(schema: SchemaDefinition): SchemaCodec {
  if (schema.type === 'json') return jsonCodec
  if (schema.type === 'protobuf') return refusing('Protobuf is not read yet')
  let compiled: SchemaCodec | null = null
  const codec = () => {
    compiled ??= compileAvro(schema)
    return compiled
  }
  return { read: (bytes, at) => codec().read(bytes, at), write: (json) => codec().write(json) }
}

function compileAvro({ definition, references }: SchemaDefinition): SchemaCodec {
  try {
    const type = parseAvroSchema(definition, references)
    return { read: compileAvroReader(type), write: compileAvroWriter(type) }
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

const jsonCodec: SchemaCodec = {
  read(bytes, at) {
    const text = projectPayload(bytes.subarray(at))
    if (text === null) throw new PayloadFault('it is no JSON')
    return text
  },
  write: (json) => Buffer.from(json),
}
