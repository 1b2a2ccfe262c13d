// Migrates the schemas dlq and saga up or down: node-pg-migrate runs the numbered NNN_name.up.sql / .down.sql files,
// each in its own transaction (or none, load-migrations.ts). The set "worker" is graphile-worker's schema.
// Two parts are ours: a polled try-lock, so that any number of processes may start at once (a session
// that waits inside pg_advisory_lock would hold a snapshot and deadlock with an index built
// concurrently), and checksums, so that an applied file that was changed is refused.

import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ConfigError } from 'dlq-core/runtime/config/config.ts'
import { type ServerFacts, serverFault, serverQuery } from 'dlq-core/runtime/database/server-support.ts'
import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { databaseUrlOf } from './database-url.ts'
import { loadMigrations } from './load-migrations.ts'
import { mendArchiveProcedure } from './lone-archive-procedure.ts'
import { checksum, directoryOf, type FileSet, fileNames, fileSets, laterThanOurs } from './migration-files.ts'
import { useOwnSettings } from './own-settings.ts'
import { isSetAside, isSpecified, moveRows, setAside } from './specified-rows.ts'
import { dropWorkerSchema, installWorkerSchema, workerMigration } from './worker-schema.ts'

/** The sets in the order in which they go up. */
export const migrationSets = [...fileSets, 'worker'] as const
export type MigrationSet = (typeof migrationSets)[number]

export type MigrateOptions = {
  databaseUrl: string
  log?: (line: string) => void
  /** How long to wait for another process that migrates, in milliseconds. */
  lockTimeoutMs?: number
}

/** `later`: of a version after this one. */
export type MigrationStatus = {
  set: MigrationSet
  name: string
  appliedAt: Date | null
  changed: boolean
  later: boolean
}

// Any constant, but always the same one.
const advisoryLockKey = 7_305_611_031n

/**
 * Applies every migration that is missing, or the next `count` of one set. Throws where an applied file was changed.
 * Returns the names it applied.
 */
export async function migrateUp(
  options: MigrateOptions & { only?: { set: MigrationSet; count: number } },
): Promise<string[]> {
  return withLock(options, (client) => allUp(client, options))
}

async function allUp(
  client: pg.Client,
  { databaseUrl, log, only }: Parameters<typeof migrateUp>[0],
): Promise<string[]> {
  const applied: string[] = []
  const note = (names: string[], set: MigrationSet) => {
    for (const name of names) log?.(`up ${set}/${name}`)
    applied.push(...names.map((name) => `${set}/${name}`))
  }
  // Whoever was killed has applied files, and not set the rights.
  let isUnfinished = false
  const sets = fileSets.filter((set) => only === undefined || only.set === set)
  for (const set of sets) {
    await refuseChangedFiles(client, set)
    isUnfinished ||= await hasUnremembered(client, set)
    // Going back to the version before begins here, too, and the schema may stay (infra/docs/upgrade.md).
    for (const name of await laterNames(client, set))
      log?.(`warning: the database has ${set}/${name} of a later version; the version before that works with it`)
    note(await runThrough(client, set, 'up', { count: only?.count ?? Number.POSITIVE_INFINITY, log }), set)
  }
  if (only === undefined || only.set === 'worker') note(await workerUp(client, databaseUrl), 'worker')
  if (applied.length > 0 || isUnfinished) {
    await mendArchiveProcedure(client)
    await applyGrants(client)
  }
  for (const set of sets) await rememberChecksums(client, set)
  return applied
}

/**
 * Takes over databases that the specification's own migrations made, with their rows, and applies every migration. One
 * that was interrupted goes on when it is called again. Returns how many rows of which table it took over.
 */
