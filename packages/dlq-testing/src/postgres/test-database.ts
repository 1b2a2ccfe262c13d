// One database per test file, cloned from the run's migrated template in a fraction of a
// second, so files run side by side without seeing each other's rows. At the end of the file no
// connection may be open: an open one is a leak of the tested code.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, inject } from 'vitest'
import { withMaintenance } from './maintenance.ts'
import '../provided.ts'

/** The file's database; usable inside hooks and tests. */
export type TestDatabase = {
  /** For the tested code. */
  readonly url: string
  /** A pool of up to 10 connections for the test itself; closed for you. */
  readonly sql: postgres.Sql
}

// A pool that was ended is still in pg_stat_activity for a moment.
const leakGraceMs = 30_000

/**
 * Call once at the top of a `.pg.test.ts` or `.kafka.test.ts`, before other hooks. `empty` gives
 * a database without our schemas, for testing the migrations themselves.
 */
export function useDatabase({ empty = false }: { empty?: boolean } = {}): TestDatabase {
  let opened: { url: string; sql: postgres.Sql; name: string } | undefined

  beforeAll(async () => {
    const { databaseUrl, templateDatabase, runId } = inject('testStack')
    const name = `${runId}_${randomBytes(5).toString('hex')}`
    const template = empty ? 'template0' : templateDatabase
    // As files: where fsync is off, that takes two thirds of the CPU of copying through shared buffers and WAL.
    await withMaintenance(
      databaseUrl,
      (sql) => sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`,
    )
    const url = new URL(databaseUrl)
    url.pathname = name
    const sql = postgres(url.href, { max: 10, onnotice: () => {}, connection: { application_name: 'test' } })
    opened = { url: url.href, sql, name }
  })

  // Hooks after the tests run in reverse order, so this one comes after the file's own.
  afterAll(async () => {
    if (!opened) return
    const { sql, name } = opened
    await sql.end({ timeout: 5 })
    await withMaintenance(inject('testStack').databaseUrl, async (sql) => {
      try {
        await refuseLeaks(sql, name)
      } finally {
        await sql`drop database if exists ${sql(name)} with (force)`
      }
    })
  })

  const use = () => {
    if (!opened) throw new Error('useDatabase(): the database exists only inside hooks and tests')
    return opened
  }
  return {
    get url() {
      return use().url
    },
    get sql() {
      return use().sql
    },
  }
}

/** A line for every client connected to `database`, except the caller's. */
export async function leaksOf(sql: postgres.Sql, database: string): Promise<string[]> {
  const leaks = await sql<{ application_name: string; state: string | null; query: string }[]>`
    select application_name, state, query
      from pg_stat_activity
     where datname = ${database}
       and backend_type = 'client backend'
       and pid <> pg_backend_pid()`
  return leaks.map((leak) => `${leak.application_name || '(no name)'}, ${leak.state}: ${leak.query}`)
}

async function refuseLeaks(sql: postgres.Sql, database: string): Promise<void> {
  const deadline = Date.now() + leakGraceMs
  let leaks = await leaksOf(sql, database)
  while (leaks.length > 0 && Date.now() < deadline) {
    await sleep(50)
    leaks = await leaksOf(sql, database)
  }
  if (leaks.length > 0) {
    throw new Error(`${leaks.length} connection(s) to the test database were not closed:\n  ${leaks.join('\n  ')}`)
  }
}
