// The message types that rules of the section "schemas" name, from the descriptors in its folder `files`.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PayloadFault } from '../../domain/payload/payload-fault.ts'
import { createProtobufCodec } from '../../domain/payload/protobuf-codec.ts'
import type { SchemaCodec } from '../../domain/payload/schema-codec.ts'
import type { SchemasConfig } from './schemas-schema.ts'

/** The codecs by their types' names. `faults` name what is missing or cannot be read. */
export function readDescriptorFiles({ files, rules }: SchemasConfig): {
  codecs: ReadonlyMap<string, SchemaCodec>
  faults: string[]
} {
  const codecs = new Map<string, SchemaCodec>()
  const faults: string[] = []
  const types = new Set(rules.flatMap(({ key, value }) => [key?.type ?? [], value?.type ?? []].flat()))
  if (types.size === 0 && files === undefined) return { codecs, faults }
  if (files === undefined) return { codecs, faults: ['schemas.files: missing; rules of format protobuf need it'] }
  const descriptors = readAll(files, faults)
  for (const type of types) {
    const found = descriptors.map((bytes) => codecOf(bytes, type)).find((codec) => codec !== null)
    if (found) codecs.set(type, found)
    else faults.push(`schemas.rules: no file *.desc in ${files} has the message type ${type}`)
  }
  return { codecs, faults }
}

function readAll(folder: string, faults: string[]): Buffer[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.desc'))
    return names.toSorted().map((name) => readFileSync(join(folder, name)))
  } catch (error) {
    faults.push(`schemas.files: cannot read the folder ${folder}: ${(error as Error).message}`)
    return []
  }
}

function codecOf(bytes: Buffer, type: string): SchemaCodec | null {
  try {
    return createProtobufCodec(bytes, type)
  } catch (error) {
    if (error instanceof PayloadFault) return null
    throw error
  }
}
