// The schema graphile_worker. Its migrations come with the package and are applied by it; here they count
// as one migration, named after the package's version, so that status and several processes at once
// see it like the others.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Logger, runMigrations } from 'graphile-worker'
import type pg from 'pg'

const entry = createRequire(import.meta.url).resolve('graphile-worker')
const { version } = JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')) as { version: string }

export const workerMigration = `graphile_worker_${version}`

/** Applies what is missing of it. The caller holds the lock of all migrations. */
export async function installWorkerSchema(databaseUrl: string): Promise<void> {
  await runMigrations({ connectionString: databaseUrl, maxPoolSize: 1, logger: new Logger(() => () => {}) })
}

/** Drops the schema. Loses the jobs that wait; what they belong to is found again by its recovery. */
export async function dropWorkerSchema(client: pg.Client): Promise<void> {
  await client.query('drop schema if exists graphile_worker cascade')
}
