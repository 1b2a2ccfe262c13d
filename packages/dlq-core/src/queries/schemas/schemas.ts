// dlq_schemas: what the registries gave, and what is still to be asked for.

import type { SchemaDefinition } from '../../domain/payload/create-codec.ts'
import type { SchemaRef } from '../../domain/payload/schema-frames.ts'
import type { Sql } from '../sql.ts'

export type SchemaRow = {
  id: number
  registry: string
  id_kind: SchemaRef['kind']
  schema_id: string
  state: 'wanted' | 'known' | 'missing' | 'refused'
  type: SchemaDefinition['type'] | null
  name: string | null
  definition: string | null
  /** A JSON list of texts. */
  schema_references: string | null
  is_encrypted: boolean
  problem: string | null
  wanted_at: Date
  /** As text, with microseconds. */
  known_at: string | null
}

function schemaColumns(sql: Sql) {
  return sql`
    s.id, s.registry, s.id_kind, s.schema_id, s.state, s.type, s.name, s.definition, s.schema_references, s.is_encrypted, s.problem,
    s.wanted_at, s.known_at::text as known_at`
}

/** Those of the schemas that have a row. */
export async function findSchemas(sql: Sql, refs: readonly SchemaRef[]): Promise<SchemaRow[]> {
  if (refs.length === 0) return []
  return sql<SchemaRow[]>`
    select ${schemaColumns(sql)}
    from json_to_recordset(${JSON.stringify(refs)}::json) as wanted (registry text, kind text, id text)
    join dlq.dlq_schemas s on s.registry = wanted.registry and s.id_kind = wanted.kind and s.schema_id = wanted.id`
}

export async function findSchemasByNumber(sql: Sql, numbers: readonly number[]): Promise<SchemaRow[]> {
  if (numbers.length === 0) return []
  return sql<SchemaRow[]>`
    select ${schemaColumns(sql)} from dlq.dlq_schemas s where s.id = any(${sql.array([...numbers])}::int[])`
}

/** Those of the schemas that were asked for again since the caller read them as known. */
export async function findSchemasKnownAnew(
  sql: Sql,
  read: readonly Pick<SchemaRow, 'id' | 'known_at'>[],
): Promise<SchemaRow[]> {
  if (read.length === 0) return []
  return sql<SchemaRow[]>`
    select ${schemaColumns(sql)}
    from json_to_recordset(${JSON.stringify(read)}::json) as read (id int, known_at timestamptz)
    join dlq.dlq_schemas s using (id)
    where s.known_at is distinct from read.known_at`
}

/** Strangers invent ids: of each registry this many may be unknown at a time. */
export const maxUnknownSchemas = 1000

/** Notes schemas that nobody has asked for. Returns how many are new; none where their registry has too many unknown ones. */
export async function wantSchemas(sql: Sql, refs: readonly SchemaRef[]): Promise<number> {
  if (refs.length === 0) return 0
  const { count } = await sql`
    insert into dlq.dlq_schemas (registry, id_kind, schema_id)
    select registry, kind, id
    from json_to_recordset(${JSON.stringify(refs)}::json) as wanted (registry text, kind text, id text)
    where (select count(*) from dlq.dlq_schemas s where s.registry = wanted.registry and s.state <> 'known') < ${maxUnknownSchemas}
    -- In one order, so that two sessions that note the same ones do not wait for each other.
    order by registry, kind, id
    on conflict do nothing`
  return count
}

/** Notes that headers of keys name these schemas; those that nobody has asked for as `wantSchemas` does. */
export async function noteKeySchemas(sql: Sql, refs: readonly SchemaRef[]): Promise<void> {
  if (refs.length === 0) return
  await sql`
    insert into dlq.dlq_schemas (registry, id_kind, schema_id, is_of_keys)
    select registry, kind, id, true
    from json_to_recordset(${JSON.stringify(refs)}::json) as wanted (registry text, kind text, id text)
    where (select count(*) from dlq.dlq_schemas s where s.registry = wanted.registry and s.state <> 'known') < ${maxUnknownSchemas}
       or exists (
         select from dlq.dlq_schemas s where s.registry = wanted.registry and s.id_kind = wanted.kind and s.schema_id = wanted.id)
    -- In one order, so that two sessions that note the same ones do not wait for each other.
    order by registry, kind, id
    -- A row that is noted already is not written again.
    on conflict (registry, id_kind, schema_id) do update set is_of_keys = true where not dlq_schemas.is_of_keys`
}

