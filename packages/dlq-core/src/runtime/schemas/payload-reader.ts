// Reads values with the schemas that the database has: the same in the ingester, the retrier and the API.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ProjectValue } from '../../domain/message/edit-message.ts'
import { binaryCodecs } from '../../domain/payload/binary/binary-formats.ts'
import { maxEncodedBytes } from '../../domain/payload/payload-bounds.ts'
import { PayloadFault } from '../../domain/payload/payload-fault.ts'
import {
  compilePlans,
  type PartRule,
  type PayloadPlan,
  type RegistryKind,
} from '../../domain/payload/payload-settings.ts'
import { type Reading, readPayload, type SchemaEntry, type SchemaOf } from '../../domain/payload/read-payload.ts'
import type { SchemaCodec } from '../../domain/payload/schema-codec.ts'
import {
  frameOfBytes,
  frameOfHeaders,
  hasSchemaHeader,
  type Part,
  refOfRule,
  type SchemaFrame,
  type SchemaRef,
  singleObjectFrame,
} from '../../domain/payload/schema-frames.ts'
import { storedDecoding, storedPayloadHeaders } from '../../domain/payload/stored-decoding.ts'
import type { Header } from '../../domain/record/record.ts'
import type { MessageTopics } from '../../domain/retry/effective-policy.ts'
import { listKeySchemas, noteKeySchemas } from '../../queries/schemas/schemas.ts'
import type { Sql } from '../../queries/sql.ts'
import { monotonicNow } from '../clock/monotonic-now.ts'
import { readSchemaFiles } from '../config/schema-files.ts'
import type { SchemasConfig } from '../config/schemas-schema.ts'
import { createSchemaSource, type SchemaSource } from './schema-source.ts'

export type Readable = {
  readonly bytes: Buffer | null
  readonly part: Part
  readonly headers: readonly Header[]
  readonly topics: MessageTopics
}

/** `maxAgeMs`: how old may be what is known of a schema that has not come. `budgetMs`: after this, nothing is decoded. */
type ReadOptions = {
  maxBytes: number
  maxAgeMs?: number
  budgetMs?: number
  /** The caller's transaction. Otherwise each of many transactions might wait for one more connection. */
  sql?: Sql
}

type KeyOfRecord = Pick<Readable, 'headers' | 'topics'>

export type PayloadReader = {
  planOf: (topics: MessageTopics) => PayloadPlan
  source: SchemaSource
  /** A schema that is in memory: of the configuration's files, or of the database. */
  schemaOf: SchemaOf
  /** Looks schemas up. Waits up to `waitMs` for those that somebody has just asked for. */
  settle(refs: readonly SchemaRef[], options: { waitMs: number }): Promise<void>
  /** In the order of `readables`. Larger values than `maxBytes` are not decoded. */
  readAll(readables: readonly Readable[], options: ReadOptions): Promise<Reading[]>
  /** What is stored of a value of these topics, as far as its schema is in memory: the one before an edit is. */
  projectFor(topics: MessageTopics): ProjectValue
  /**
   * A key's JSON as bytes, in each way in which keys are read: as the topic's rule says, and with the schema of each of
   * these frames, and each that `noteKeys` has noted, that it fits. `topic`: an original or DLQ topic; null: any. `frames`: whole keys that begin with one.
   */
  encodeKey(json: string, options: { topic: string | null; frames: readonly Buffer[] }): Promise<Buffer[]>
  /** Notes the schemas that headers of keys name, so that `encodeKey` knows them: such a key does not begin with a frame. */
  noteKeys(keys: readonly KeyOfRecord[]): Promise<void>
  /** Whether `noteKeys` would have nothing to do for this key. */
  isKeyNoted(key: KeyOfRecord): boolean
  /** Waits a moment for a schema that somebody has just asked for. */
  readOne(readable: Readable, options: { maxBytes: number; waitMs: number }): Promise<Reading>
}

/** The JSON in place of the value of `bytes` at `at`; null where it does not fit. */
function encoded(
  codec: SchemaCodec,
  json: string,
  bytes: Buffer,
  { at, mark }: Pick<SchemaFrame, 'at' | 'mark'> = { at: 0 },
): Buffer | null {
  try {
    const start = codec.bodyAt?.(bytes, at, mark) ?? at
    return Buffer.concat([bytes.subarray(0, start), codec.write(json, bytes, at, mark)])
  } catch (error) {
    if (error instanceof PayloadFault || error instanceof RangeError) return null
    throw error
  }
}

/** The value of a message, with its stored headers. */
export function readableValue(
  { record_headers }: { record_headers: string | null },
  bytes: Buffer | null,
  topics: MessageTopics,
): Readable {
  return { bytes, part: 'value', headers: storedPayloadHeaders(record_headers), topics }
}

const pollMs = 50
/** Schemas of keys in headers that a key is encoded with: not every one fits. */
const maxKeySchemas = 50
/** Keys of schemas that were noted here before: strangers invent ids. */
const maxNoted = 10_000
/** A null, in place of which something else is written. */
const nothingOf = { msgpack: Buffer.from([0xc0]), cbor: Buffer.from([0xf6]) }
/** After this time nobody waits for a schema any more: its registry does not answer. */
const promisingMs = 10_000

