// Change data capture beside us: Debezium makes a publication for all tables of a database where it is not told otherwise
// (publication.autocreate.mode). PostgreSQL then refuses changes of tables whose rows it cannot name to a subscriber.
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'

const database = useDatabase()

test('a publication for all tables takes nothing from what may be changed', async () => {
  const { sql } = database
  await sql`create publication everything for all tables`
  const tables = await sql<{ name: string; column: string }[]>`
    select quote_ident(nspname) || '.' || quote_ident(relname) as name,
           (select quote_ident(attname) from pg_attribute
            where attrelid = c.oid and attnum > 0 and attgenerated = '' and attidentity = '' and not attisdropped
            order by attnum limit 1) as column
    from pg_class c join pg_namespace n on n.oid = relnamespace
    where relkind in ('r', 'p') and relpersistence = 'p' and nspname !~ '^pg_|^information_schema$'`
  const names = tables.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['dlq.dlq_messages', 'dlq.dlq_summary_deltas', 'saga.saga_states']))

  const refused: string[] = []
  for (const { name, column } of tables) {
    // PostgreSQL looks at the table's identity also where no row is changed.
    for (const change of [`update ${name} set ${column} = ${column} where false`, `delete from ${name} where false`])
      await sql.unsafe(change).catch((error: Error) => refused.push(error.message))
  }
  expect(refused).toEqual([])
})
