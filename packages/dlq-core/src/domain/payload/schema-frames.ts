// Where a record says which schema its bytes have: in its headers, or in a frame before them. The table of formats, with
// their sources, is in infra/docs/payloads.md.

import type { Header } from '../record/record.ts'
import { fingerprintOf, singleObjectBytes } from './avro/avro-fingerprint.ts'
import type { PartRule, RegistryKind } from './payload-settings.ts'
import type { MessageMark } from './schema-codec.ts'

export type Part = 'key' | 'value'

/**
 * A schema as its registry knows it. `id`: Confluent's ids. `guid`: the same registry's, for headers; Azure's ids, and
 * the versions of AWS Glue. `content`, `global`:
 * Apicurio's two kinds of id. `file`: a schema in the configuration's own files.
 */
export type SchemaRef = {
  readonly registry: string
  readonly kind: 'id' | 'guid' | 'content' | 'global' | 'file'
  readonly id: string
}

/** The ids of Avro's schemas in the configuration's own files: by a type's name, which messages of Protobuf may have too. */
export function avroFileId(name: string): string {
  return `avro:${name}`
}
export function fingerprintId(fingerprint: string): string {
  return `crc64:${fingerprint}`
}

/** The schema that a rule names for values without a frame; null where it names none. */
export function refOfRule({ format, type, schema_id }: PartRule, registry: RegistryKind | null): SchemaRef | null {
  if (format === 'protobuf') return { registry: 'files', kind: 'file', id: type ?? '' }
  if (format !== 'avro') return null
  if (type !== undefined) return { registry: 'files', kind: 'file', id: avroFileId(type) }
  if (registry === null || schema_id === undefined) return null
  return { registry: registry.name, kind: 'id', id: String(schema_id) }
}

/** Avro's single object, whose schema is known by its fingerprint. */
export function singleObjectFrame(bytes: Buffer): SchemaFrame | null {
  const fingerprint = fingerprintOf(bytes)
  if (fingerprint === null) return null
  return { ref: { registry: 'files', kind: 'file', id: fingerprintId(fingerprint) }, at: singleObjectBytes }
}

/** A schema's id, and where the encoded value begins. */
export type SchemaFrame = {
  readonly ref: SchemaRef
  readonly at: number
  /** What stands behind the frame is compressed by zlib. */
  readonly isDeflated?: boolean
  /** Where a value of Protobuf says which message it is; Confluent's way if absent. */
  readonly mark?: MessageMark
}

const headerNames = {
  key: { guid: '__key_schema_id', global: 'apicurio.key.globalId', content: 'apicurio.key.contentId' },
  value: { guid: '__value_schema_id', global: 'apicurio.value.globalId', content: 'apicurio.value.contentId' },
}
/** Of a message of Protobuf, within its file. */
const messageNames = { key: 'apicurio.protobuf.type.key', value: 'apicurio.protobuf.type' }
const encodingNames = { key: 'apicurio.key.encoding', value: 'apicurio.value.encoding' }

/** The headers that decide how a record is read: ids of schemas, compression, and CloudEvents' names. */
export const payloadHeaders: ReadonlySet<string> = new Set([
  ...Object.values(headerNames).flatMap((names) => Object.values(names)),
  ...Object.values(encodingNames),
  ...Object.values(messageNames),
  ...['content-encoding', 'content-type', 'ce_id', 'ce_type', 'ce_source', 'ce_specversion'],
])

/** Whether a header names the schema of the part. */
export function hasSchemaHeader(headers: readonly Header[], part: Part): boolean {
  const { guid, global, content } = headerNames[part]
  for (const [name, value] of headers) {
    if (name === guid || name === global || name === content) return true
    if (part === 'value' && name === 'content-type' && value !== null && azureId(value) !== null) return true
  }
  return false
}

/** The last header of the name counts, as Kafka's own serializers have it. */
export function headerValue(headers: readonly Header[], wanted: string): Buffer | null {
  return headers.findLast(([name]) => name === wanted)?.[1] ?? null
}

/** The schema that the headers name; null where they name none that the registry could know. */
export function frameOfHeaders(
  headers: readonly Header[],
  part: Part,
  { name: registry, type }: RegistryKind,
): SchemaFrame | null {
  const names = headerNames[part]
  if (type === 'glue') return null
  if (type === 'azure') {
    const id = part === 'value' ? azureId(headerValue(headers, 'content-type')) : null
    return id === null ? null : { ref: { registry, kind: 'guid', id }, at: 0 }
  }
  if (type === 'confluent') {
    const guid = headerValue(headers, names.guid)
    if (guid === null || guid.length < guidEnd || guid[0] !== 1) return null
    const id = guid.toString('hex', 1, guidEnd).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
    // Only Protobuf has something behind the GUID.
    return { ref: { registry, kind: 'guid', id }, at: 0, mark: { kind: 'indexes', header: guid.subarray(guidEnd) } }
  }
  // Apicurio's own JSON form of Avro: the bytes are JSON text.
  if (headerValue(headers, encodingNames[part])?.toString('latin1') === 'JSON') return null
  for (const kind of ['global', 'content'] as const) {
    const bytes = headerValue(headers, names[kind])
    if (bytes?.length !== 8) continue
    const named = headerValue(headers, messageNames[part])?.toString('latin1') ?? null
    return { ref: { registry, kind, id: bytes.readBigInt64BE().toString() }, at: 0, mark: { kind: 'name', named } }
  }
  return null
}

const guidEnd = 17
const apicurioMark: MessageMark = { kind: 'name', named: null }

/** The id behind Azure's content type. */
function azureId(contentType: Buffer | null): string | null {
  return contentType && (/^avro\/binary\+([0-9a-f]{32})$/i.exec(contentType.toString('latin1'))?.[1] ?? null)
}

/** The frame that the bytes begin with, for the registry that the topic has; null where they begin with none. */
export function frameOfBytes(bytes: Buffer, { name: registry, type }: RegistryKind): SchemaFrame | null {
  if (type === 'glue') {
    const id = glueVersion(bytes)
    if (id === null) return null
    const isDeflated = bytes[1] === 5
    return { ref: { registry, kind: 'guid', id }, at: glueBytes, isDeflated, mark: { kind: 'number' } }
  }
  if (type === 'azure' || bytes[0] !== 0 || bytes.length < 5) return null
  const id = bytes.readInt32BE(1)
  if (type === 'confluent') return id > 0 ? { ref: { registry, kind: 'id', id: String(id) }, at: 5 } : null
  const mark = apicurioMark
  if (id > 0) return { ref: { registry, kind: 'content', id: String(id) }, at: 5, mark }
  // Version 2 writes eight bytes, of which the first four are zero for every id in practice.
  if (id !== 0 || bytes.length < 9) return null
  const globalId = bytes.readBigInt64BE(1)
  return globalId > 0n ? { ref: { registry, kind: 'global', id: globalId.toString() }, at: 9, mark } : null
}

const glueBytes = 18

/** AWS Glue's frame: 03, the compression, and the UUID of a schema's version. Null where it is none. */
export function glueVersion(bytes: Buffer): string | null {
  if (bytes.length < glueBytes || bytes[0] !== 3 || (bytes[1] !== 0 && bytes[1] !== 5)) return null
  return bytes.toString('hex', 2, 18).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
}