/** The known schemas that headers of keys name, the newest first. */
export async function listKeySchemas(
  sql: Sql,
  { registries, limit }: { registries: readonly string[]; limit: number },
): Promise<SchemaRef[]> {
  return sql<SchemaRef[]>`
    select registry, id_kind as kind, schema_id as id from dlq.dlq_schemas
    where is_of_keys and state = 'known' and registry = any(${sql.array([...registries])}::text[])
    order by id desc
    limit ${limit}`
}

export type DueSchema = { id: number; registry: string; id_kind: SchemaRef['kind']; schema_id: string; tries: number }

/** Takes schemas of these registries that are due to be asked for. Nobody else takes them for `leaseMs`. */
export async function takeDueSchemas(
  sql: Sql,
  { registries, limit, leaseMs }: { registries: readonly string[]; limit: number; leaseMs: number },
): Promise<DueSchema[]> {
  const lease = sql`now() + ${leaseMs} * interval '1 millisecond'`
  return sql<DueSchema[]>`
    with due as materialized (
      select id from dlq.dlq_schemas
      where ((state <> 'known' and next_try_at <= now()) or recheck_at <= now())
        and registry = any(${sql.array([...registries])}::text[])
      order by coalesce(recheck_at, next_try_at)
      limit ${limit}
      for update skip locked
    )
    update dlq.dlq_schemas s set
      tries = tries + 1,
      next_try_at = case when state = 'known' then next_try_at else ${lease} end,
      recheck_at = case when state = 'known' then ${lease} end
    from due where s.id = due.id
    returning s.id, s.registry, s.id_kind, s.schema_id, s.tries`
}

/** Returns whether the id had another meaning before. */
export async function storeSchema(
  sql: Sql,
  id: number,
  { type, name, definition, references, encrypted }: SchemaDefinition & { name: string | null },
): Promise<{ isOther: boolean }> {
  const listed = JSON.stringify(references)
  const [row] = await sql<[{ is_other: boolean }?]>`
    with before as materialized (
      select id, state = 'known' and (type, definition, schema_references::text, is_encrypted)
                   is distinct from (${type}::text, ${definition}::text, ${listed}::text::json::text, ${encrypted}::boolean) as is_other
      from dlq.dlq_schemas where id = ${id} for update
    )
    update dlq.dlq_schemas s set
      state = 'known', type = ${type}, name = ${name}, definition = ${definition}, schema_references = ${listed}::text::json,
      is_encrypted = ${encrypted}, problem = null, known_at = now(), recheck_at = null, next_try_at = now() + ${trust}::interval
    from before where s.id = before.id
    returning before.is_other`
  return { isOther: row?.is_other ?? false }
}

/** Nobody doubts a known schema by itself sooner than that: strangers can write what fits none. */
const trust = '1 day'

/** Notes why a schema is not known yet, and when to ask again. One that is known, or has come meanwhile, stays. */
export async function postponeSchema(
  sql: Sql,
  {
    id,
    state,
    problem,
    waitMs,
  }: { id: number; state: 'wanted' | 'missing' | 'refused'; problem: string; waitMs: number },
): Promise<void> {
  const again = sql`now() + ${waitMs} * interval '1 millisecond'`
  await sql`
    update dlq.dlq_schemas set state = ${state}, problem = ${problem}, next_try_at = ${again}
    where id = ${id} and state <> 'known'`
  await sql`
    update dlq.dlq_schemas set
      recheck_at = case when ${state === 'wanted'}::boolean then ${again} end, next_try_at = now() + ${trust}::interval
    where id = ${id} and state = 'known' and recheck_at is not null`
}

/** Has known schemas asked for again that a value does not fit, unless that was done within a day. */
export async function doubtSchemas(sql: Sql, numbers: readonly number[]): Promise<void> {
  await sql`
    update dlq.dlq_schemas set recheck_at = now()
    where id in (
      select id from dlq.dlq_schemas
      where id = any(${sql.array([...numbers])}::int[]) and state = 'known' and recheck_at is null
        and next_try_at <= now() and known_at < now() - ${trust}::interval
      order by id
      for update skip locked
    )`
}

/** Has a schema asked for again at once, whatever its state. Null where there is none. */
export async function recheckSchema(sql: Sql, id: number): Promise<SchemaRow | null> {
  const [row] = await sql<SchemaRow[]>`
    update dlq.dlq_schemas s set
      recheck_at = case when state = 'known' then now() end, next_try_at = case when state = 'known' then next_try_at else now() end
    where s.id = ${id}
    returning ${schemaColumns(sql)}`
  return row ?? null
}