export async function adopt(options: MigrateOptions): Promise<Record<string, number>> {
  return withLock(options, async (client) => {
    const sets: FileSet[] = []
    for (const set of fileSets) {
      const begun = await isSetAside(client, set)
      if (!begun && !(await isSpecified(client, set))) continue
      if (!begun) await setAside(client, set)
      sets.push(set)
    }
    if (sets.length === 0) return {}
    await allUp(client, options)
    const taken: Record<string, number> = {}
    for (const set of sets) {
      for (const [table, rows] of Object.entries(await moveRows(client, set))) {
        options.log?.(`adopted ${rows} rows of ${set}.${table}`)
        taken[`${set}.${table}`] = rows
      }
    }
    return taken
  })
}

/** Reverts the last `count` migrations of one set (at least 1; Infinity: all). Returns their names. */
export async function migrateDown(options: MigrateOptions & { set: MigrationSet; count: number }): Promise<string[]> {
  // node-pg-migrate would take 0 for all.
  if (!(options.count >= 1)) throw new RangeError(`count must be at least 1, not ${options.count}`)
  return withLock(options, async (client) => {
    const names = options.set === 'worker' ? await workerDown(client) : await filesDown(client, options.set, options)
    await client.query('delete from migrations.checksums where set = $1 and name = any($2)', [options.set, names])
    await mendArchiveProcedure(client)
    for (const name of names) options.log?.(`down ${options.set}/${name}`)
    return names.map((name) => `${options.set}/${name}`)
  })
}

/** Every migration file, with the time when it was applied, and what a later version has applied. */
export async function migrationStatus(options: MigrateOptions): Promise<MigrationStatus[]> {
  return withLock(options, async (client) => {
    const status: MigrationStatus[] = []
    for (const set of migrationSets) {
      const remembered = await appliedMigrations(client, set)
      const applied = set === 'worker' ? remembered : await ranFiles(client, set)
      const changed = new Set(set === 'worker' ? [] : changedFiles(set, remembered))
      const later = set === 'worker' ? [] : await laterNames(client, set)
      for (const name of [...migrationNames(set), ...later]) {
        const row = applied.find((row) => row.name === name)
        // What is remembered is right in any time zone.
        const known = row && (remembered.find((row) => row.name === name) ?? row)
        status.push({
          set,
          name,
          appliedAt: known?.applied_at ?? null,
          changed: changed.has(name),
          later: later.includes(name),
        })
      }
    }
    return status
  })
}

/** The names applied: none if this version's schema exists. */
async function workerUp(client: pg.Client, databaseUrl: string): Promise<string[]> {
  const applied = await appliedMigrations(client, 'worker')
  if (applied.some(({ name }) => name === workerMigration)) return []
  await installWorkerSchema(databaseUrl)
  const sha256 = createHash('sha256').update(workerMigration).digest('hex')
  // An older version's row has nothing left to revert.
  await client.query(
    `with former as (delete from migrations.checksums where set = 'worker')
     insert into migrations.checksums (set, name, sha256) values ('worker', $1, $2)`,
    [workerMigration, sha256],
  )
  return [workerMigration]
}

async function workerDown(client: pg.Client): Promise<string[]> {
  const applied = await appliedMigrations(client, 'worker')
  await dropWorkerSchema(client)
  return applied.map(({ name }) => name)
}

async function filesDown(
  client: pg.Client,
  set: FileSet,
  { count, log }: { count: number; log?: MigrateOptions['log'] },
): Promise<string[]> {
  await refuseChangedFiles(client, set)
  const later = (await laterNames(client, set)).at(-1)
  if (later !== undefined)
    throw new Error(`${set}/${later} is of a later version: take it back by the migrate.ts of that version`)
  return runThrough(client, set, 'down', { count, log })
}

async function withLock<T>(options: MigrateOptions, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { databaseUrl, log, lockTimeoutMs = 120_000 } = options
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'dlq-migrate' })
  await client.connect()
  try {
    await useOwnSettings(client)
    const { rows } = await client.query<ServerFacts>(serverQuery)
    const fault = serverFault(rows[0]!)
    if (fault?.level === 'error') throw new Error(fault.message)
    if (fault) log?.(`warning: ${fault.message}`)
    const deadline = Date.now() + lockTimeoutMs
    for (let polls = 0; !(await tryLock(client)); polls += 1) {
      if (polls === 0) log?.('another process is migrating; waiting for it')
      if (Date.now() > deadline)
        throw new Error(`another process has been migrating for over ${lockTimeoutMs / 1000} s`)
      await sleep(100 + Math.random() * 100)
    }
    await client.query(`
      create schema if not exists migrations;
      create table if not exists migrations.checksums (
        set text, name text, sha256 text not null, applied_at timestamptz not null default now(), primary key (set, name))`)
    return await work(client)
  } finally {
    // Ending the session releases the lock.
    await client.end()
  }
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [advisoryLockKey])
  return rows[0].locked
}

