// Makes a record's key or value readable. What is tried, in this order: a compression, a schema that the headers name, a
// format that they name, JSON, a frame with the id of a schema. A reading counts only if it uses every byte; else the next is tried.

import { projectPayload } from '../record/payload-projection.ts'
import type { Header } from '../record/record.ts'
import { type BinaryFormat, binaryCodecs, namedBinaryFormat } from './binary/binary-formats.ts'
import type { CodecSource, SchemaType } from './create-codec.ts'
import { type Compression, compressionOf, compressions, decompress, deflate, inflate } from './decompress.ts'
import { type Label, labelsOf } from './envelope.ts'
import { PayloadFault } from './payload-fault.ts'
import type { PartRule, PayloadPlan } from './payload-settings.ts'
import type { SchemaCodec } from './schema-codec.ts'
import {
  frameOfBytes,
  frameOfHeaders,
  glueVersion,
  hasSchemaHeader,
  headerValue,
  type Part,
  refOfRule,
  type SchemaFrame,
  type SchemaRef,
  singleObjectFrame,
} from './schema-frames.ts'

/** A schema that somebody has asked for. `number`: its row in dlq_schemas. */
export type KnownSchema = {
  readonly state: 'known'
  /** Null where it is none of a registry's. */
  readonly number: number | null
  readonly ref: SchemaRef
  readonly type: SchemaType
  /** The name of its type. */
  readonly name: string | null
  readonly encrypted: boolean
  readonly codec: SchemaCodec
  /** From which the codec is made. */
  readonly source: CodecSource
}
export type AwaitedSchema = {
  readonly state: 'wanted' | 'missing' | 'refused'
  readonly number: number
  readonly ref: SchemaRef
  readonly problem: string | null
  readonly since: Date
}
export type SchemaEntry = KnownSchema | AwaitedSchema

/** Looks a schema up in memory. Undefined: not known there. */
export type SchemaOf = (ref: SchemaRef) => SchemaEntry | undefined

export const decodingStates = ['decoded', 'waiting', 'failed', 'unsupported', 'encrypted', 'not_now'] as const

export type Decoding = {
  readonly state: (typeof decodingStates)[number]
  readonly format: SchemaType | BinaryFormat | 'glue' | null
  readonly ref: SchemaRef | null
  readonly schema: SchemaEntry | null
  readonly compression: Compression | null
  readonly labels: readonly Label[]
  /** Why it is not decoded. */
  readonly problem: string | null
}

/** How the bytes are built, for writing a changed value: what stands before the body stays. */
export type Layout = {
  readonly prefix: Buffer
  readonly body: Buffer
  readonly schema: KnownSchema | null
  /** The body is JSON: white space says nothing there. */
  readonly isJson: boolean
  /** The body for this JSON text. @throws {PayloadFault} where it does not fit the schema */
  readonly write: (json: string) => Buffer
}

export type Reading = {
  /** JSON text; null where the bytes are shown as text or base64. */
  readonly json: string | null
  /** Null for plain JSON and for bytes of which nothing is known. */
  readonly decoding: Decoding | null
  /** Null where there is no JSON text. */
  readonly layout: Layout | null
}

export type ReadingContext = {
  readonly part: Part
  readonly headers: readonly Header[]
  readonly plan: PayloadPlan
  readonly schemaOf: SchemaOf
  readonly maxBytes: number
}

const nothing: Reading = { json: null, decoding: null, layout: null }
const plain: Decoding = {
  ...{ state: 'decoded', format: null, ref: null, schema: null, compression: null, labels: [], problem: null },
}

/** Never throws, whatever the bytes. */
export function readPayload(bytes: Buffer | null, context: ReadingContext): Reading {
  const rule = context.plan[context.part]
  if (bytes === null || bytes.length === 0 || rule.format === 'none' || rule.format === 'text') return nothing
  const { body, compression, problem } = unpacked(bytes, rule, context)
  const reading =
    body.length > context.maxBytes && !startsAsJson(body)
      ? tooLarge(body, rule, context)
      : readBody(body, rule, context)
  const labels = labelsOf(reading.json, context.part === 'value' ? context.headers : [])
  const decoding = reading.decoding ?? (labels.length > 0 || compression !== null ? plain : null)
  if (reading.json === null && problem !== null)
    return { ...nothing, decoding: { ...(decoding ?? plain), state: 'failed', problem } }
  return { ...reading, decoding: decoding && { ...decoding, labels, compression } }
}

function tooLarge(body: Buffer, rule: PartRule, { part, headers, schemaOf }: ReadingContext): Reading {
  const problem = `it has ${body.length} bytes, more than are decoded here`
  const single = singleObjectFrame(body)
  const isFramed =
    body[0] === 0 || glueVersion(body) !== null || (single !== null && schemaOf(single.ref) !== undefined)
  const mayBeDecoded = isFramed || namedBinaryFormat(rule, part, headers) !== null
  return mayBeDecoded ? { ...nothing, decoding: { ...plain, state: 'not_now', problem } } : nothing
}

type Unpacked = { body: Buffer; compression: Compression | null; problem: string | null }

