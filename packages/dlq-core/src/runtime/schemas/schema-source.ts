// The schemas as a service knows them: in memory, from dlq_schemas. It asks no registry; what nobody has asked for yet it
// notes there, and fetch-schemas.ts of an ingester or retrier asks.

import { createCodec } from '../../domain/payload/create-codec.ts'
import type { SchemaEntry, SchemaOf } from '../../domain/payload/read-payload.ts'
import type { SchemaRef } from '../../domain/payload/schema-frames.ts'
import {
  doubtSchemas,
  findSchemas,
  findSchemasByNumber,
  findSchemasKnownAnew,
  type SchemaRow,
  wantSchemas,
} from '../../queries/schemas/schemas.ts'
import type { Sql } from '../../queries/sql.ts'

export type SchemaSource = {
  schemaOf: SchemaOf
  /** A schema that was loaded, by its row. */
  schemaNumbered(number: number): SchemaEntry | undefined
  /** Reads those that are not known, unless that was done within `maxAgeMs`. What has no row gets one. */
  load(refs: readonly SchemaRef[], options?: { maxAgeMs?: number; sql?: Sql }): Promise<void>
  loadNumbered(numbers: readonly number[]): Promise<void>
  /** Reads again, every few seconds, those known schemas that have another meaning by now. */
  follow(options?: { sql?: Sql | undefined }): Promise<void>
  /** Has known schemas asked for again that a value does not fit, once a minute each. */
  doubt(refs: readonly SchemaRef[], options?: { sql?: Sql | undefined }): Promise<void>
}

const defaultAgeMs = 1000
const followEveryMs = 5000
const doubtEveryMs = 60_000
/** Compiled schemas take some 100 KB each at most. */
const maxRemembered = 1000

/** `knownAt`: as the database has it, to tell whether it was asked for again. */
type Remembered = { entry: SchemaEntry | null; knownAt: string | null; readAt: number; doubtedAt?: number }

export function createSchemaSource({ sql: pool, now }: { sql: Sql; now: () => number }): SchemaSource {
  /** The entry is null where there is no row, because too many schemas of the registry are unknown. */
  const byRef = new Map<string, Remembered>()
  const byNumber = new Map<number, SchemaEntry>()
  let followedAt = now()

  function remember(key: string, row: SchemaRow | null): void {
    if (byRef.size >= maxRemembered) {
      byRef.clear()
      byNumber.clear()
    }
    const entry = row && entryOf(row)
    byRef.set(key, { entry, knownAt: row?.known_at ?? null, readAt: now() })
    if (row !== null) byNumber.set(row.id, entry!)
  }

  function isStale(ref: SchemaRef, maxAgeMs: number): boolean {
    const found = byRef.get(keyOf(ref))
    return found === undefined || (found.entry?.state !== 'known' && now() - found.readAt >= maxAgeMs)
  }

  return {
    schemaOf: (ref) => byRef.get(keyOf(ref))?.entry ?? undefined,
    schemaNumbered: (number) => byNumber.get(number),
    async load(refs, { maxAgeMs = defaultAgeMs, sql = pool } = {}) {
      const stale = new Map(refs.filter((ref) => isStale(ref, maxAgeMs)).map((ref) => [keyOf(ref), ref]))
      if (stale.size === 0) return
      const rows = await findSchemas(sql, [...stale.values()])
      const found = new Set(rows.map((row) => keyOf(refOf(row))))
      const fresh = [...stale].filter(([key]) => !found.has(key)).map(([, ref]) => ref)
      if (fresh.length > 0) {
        await wantSchemas(sql, fresh)
        rows.push(...(await findSchemas(sql, fresh)))
      }
      const rowOf = new Map(rows.map((row) => [keyOf(refOf(row)), row]))
      for (const key of stale.keys()) remember(key, rowOf.get(key) ?? null)
    },
    async loadNumbered(numbers) {
      const missing = [...new Set(numbers)].filter((number) => byNumber.get(number)?.state !== 'known')
      for (const row of await findSchemasByNumber(pool, missing)) remember(keyOf(refOf(row)), row)
    },
    async follow({ sql = pool } = {}) {
      if (now() - followedAt < followEveryMs) return
      followedAt = now()
      const known = [...byRef.values()].flatMap(({ entry, knownAt }) =>
        entry?.state === 'known' && entry.number !== null ? [{ id: entry.number, known_at: knownAt }] : [],
      )
      for (const row of await findSchemasKnownAnew(sql, known)) remember(keyOf(refOf(row)), row)
    },
    async doubt(refs, { sql = pool } = {}) {
      const doubted = new Set<number>()
      for (const ref of refs) {
        const found = byRef.get(keyOf(ref))
        if (found?.entry?.state !== 'known' || found.entry.number === null) continue
        if (found.doubtedAt !== undefined && now() - found.doubtedAt < doubtEveryMs) continue
        found.doubtedAt = now()
        doubted.add(found.entry.number)
      }
      if (doubted.size > 0) await doubtSchemas(sql, [...doubted])
    },
  }
}

function keyOf({ registry, kind, id }: SchemaRef): string {
  return `${registry} ${kind} ${id}`
}

function refOf({ registry, id_kind: kind, schema_id: id }: SchemaRow): SchemaRef {
  return { registry, kind, id }
}

function entryOf(row: SchemaRow): SchemaEntry {
  const { id: number, state, type, name, definition, schema_references, problem, wanted_at: since } = row
  const ref = refOf(row)
  if (state !== 'known' || type === null || definition === null)
    return { state: state === 'known' ? 'wanted' : state, number, ref, problem, since }
  const references = JSON.parse(schema_references ?? '[]') as string[]
  const encrypted = row.is_encrypted
  const source = { type, definition, references, encrypted }
  return { state, number, ref, type, name, encrypted, codec: createCodec(source), source }
}