const maxLostLocks = 20

/**
 * As `runFiles`, while services store messages: a migration that lost a lock to one of them is rolled back, and run again.
 * Each file can be run again (load-migrations.ts).
 */
async function runThrough(
  client: pg.Client,
  set: FileSet,
  direction: 'up' | 'down',
  { count, log }: { count: number; log: MigrateOptions['log'] },
): Promise<string[]> {
  const names = async () => (await ranFiles(client, set)).map(({ name }) => name)
  const before = await names()
  for (let lost = 0; ; lost += 1) {
    const now = await names()
    const done =
      direction === 'up'
        ? now.filter((name) => !before.includes(name))
        : before.filter((name) => !now.includes(name)).toReversed()
    try {
      return done.length >= count ? done : [...done, ...(await runFiles(client, set, direction, count - done.length))]
    } catch (error) {
      if (!hasLostLock(error) || lost === maxLostLocks) throw error
      await client.query('rollback')
      await client.query('reset lock_timeout')
      log?.(`a migration lost a lock to a service that runs: ${(error as Error).message}; once more`)
      await sleep(100 + Math.random() * 400)
    }
  }
}

/** deadlock_detected, lock_not_available */
function hasLostLock(error: unknown): boolean {
  return ['40P01', '55P03'].includes((error as { code?: string }).code ?? '')
}

/** The files that are applied now, whether or not the process that applied them could finish. */
async function ranFiles(client: pg.Client, set: FileSet): Promise<{ name: string; applied_at: Date }[]> {
  const table = `migrations.${set}`
  const { rows: known } = await client.query('select to_regclass($1) is not null as there', [table])
  if (!known[0].there) return []
  // run_on has no time zone: it is this session's, so PostgreSQL converts it and not the client.
  const { rows } = await client.query(`select name, run_on::timestamptz as applied_at from ${table} order by id`)
  return rows
}

async function laterNames(client: pg.Client, set: FileSet): Promise<string[]> {
  return (await ranFiles(client, set)).map(({ name }) => name).filter(laterThanOurs(set))
}

async function hasUnremembered(client: pg.Client, set: FileSet): Promise<boolean> {
  const remembered = await appliedMigrations(client, set)
  return (await ranFiles(client, set)).some(({ name }) => !remembered.some((row) => row.name === name))
}

