// The promises of useDatabase() to a test file.
import postgres from 'postgres'
import { afterAll, expect, test } from 'vitest'
import { withMaintenance } from './maintenance.ts'
import { leaksOf, useDatabase } from './test-database.ts'

const database = useDatabase()
const open: postgres.Sql[] = []

afterAll(() => Promise.all(open.map((sql) => sql.end())))

test('a test file gets its own database with our schemas in it', async () => {
  const [row] = await database.sql`
    select current_database() as name, to_regnamespace('dlq') is not null as migrated`

  expect(row).toEqual({ name: new URL(database.url).pathname.slice(1), migrated: true })
})

test('a connection that was not closed is reported with its name and last statement', async () => {
  const forgotten = postgres(database.url, { max: 1, connection: { application_name: 'forgetful' } })
  open.push(forgotten)
  await forgotten`select 'left open' as statement`

  const name = new URL(database.url).pathname.slice(1)
  const leaks = await withMaintenance(database.url, (sql) => leaksOf(sql, name))

  expect(leaks.filter((leak) => leak.includes('forgetful'))).toEqual([
    expect.stringMatching(/^forgetful, idle: .*left open/s),
  ])
})