export function createPayloadReader({
  sql,
  schemas,
  now,
}: {
  sql: Sql
  schemas: SchemasConfig
  now: () => number
}): PayloadReader {
  const planOf = compilePlans(schemas)
  const source = createSchemaSource({ sql, now })
  const { schemas: ofFiles } = readSchemaFiles(schemas)
  const schemaOf: SchemaOf = (ref) => (ref.kind === 'file' ? ofFiles.get(ref.id) : source.schemaOf(ref))

  async function readAll(
    readables: readonly Readable[],
    { maxBytes, budgetMs = Number.POSITIVE_INFINITY, ...age }: ReadOptions,
  ): Promise<Reading[]> {
    const until = performance.now() + budgetMs
    const read = ({ bytes, part, headers, topics }: Readable, note: (ref: SchemaRef) => void) =>
      readPayload(bytes, {
        ...{ part, headers, plan: planOf(topics) },
        maxBytes: performance.now() < until ? maxBytes : 0,
        schemaOf(ref) {
          const schema = schemaOf(ref)
          if (schema?.state !== 'known' && ref.kind !== 'file') note(ref)
          return schema
        },
      })
    const awaited = new Map<number, SchemaRef[]>()
    let readings = readables.map((readable, at) => {
      const refs: SchemaRef[] = []
      const reading = read(readable, (ref) => refs.push(ref))
      if (refs.length > 0) awaited.set(at, refs)
      return reading
    })
    const again = (isAsked: (at: number) => boolean) =>
      readings.map((reading, at) => (isAsked(at) ? read(readables[at]!, () => {}) : reading))
    if (awaited.size > 0) {
      await source.load([...awaited.values()].flat(), age)
      readings = again((at) => awaited.has(at))
    }
    const misfits = readings.map(misfitOf)
    const doubted = misfits.filter((ref) => ref !== null)
    if (doubted.length === 0 || !(await source.doubt(doubted, { sql: age.sql }))) return readings
    return again((at) => misfits[at] !== null)
  }

  /** The schema that a value names and does not fit: its id may mean another one by now. */
  function misfitOf({ decoding }: Reading): SchemaRef | null {
    return decoding?.state === 'failed' && decoding.schema?.state === 'known' ? decoding.schema.ref : null
  }

  /** Whether a moment's patience may help. */
  function mayCome(schema: SchemaEntry | null | undefined): boolean {
    return schema?.state === 'wanted' && schema.problem === null && now() - schema.since.getTime() < promisingMs
  }

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

  /** By the schemas that headers of keys have named: nothing stands before the key. */
  async function byHeaders(registries: readonly RegistryKind[], json: string): Promise<Buffer[]> {
    if (registries.length === 0) return []
    const refs = await listKeySchemas(sql, { registries: registries.map(({ name }) => name), limit: maxKeySchemas })
    await source.load(refs)
    return refs.flatMap((ref) => {
      const schema = schemaOf(ref)
      return schema?.state === 'known' ? (encoded(schema.codec, json, Buffer.alloc(0)) ?? []) : []
    })
  }

  async function byRule(rule: PartRule | null, registry: RegistryKind | null, json: string): Promise<Buffer[]> {
    if (rule?.format === 'msgpack' || rule?.format === 'cbor') {
      const codec = binaryCodecs[rule.format]
      return [encoded(codec, json, nothingOf[rule.format]) ?? []].flat()
    }
    const ref = rule === null ? null : refOfRule(rule, registry)
    if (ref === null) return []
    if (ref.kind !== 'file') await source.load([ref])
    const schema = schemaOf(ref)
    return schema?.state === 'known' ? [encoded(schema.codec, json, Buffer.alloc(0)) ?? []].flat() : []
  }

  return {
    planOf,
    source,
    schemaOf,
    async settle(refs, { waitMs }) {
      const until = monotonicNow() + waitMs
      const ofDatabase = refs.filter(({ kind }) => kind !== 'file')
      for (;;) {
        await source.load(ofDatabase, { maxAgeMs: pollMs })
        if (!ofDatabase.some((ref) => mayCome(schemaOf(ref))) || monotonicNow() >= until) return
        await sleep(pollMs)
      }
    },
    readAll,
    noteKeys,
    isKeyNoted: (key) => unnotedOf(key) === null,
    projectFor: (topics) => (value, headers) => {
      const readable = readableValue({ record_headers: headers }, value, topics)
      const context = { ...readable, plan: planOf(topics), schemaOf, maxBytes: maxEncodedBytes }
      return storedDecoding(readPayload(value, context), true)
    },
    async encodeKey(json, { topic, frames }) {
      const plan = topic === null ? null : planOf({ original_topic: topic, dlq_topic: topic })
      const registries = plan === null ? schemas.registries : plan.registry === null ? [] : [plan.registry]
      const framed = frames.flatMap((bytes) =>
        [singleObjectFrame(bytes), ...registries.map((registry) => frameOfBytes(bytes, registry))].flatMap((frame) =>
          frame === null ? [] : [{ bytes, frame }],
        ),
      )
      await source.load(framed.map(({ frame }) => frame.ref).filter(({ kind }) => kind !== 'file'))
      const byFrame = framed.flatMap(({ bytes, frame }) => {
        const schema = schemaOf(frame.ref)
        return schema?.state === 'known' ? (encoded(schema.codec, json, bytes, frame) ?? []) : []
      })
      const isGuessed = plan === null || plan.key.format === 'auto'
      const named = isGuessed ? await byHeaders(registries, json) : []
      return [...byFrame, ...named, ...(await byRule(plan?.key ?? null, plan?.registry ?? null, json))]
    },
    async readOne(readable, { maxBytes, waitMs }) {
      const until = monotonicNow() + waitMs
      while (true) {
        const [reading] = (await readAll([readable], { maxBytes, maxAgeMs: pollMs })) as [Reading]
        const schema = reading.decoding?.state === 'waiting' ? reading.decoding.schema : null
        if (!mayCome(schema) || monotonicNow() >= until) return reading
        await sleep(pollMs)
      }
    },
  }
}
