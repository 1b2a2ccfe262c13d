// The schema graphile_worker. The package brings and applies its own migrations. Here they count as one
// migration, named after the package's version, so that `status` and concurrent processes treat it like the
// others.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Logger, runMigrations } from 'graphile-worker'
import pg from 'pg'
import { useOwnSettings } from './own-settings.ts'

const entry = createRequire(import.meta.url).resolve('graphile-worker')
const { version } = JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')) as { version: string }

export const workerMigration = `graphile_worker_${version}`

/** Applies the missing migrations. The caller holds the lock of all migrations. */
export async function installWorkerSchema(databaseUrl: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  // A connection that is lost while nobody uses it would end the process. A query on a lost one fails by itself.
  const ignore = () => {}
  pool.on('error', ignore)
  pool.on('connect', (client) => {
    client.on('error', ignore)
    // Before what the pool's user asks. A fault here is one there, too.
    useOwnSettings(client).catch(ignore)
  })
  try {
    await runMigrations({ pgPool: pool, logger: new Logger(() => () => {}) })
  } finally {
    await pool.end()
  }
}

/** Drops the schema and its waiting jobs. The recovery of runs and sagas adds their jobs again. */
export async function dropWorkerSchema(client: pg.Client): Promise<void> {
  await client.query('drop schema if exists graphile_worker cascade')
}
