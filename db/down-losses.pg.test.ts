// A migration that is taken back loses only the data that its file names. Every table holds a row, and the migrations
// go down one by one, from the last to the first.
import { readFileSync } from 'node:fs'
import { type TestDatabase, useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { describe, expect, test } from 'vitest'
import { migrateDown, migrationStatus } from './migrate.ts'
import { fileSets } from './migration-files.ts'

type Column = { table: string; column: string; type: string; required: boolean }

/** Any value of a type, as SQL. */
const values: Record<string, string> = {
  bytea: `'\\x00'`,
  boolean: 'false',
  json: `'{}'`,
  jsonb: `'{}'`,
  date: `'2026-01-01'`,
  uuid: `'01900000-0000-7000-8000-000000000000'`,
  'timestamp with time zone': 'now()',
  interval: `'1 h'`,
}

/** Values that the check of an earlier version asks for, which a migration that is taken back adds again. */
const ofColumn: Record<string, string> = { 'dlq_runs.kind': `'retry'` }

async function columnsOf({ sql }: TestDatabase, schema: string): Promise<Column[]> {
  return sql<Column[]>`
    select relname as table, attname as column, format_type(atttypid, null) as type,
           attnotnull and not atthasdef and attidentity = '' as required
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = ${schema}::regnamespace and not relispartition and relkind in ('r', 'p')
      and attnum > 0 and not attisdropped
    order by 1, attnum`
}

/** One row in every table, without regard to foreign keys and checks. */
async function fill(database: TestDatabase, schema: string): Promise<void> {
  const checks = await database.sql`
    select conrelid::regclass::text as table, conname as name from pg_constraint
    where connamespace = ${schema}::regnamespace and contype = 'c' and conislocal and coninhcount = 0`
  for (const { table, name } of checks) await database.sql.unsafe(`alter table ${table} drop constraint ${name}`)
  const tables = Map.groupBy(await columnsOf(database, schema), ({ table }) => table)
  await database.sql.begin(async (sql) => {
    await sql`set local session_replication_role = replica`
    for (const [table, columns] of tables) {
      const given = columns.filter(({ required }) => required)
      const value = ({ column, type }: Column) =>
        ofColumn[`${table}.${column}`] ??
        values[type] ??
        (/int|numeric|double|real/.test(type) ? '1' : type.endsWith('[]') ? `'{}'` : `'x'`)
      const names = given.map(({ column }) => column).join(', ')
      await sql.unsafe(
        given.length === 0
          ? `insert into ${schema}.${table} default values on conflict do nothing`
          : `insert into ${schema}.${table} (${names}) values (${given.map(value).join(', ')}) on conflict do nothing`,
      )
    }
  })
}

/** `table.column` → the column's values, as text. */
async function contentsOf(database: TestDatabase, schema: string): Promise<Map<string, string>> {
  const contents = new Map<string, string>()
  const tables = Map.groupBy(await columnsOf(database, schema), ({ table }) => table)
  for (const [table, columns] of tables) {
    const texts = columns.map(({ column }) => `coalesce(string_agg(${column}::text, ',' order by ${column}::text), '')`)
    const [row] = await database.sql.unsafe(`select array[${texts.join(', ')}] as all from ${schema}.${table}`)
    for (const [n, { column }] of columns.entries()) contents.set(`${table}.${column}`, row!.all[n])
  }
  return contents
}

describe.each(fileSets)('the migrations of %s', (set) => {
  const database = useDatabase()

  test('lose only the data that they name when they are taken back one by one', async () => {
    await fill(database, set)
    const names = (await migrationStatus({ databaseUrl: database.url })).filter((one) => one.set === set)
    let before = await contentsOf(database, set)
    for (const { name } of names.toReversed()) {
      await migrateDown({ databaseUrl: database.url, set, count: 1 })
      const [row] = await database.sql`select to_regnamespace(${set}) is not null as there`
      const after = row!.there ? await contentsOf(database, set) : new Map<string, string>()

      const file = readFileSync(new URL(`./${set}/migrations/${name}.down.sql`, import.meta.url), 'utf8')
      const changed = [...after].filter(([column, content]) => before.has(column) && before.get(column) !== content)
      const lost = [...before].filter(([column, content]) => content !== '' && !after.has(column))
      const says = /^-- Loses (?!nothing)/.test(file)
      expect(changed, name).toEqual([])
      const columns = lost.map(([column]) => column)
      expect(columns.length > 0 && !says ? columns : [], `${name}.down.sql does not begin with "-- Loses …"`).toEqual(
        [],
      )
      before = after
    }
  })
})