/** Without the compression that the rule, the header or the first bytes name. Bytes that are not compressed so stay. */
function unpacked(bytes: Buffer, rule: PartRule, { part, headers }: ReadingContext): Unpacked {
  const said = part === 'value' ? headerValue(headers, 'content-encoding')?.toString('latin1') : undefined
  const compression = rule.compression ?? compressions.find((name) => name === said) ?? compressionOf(bytes)
  if (compression === null || compression === undefined) return { body: bytes, compression: null, problem: null }
  try {
    return { body: decompress(bytes, compression), compression, problem: null }
  } catch (error) {
    return { body: bytes, compression: null, problem: reasonOf(error) }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof PayloadFault) return error.message
  // Recursion is bounded; how deep the caller's stack is already, is not.
  if (error instanceof RangeError) return 'it is nested too deeply'
  throw error
}

function readBody(body: Buffer, rule: PartRule, context: ReadingContext): Reading {
  const { registry } = context.plan
  if (rule.format === 'avro' || rule.format === 'protobuf') {
    const ref = refOfRule(rule, registry)
    return ref === null ? nothing : readFrame(body, { ref, at: 0 }, context)
  }
  const binary = namedBinaryFormat(rule, context.part, context.headers)
  if (binary !== null && (rule.format === binary || !hasSchemaHeader(context.headers, context.part))) {
    const reading = readBinary(body, binary)
    // A framework that writes the value anew as JSON leaves the header.
    const json = reading.json === null && rule.format === 'auto' ? projectPayload(body) : null
    return json === null ? reading : { json, decoding: null, layout: jsonLayout(body) }
  }
  const named = rule.format === 'auto' && registry && frameOfHeaders(context.headers, context.part, registry)
  const byHeader = named ? readFrame(body, named, context) : null
  if (byHeader !== null && byHeader.json !== null) return byHeader
  // A framework that writes the value anew as JSON leaves the header. Two bytes of Avro may look like a number.
  if (byHeader === null || startsAsJson(body)) {
    const json = projectPayload(body)
    if (json !== null) return { json, decoding: null, layout: jsonLayout(body) }
  }
  const framed = rule.format === 'auto' && registry && frameOfBytes(body, registry)
  const byFrame = framed ? readFrame(body, framed, context) : null
  if (byFrame !== null && (byFrame.json !== null || byHeader === null)) return byFrame
  if (byHeader !== null) return byHeader
  if (rule.format !== 'auto') return nothing
  const single = singleObjectFrame(body)
  if (single !== null && context.schemaOf(single.ref) !== undefined) return readFrame(body, single, context)
  return readGlue(body)
}

/** JSON that nobody has framed. */
export function jsonLayout(body: Buffer): Layout {
  return { prefix: Buffer.alloc(0), body, schema: null, isJson: true, write: (json) => Buffer.from(json) }
}

/** An object or a list; both take more than two bytes, unless they are empty. */
function startsAsJson(body: Buffer): boolean {
  return (body[0] === 0x7b || body[0] === 0x5b) && body.length > 2
}

function readFrame(framed: Buffer, { ref, at, isDeflated, mark }: SchemaFrame, { schemaOf }: ReadingContext): Reading {
  const schema = schemaOf(ref)
  if (schema === undefined || schema.state !== 'known')
    return {
      ...nothing,
      decoding: { ...plain, state: 'waiting', ref, schema: schema ?? null, problem: whyAwaited(schema) },
    }
  const decoding = { ...plain, ref, schema, format: schema.type }
  if (schema.encrypted) {
    const problem = 'its schema says that the whole value is encrypted'
    return { ...nothing, decoding: { ...decoding, state: 'encrypted', problem } }
  }
  try {
    const { codec } = schema
    if (mark?.kind === 'indexes' && mark.header?.length && schema.type !== 'protobuf')
      throw new PayloadFault('its header has more than a GUID, and its schema is none of Protobuf')
    const body = isDeflated ? Buffer.concat([framed.subarray(0, at), inflate(framed.subarray(at))]) : framed
    const valueAt = codec.bodyAt?.(body, at, mark) ?? at
    // What stands between the frame and the value is compressed with it.
    const start = isDeflated ? at : valueAt
    const write = (json: string) => {
      const written = codec.write(json, body, at, mark)
      return isDeflated ? deflate(Buffer.concat([body.subarray(at, valueAt), written])) : written
    }
    const layout = {
      prefix: framed.subarray(0, start),
      body: framed.subarray(start),
      schema,
      isJson: schema.type === 'json' && !isDeflated,
      write,
    }
    return { json: codec.read(body, at, mark), decoding, layout }
  } catch (error) {
    return { ...nothing, decoding: { ...decoding, state: 'failed', problem: reasonOf(error) } }
  }
}

function readBinary(body: Buffer, format: BinaryFormat): Reading {
  const { read, write } = binaryCodecs[format]
  const layout = { prefix: Buffer.alloc(0), body, schema: null, isJson: false }
  try {
    const json = read(body, 0)
    return { json, decoding: { ...plain, format }, layout: { ...layout, write: (json) => write(json, body, 0) } }
  } catch (error) {
    return { ...nothing, decoding: { ...plain, state: 'failed', format, problem: reasonOf(error) } }
  }
}

function whyAwaited(schema: AwaitedSchema | undefined): string {
  if (schema?.state === 'missing') return 'schema_missing'
  if (schema?.state === 'refused') return 'registry_refuses'
  return schema?.problem ?? 'schema_unknown'
}

function readGlue(body: Buffer): Reading {
  const version = glueVersion(body)
  if (version === null) return nothing
  const problem = `schema version ${version} of AWS Glue: no registry of type glue is configured for the topic`
  return { ...nothing, decoding: { ...plain, state: 'unsupported', format: 'glue', problem } }
}