/** Applies or reverts the next `count` migrations of a set. Returns their names. It looks after no checksums and no rights. */
export async function runFiles(
  client: pg.Client,
  set: FileSet,
  direction: 'up' | 'down',
  count: number,
): Promise<string[]> {
  const ran = await runner({
    dbClient: client,
    dir: directoryOf(set),
    direction,
    count,
    migrationsTable: set,
    migrationsSchema: 'migrations',
    migrationLoaderStrategies: [{ extensions: ['.sql'], loader: loadMigrations }],
    singleTransaction: false,
    noLock: true,
    checkOrder: true,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  return ran.map(({ name }) => name)
}

/** Sets the roles' rights again, because every role may call new functions until then. */
async function applyGrants(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select to_regprocedure('dlq.apply_grants()') is not null as there`)
  if (rows[0].there) await client.query('select dlq.apply_grants()')
}

async function refuseChangedFiles(client: pg.Client, set: FileSet): Promise<void> {
  // Whoever was killed has taken files back, and not forgotten them.
  const names = (await ranFiles(client, set)).map(({ name }) => name)
  await client.query('delete from migrations.checksums where set = $1 and name <> all($2)', [set, names])
  const changed = changedFiles(set, await appliedMigrations(client, set))
  if (changed.length > 0) {
    const files = changed.map((name) => `db/${set}/migrations/${name}.up.sql`).join(', ')
    throw new Error(
      `${files}: changed or removed after it was applied; put the file back as it was and write a new migration`,
    )
  }
}

type AppliedMigration = { name: string; sha256: string; applied_at: Date }

async function appliedMigrations(client: pg.Client, set: MigrationSet): Promise<AppliedMigration[]> {
  const { rows } = await client.query('select name, sha256, applied_at from migrations.checksums where set = $1', [set])
  return rows
}

function migrationNames(set: MigrationSet): string[] {
  return set === 'worker' ? [workerMigration] : fileNames(set)
}

function changedFiles(set: FileSet, applied: AppliedMigration[]): string[] {
  const present = new Set(fileNames(set))
  const isLater = laterThanOurs(set)
  return applied
    .filter(({ name }) => !isLater(name))
    .filter(({ name, sha256 }) => !present.has(name) || checksum(set, name) !== sha256)
    .map(({ name }) => name)
}

async function rememberChecksums(client: pg.Client, set: FileSet): Promise<void> {
  const isLater = laterThanOurs(set)
  for (const { name, applied_at } of await ranFiles(client, set)) {
    if (isLater(name)) continue
    await client.query('insert into migrations.checksums values ($1, $2, $3, $4) on conflict do nothing', [
      ...[set, name, checksum(set, name), applied_at],
    ])
  }
}

const usage = `usage: node db/migrate.ts up [SET [COUNT]]     all sets, unless SET says which; all migrations, unless COUNT says how many
       node db/migrate.ts adopt                takes over a database of the specification's own migrations, with its rows
       node db/migrate.ts down SET [COUNT]     SET is dlq, saga or worker, COUNT (1 unless given) or "all"
       node db/migrate.ts status
DATABASE_URL says which database, for example postgres://user:password@127.0.0.1:5432/dlq_db; so do the
services' own settings (DLQ_DATABASE_HOST … or the file that DLQ_CONFIG names).`

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { help: { type: 'boolean' } } })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const [command, set, count = command === 'up' ? 'all' : '1'] = positionals
  const number = count === 'all' ? Number.POSITIVE_INFINITY : Number(count)
  const isOneSet = migrationSets.includes(set as MigrationSet) && /^([1-9]\d*|all)$/.test(count)
  const databaseUrl = databaseUrlOf(process.env)
  const log = (line: string) => console.log(line)
  if (command === 'up' && (set === undefined || isOneSet)) {
    const only = set === undefined ? {} : { only: { set: set as MigrationSet, count: number } }
    const applied = await migrateUp({ databaseUrl, log, ...only })
    if (applied.length === 0) log('nothing to do: every migration is applied')
    return 0
  }
  if (command === 'adopt' && set === undefined) {
    if (Object.keys(await adopt({ databaseUrl, log })).length === 0)
      log("nothing to do: there is no schema of the specification's own migrations")
    return 0
  }
  if (command === 'down' && isOneSet) {
    await migrateDown({ databaseUrl, log, set: set as MigrationSet, count: number })
    return 0
  }
  if (command === 'status') {
    for (const { set, name, appliedAt, changed, later } of await migrationStatus({ databaseUrl, log })) {
      const said = changed ? '  CHANGED SINCE' : later ? '  OF A LATER VERSION' : ''
      log(`${appliedAt?.toISOString() ?? 'not applied             '}  ${set}/${name}${said}`)
    }
    return 0
  }
  console.error(usage)
  return 64
}

if (import.meta.main) {
  process.exitCode = await main().catch((error: Error & { code?: string }) => {
    const exit = error instanceof ConfigError ? 78 : error.code?.startsWith('ERR_PARSE_ARGS') ? 64 : 1
    console.error(exit === 1 ? error.message : `${error.message}\n${usage}`)
    return exit
  })
}
