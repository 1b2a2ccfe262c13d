// Reads values with the schemas that the database has: the same in the ingester, the retrier and the API.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ProjectValue } from '../../domain/message/edit-message.ts'
import { maxEncodedBytes } from '../../domain/payload/payload-bounds.ts'
import { compilePlans, type PayloadPlan } from '../../domain/payload/payload-settings.ts'
import { type Reading, readPayload, type SchemaEntry, type SchemaOf } from '../../domain/payload/read-payload.ts'
import type { Part, SchemaRef } from '../../domain/payload/schema-frames.ts'
import { storedDecoding, storedPayloadHeaders } from '../../domain/payload/stored-decoding.ts'
import type { Header } from '../../domain/record/record.ts'
import type { MessageTopics } from '../../domain/retry/effective-policy.ts'
import type { Sql } from '../../queries/sql.ts'
import { monotonicNow } from '../clock/monotonic-now.ts'
import { readSchemaFiles } from '../config/schema-files.ts'
import type { SchemasConfig } from '../config/schemas-schema.ts'
import { createKeyEncoder, type KeyEncoder } from './key-encoder.ts'
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

export type PayloadReader = KeyEncoder & {
  planOf: (topics: MessageTopics) => PayloadPlan
  source: SchemaSource
  /** A schema that is in memory: of the configuration's files, or of the database. */
  schemaOf: SchemaOf
  /** Looks schemas up. Waits up to `waitMs` for those that somebody has just asked for. */
  settle(refs: readonly SchemaRef[], options: { waitMs: number }): Promise<void>
  /** In the order of `readables`. Larger values than `maxBytes` are not decoded. */
  readAll(readables: readonly Readable[], options: ReadOptions): Promise<Reading[]>
  /** What is stored of a value of these topics, as far as its schema is in memory. */
  projectFor(topics: MessageTopics): ProjectValue
  /** The same, once the schema of this value was looked up, or noted as wanted. */
  projectLoaded(readable: Readable, options: { sql: Sql }): Promise<ProjectValue>
  /** Waits a moment for a schema that somebody has just asked for. */
  readOne(readable: Readable, options: { maxBytes: number; waitMs: number }): Promise<Reading>
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
    await source.follow({ sql: age.sql })
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
    const readings = readables.map((readable, at) => {
      const refs: SchemaRef[] = []
      const reading = read(readable, (ref) => refs.push(ref))
      if (refs.length > 0) awaited.set(at, refs)
      return reading
    })
    if (awaited.size > 0) await source.load([...awaited.values()].flat(), age)
    for (const at of awaited.keys()) readings[at] = read(readables[at]!, () => {})
    const misfits = readings.map(misfitOf).filter((ref) => ref !== null)
    if (misfits.length > 0) await source.doubt(misfits, { sql: age.sql })
    return readings
  }

  const projectFor: PayloadReader['projectFor'] = (topics) => (value, headers) => {
    const readable = readableValue({ record_headers: headers }, value, topics)
    const context = { ...readable, plan: planOf(topics), schemaOf, maxBytes: maxEncodedBytes }
    return storedDecoding(readPayload(value, context), true)
  }

  /** The schema that a value names and does not fit: its id may mean another one by now. */
  function misfitOf({ decoding }: Reading): SchemaRef | null {
    return decoding?.state === 'failed' && decoding.schema?.state === 'known' ? decoding.schema.ref : null
  }

  /** Whether a moment's patience may help. */
  function mayCome(schema: SchemaEntry | null | undefined): boolean {
    return schema?.state === 'wanted' && schema.problem === null && now() - schema.since.getTime() < promisingMs
  }

  return {
    planOf,
    source,
    schemaOf,
    async settle(refs, { waitMs }) {
      const until = monotonicNow() + waitMs
      const ofDatabase = refs.filter(({ kind }) => kind !== 'file')
      await source.follow()
      for (;;) {
        await source.load(ofDatabase, { maxAgeMs: pollMs })
        if (!ofDatabase.some((ref) => mayCome(schemaOf(ref))) || monotonicNow() >= until) return
        await sleep(pollMs)
      }
    },
    readAll,
    ...createKeyEncoder({ sql, schemas, planOf, source, schemaOf }),
    projectFor,
    async projectLoaded(readable, { sql }) {
      await readAll([readable], { maxBytes: maxEncodedBytes, sql })
      return projectFor(readable.topics)
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
