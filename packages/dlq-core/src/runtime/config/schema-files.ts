// The schemas in the folder `files` of the section "schemas": message types of Protobuf that rules name, and Avro's
// schemas, which rules name too, and single objects by their fingerprint.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { avroFingerprint } from '../../domain/payload/avro/avro-fingerprint.ts'
import { parseAvroSchema } from '../../domain/payload/avro/avro-schema.ts'
import { createCodec, schemaName } from '../../domain/payload/create-codec.ts'
import { PayloadFault } from '../../domain/payload/payload-fault.ts'
import { describedFiles } from '../../domain/payload/protobuf/protobuf-codec.ts'
import type { KnownSchema } from '../../domain/payload/read-payload.ts'
import { avroFileId, fingerprintId } from '../../domain/payload/schema-frames.ts'
import type { SchemasConfig } from './schemas-schema.ts'

/** The schemas by the ids of their refs. `faults` name what is missing or cannot be read. */
export function readSchemaFiles({ files, rules }: SchemasConfig): {
  schemas: ReadonlyMap<string, KnownSchema>
  faults: string[]
} {
  const schemas = new Map<string, KnownSchema>()
  const faults: string[] = []
  const parts = rules.flatMap(({ key, value }) => [key ?? [], value ?? []].flat())
  const named = (format: string) => new Set(parts.flatMap((part) => (part.format === format ? (part.type ?? []) : [])))
  const messages = named('protobuf')
  const records = named('avro')
  if (files === undefined) {
    if (messages.size > 0) faults.push('schemas.files: missing; rules of format protobuf need it')
    if (records.size > 0) faults.push('schemas.files: missing; rules of format avro with a type need it')
    return { schemas, faults }
  }
  const contents = readAll(files, faults)
  for (const schema of readAvro(contents, faults)) schemas.set(schema.ref.id, schema)
  for (const name of records)
    if (!schemas.has(avroFileId(name))) faults.push(`schemas.rules: no file *.avsc in ${files} has the type ${name}`)
  const descriptors = readDescriptors(contents, faults)
  for (const name of messages) {
    const made = descriptors.map((bytes) => codecOf(bytes, name)).find((made) => made !== null)
    const ref = { registry: 'files', kind: 'file', id: name } as const
    if (made)
      schemas.set(name, { state: 'known', number: null, type: 'protobuf', name, encrypted: false, ref, ...made })
    else faults.push(`schemas.rules: no file *.desc or *.proto in ${files} has the message type ${name}`)
  }
  return { schemas, faults }
}

/** The files by their paths within the folder, in the order of those. */
function readAll(folder: string, faults: string[]): ReadonlyMap<string, Buffer> {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => name.replaceAll('\\', '/'))
      // Kubernetes keeps the files of a volume a second time in folders that begin with a point.
      .filter((name) => /\.(desc|proto|avsc)$/.test(name) && !/(^|\/)\./.test(name))
    return new Map(names.toSorted().map((name) => [name, readFileSync(join(folder, name))]))
  } catch (error) {
    faults.push(`schemas.files: cannot read the folder ${folder}: ${(error as Error).message}`)
    return new Map()
  }
}

function ending(contents: ReadonlyMap<string, Buffer>, end: string): [name: string, bytes: Buffer][] {
  return [...contents].filter(([name]) => name.endsWith(end))
}

/** Without a byte order mark, as protoc and Java read them. */
function textOf(bytes: Buffer): string {
  return new TextDecoder().decode(bytes)
}

function readDescriptors(contents: ReadonlyMap<string, Buffer>, faults: string[]): Uint8Array[] {
  const sets: Uint8Array[] = ending(contents, '.desc').map(([, bytes]) => bytes)
  const texts = new Map(ending(contents, '.proto').map(([name, bytes]) => [name, textOf(bytes)]))
  if (texts.size === 0) return sets
  try {
    return [...sets, describedFiles(texts)]
  } catch (error) {
    if (!(error instanceof PayloadFault)) throw error
    faults.push(`schemas.files: its files *.proto: ${error.message}`)
    return sets
  }
}

function codecOf(descriptorSet: Uint8Array, message: string): Pick<KnownSchema, 'codec' | 'source'> | null {
  const source = { descriptorSet, message }
  try {
    return { codec: createCodec(source), source }
  } catch (error) {
    if (error instanceof PayloadFault) return null
    throw error
  }
}

/** Each schema twice: by its name and by its fingerprint. A file may use types of others, in any order. */
function readAvro(contents: ReadonlyMap<string, Buffer>, faults: string[]): KnownSchema[] {
  const found: KnownSchema[] = []
  const references: string[] = []
  let waiting = ending(contents, '.avsc').map(([file, bytes]) => ({ file, definition: textOf(bytes), problem: '' }))
  for (let before = -1; waiting.length !== before; ) {
    before = waiting.length
    waiting = waiting.flatMap((item) => {
      const read = readAvroFile(item.definition, references)
      if (typeof read === 'string') return [{ ...item, problem: read }]
      found.push(...read)
      references.push(item.definition)
      return []
    })
  }
  faults.push(...waiting.map(({ file, problem }) => `schemas.files: ${file}: ${problem}`))
  return found
}

/** The reason where it cannot be used. */
function readAvroFile(definition: string, others: readonly string[]): KnownSchema[] | string {
  let problem = ''
  // Alone first: another file may have a type of the same name.
  // A copy of the others, because a codec reads them when it is first used, and they become more.
  for (const references of [[], [...others]])
    try {
      const fingerprint = avroFingerprint(parseAvroSchema(definition, references))
      const name = schemaName({ type: 'avro', definition })
      const source = { type: 'avro', definition, references, encrypted: false } as const
      const codec = createCodec(source)
      return [fingerprintId(fingerprint), ...(name === null ? [] : [avroFileId(name)])].map((id) => ({
        ...{ state: 'known', number: null, type: 'avro', name, encrypted: false, codec, source },
        ref: { registry: 'files', kind: 'file', id },
      }))
    } catch (error) {
      if (!(error instanceof PayloadFault)) throw error
      problem = error.message
    }
  return problem
}
