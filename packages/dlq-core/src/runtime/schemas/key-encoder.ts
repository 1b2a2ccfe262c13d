// Writes keys with the schemas that the database has, so that a key typed as JSON finds the messages of its bytes.

import { binaryCodecs } from '../../domain/payload/binary/binary-formats.ts'
import { PayloadFault } from '../../domain/payload/payload-fault.ts'
import type { PartRule, PayloadPlan, RegistryKind } from '../../domain/payload/payload-settings.ts'
import type { SchemaOf } from '../../domain/payload/read-payload.ts'
import type { SchemaCodec } from '../../domain/payload/schema-codec.ts'
import {
  frameOfBytes,
  frameOfHeaders,
  hasSchemaHeader,
  refOfRule,
  type SchemaFrame,
  type SchemaRef,
  singleObjectFrame,
} from '../../domain/payload/schema-frames.ts'
import type { Header } from '../../domain/record/record.ts'
import type { MessageTopics } from '../../domain/retry/effective-policy.ts'
import { listKeySchemas, noteKeySchemas } from '../../queries/schemas/schemas.ts'
import type { Sql } from '../../queries/sql.ts'
import type { SchemasConfig } from '../config/schemas-schema.ts'
import type { SchemaSource } from './schema-source.ts'

type KeyOfRecord = { readonly headers: readonly Header[]; readonly topics: MessageTopics }

export type KeyEncoder = {
  /**
   * A key's JSON as bytes, in each way in which keys are read: as the topic's rule says, and with the schema of each of
   * these frames, and each that `noteKeys` has noted, that it fits. `topic`: an original or DLQ topic; null: any. `frames`: whole keys that begin with one.
   */
  encodeKey(json: string, options: { topic: string | null; frames: readonly Buffer[] }): Promise<Buffer[]>
  /** Notes the schemas that headers of keys name, so that `encodeKey` knows them: such a key does not begin with a frame. */
  noteKeys(keys: readonly KeyOfRecord[]): Promise<void>
  /** Whether `noteKeys` would have nothing to do for this key. */
  isKeyNoted(key: KeyOfRecord): boolean
}

/** Schemas of keys in headers that a key is encoded with: not every one fits. */
const maxKeySchemas = 50
/** Keys of schemas that were noted here before: strangers invent ids. */
const maxNoted = 10_000
/** A null: a key is written in its place. */
const nothingOf = { msgpack: Buffer.from([0xc0]), cbor: Buffer.from([0xf6]) }

export function createKeyEncoder({
  sql,
  schemas,
  planOf,
  source,
  schemaOf,
}: {
  sql: Sql
  schemas: SchemasConfig
  planOf: (topics: MessageTopics) => PayloadPlan
  source: SchemaSource
  schemaOf: SchemaOf
}): KeyEncoder {
  const noted = new Set<string>()
  /** The schema that a header of the key names, if it was not noted yet, and its name here. */
  function unnotedOf({ headers, topics }: KeyOfRecord): { name: string; ref: SchemaRef } | null {
    if (!hasSchemaHeader(headers, 'key')) return null
    const { key: rule, registry } = planOf(topics)
    const ref = rule.format === 'auto' && registry !== null ? frameOfHeaders(headers, 'key', registry)?.ref : undefined
    if (ref === undefined) return null
    const name = `${ref.registry} ${ref.kind} ${ref.id}`
    return noted.has(name) ? null : { name, ref }
  }

  async function noteKeys(keys: readonly KeyOfRecord[]): Promise<void> {
    const fresh = new Map<string, SchemaRef>()
    for (const key of keys) {
      const unnoted = unnotedOf(key)
      if (unnoted !== null) fresh.set(unnoted.name, unnoted.ref)
    }
    if (fresh.size === 0) return
    await noteKeySchemas(sql, [...fresh.values()])
    if (noted.size + fresh.size > maxNoted) noted.clear()
    for (const name of fresh.keys()) noted.add(name)
  }

  function bySchema(ref: SchemaRef, json: string, bytes: Buffer = Buffer.alloc(0), frame?: SchemaFrame): Buffer[] {
    const schema = schemaOf(ref)
    return schema?.state === 'known' ? encoded(schema.codec, json, bytes, frame) : []
  }

  /** By the schemas that headers of keys have named: nothing stands before the key. */
  async function byHeaders(registries: readonly RegistryKind[], json: string): Promise<Buffer[]> {
    if (registries.length === 0) return []
    const refs = await listKeySchemas(sql, { registries: registries.map(({ name }) => name), limit: maxKeySchemas })
    await source.load(refs)
    return refs.flatMap((ref) => bySchema(ref, json))
  }

  async function byRule(rule: PartRule | null, registry: RegistryKind | null, json: string): Promise<Buffer[]> {
    if (rule?.format === 'msgpack' || rule?.format === 'cbor')
      return encoded(binaryCodecs[rule.format], json, nothingOf[rule.format])
    const ref = rule === null ? null : refOfRule(rule, registry)
    if (ref === null) return []
    if (ref.kind !== 'file') await source.load([ref])
    return bySchema(ref, json)
  }

  return {
    noteKeys,
    isKeyNoted: (key) => unnotedOf(key) === null,
    async encodeKey(json, { topic, frames }) {
      const plan = topic === null ? null : planOf({ original_topic: topic, dlq_topic: topic })
      const registries = plan === null ? schemas.registries : plan.registry === null ? [] : [plan.registry]
      const framed = frames.flatMap((bytes) =>
        [singleObjectFrame(bytes), ...registries.map((registry) => frameOfBytes(bytes, registry))].flatMap((frame) =>
          frame === null ? [] : [{ bytes, frame }],
        ),
      )
      await source.load(framed.map(({ frame }) => frame.ref).filter(({ kind }) => kind !== 'file'))
      const byFrame = framed.flatMap(({ bytes, frame }) => bySchema(frame.ref, json, bytes, frame))
      const isGuessed = plan === null || plan.key.format === 'auto'
      const named = isGuessed ? await byHeaders(registries, json) : []
      return [...byFrame, ...named, ...(await byRule(plan?.key ?? null, plan?.registry ?? null, json))]
    },
  }
}

/** The JSON in place of the value of `bytes` at `at`; none where it does not fit. */
function encoded(
  codec: SchemaCodec,
  json: string,
  bytes: Buffer,
  { at, mark }: Pick<SchemaFrame, 'at' | 'mark'> = { at: 0 },
): Buffer[] {
  try {
    const start = codec.bodyAt?.(bytes, at, mark) ?? at
    return [Buffer.concat([bytes.subarray(0, start), codec.write(json, bytes, at, mark)])]
  } catch (error) {
    if (error instanceof PayloadFault || error instanceof RangeError) return []
    throw error
  }
}
