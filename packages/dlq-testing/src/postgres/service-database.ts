// The pool that a service would open on a test file's database: JSON as text, bigints as bigints.

import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { connectDatabase, type Database } from 'dlq-core/runtime/database/database.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { afterAll, beforeAll } from 'vitest'
import type { TestDatabase } from './test-database.ts'

/** The handle for the queries of dlq-core, usable inside hooks and tests. */
export type ServiceDatabase = { readonly sql: Database }

/** Call after `useDatabase`, whose database it connects to; closed for you. */
export function useServiceDatabase(database: TestDatabase): ServiceDatabase {
  let sql: Database | undefined
  beforeAll(() => {
    sql = connectAsService(database.url)
  })
  afterAll(async () => {
    await sql?.end({ timeout: 5 })
  })
  return {
    get sql() {
      if (!sql) throw new Error('useServiceDatabase(): the pool exists only inside hooks and tests')
      return sql
    },
  }
}

/** The pool itself, for callers that close it. `env`: further settings. */
export function connectAsService(databaseUrl: string, env: NodeJS.ProcessEnv = {}): Database {
  const { config } = loadConfig({ env: { ...env, DATABASE_URL: databaseUrl }, yaml: null, needs: ['database'] })
  return connectDatabase(config.database, {
    applicationName: 'test-service',
    // Jobs work on it, too.
    silenceMs: null,
    log: createLog({ service: 'test', level: 'silent' }),
  })
}
