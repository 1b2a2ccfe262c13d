// Once per vitest run: the servers that the chosen test files need, and the migrated
// template that test databases are cloned from. Projects share them: each project loads
// this module for itself, so shared state is a property of the process. fsync is off because the
// data is thrown away.
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { migrateUp } from 'dlq-db/migrate.ts'
import type { TestProject } from 'vitest/node'
import { keepCluster } from './fleet/kept-cluster.ts'
import { bundleServices } from './fleet/service-bundles.ts'
import { serviceNames } from './fleet/service-process.ts'
import { archiveBrokerClasses } from './kafka/kafka.ts'
import { withMaintenance } from './postgres/maintenance.ts'
import { createReaper, type Reaper } from './process/reaper.ts'
import type { TestStack } from './provided.ts'
import { type Stack, type StackOptions, startStack } from './stack.ts'

const devDir = fileURLToPath(new URL('../../../.dev/', import.meta.url))
const folderName = `dlq-test-${process.pid}`
const dataDir = join(devDir, folderName)
/** Linux's file system in memory. */
const memoryDir = '/dev/shm'
const minMemoryBytes = 4 * 1024 ** 3
const soak = process.env.DLQ_SOAK === '1'
const runId = `dlqt_${Date.now().toString(36)}_${process.pid}`
const run = promisify(execFile)
const postgresSettings = {
  ...{ fsync: 'off', full_page_writes: 'off', shared_buffers: '128MB' },
  // No test reads the WAL, and in memory it should be short.
  ...{ wal_level: 'minimal', max_wal_senders: '0', max_wal_size: '256MB' },
  // It would look at a table in the middle of a test, find it empty, and make a statement take a hundred times as long.
  autovacuum: 'off',
}

/** Holds what tests write. */
const testDir = chooseTestDir()

type Shared = {
  users: number
  runId: string
  reaper: Reaper
  database: Promise<{ stack: Stack; templateDatabase: string }>
  prepared: Promise<unknown>
  kafka?: Promise<Stack>
  archived?: Promise<void>
}

const key = Symbol.for('dlq-testing.shared-stack')
const holder = globalThis as { [key]?: Shared }

/** vitest calls this for every project that has files to run, and calls the returned function at the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = open()
  shared.users++
  try {
    project.provide('testStack', await start(shared, { withKafka: project.name !== 'pg' }))
  } catch (error) {
    await release(shared)
    throw error
  }
  return () => release(shared)
}

function open(): Shared {
  if (holder[key]) return holder[key]
  mkdirSync(devDir, { recursive: true })
  removeAbandoned()
  if (testDir !== dataDir) keepTemporaryFilesInMemory()
  const reaper = createReaper()
  holder[key] = { users: 0, runId, reaper, database: startDatabase(reaper), prepared: prepareServices() }
  return holder[key]
}

/** Servers that tests start for themselves are quicker there, too. Workers begin after this, and inherit it. */
function keepTemporaryFilesInMemory(): void {
  const folder = join(testDir, 'tmp')
  mkdirSync(folder, { recursive: true })
  if (!runsPrograms(folder)) return
  process.env.DLQ_TEST_LOGS = tmpdir()
  process.env.TMPDIR = folder
}

/** Tests also write programs there, and containers often have a memory file system that runs none. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, 'probe')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  return spawnSync(program).status === 0
}

async function start(shared: Shared, { withKafka }: { withKafka: boolean }): Promise<TestStack> {
  if (withKafka) {
    const { reaper } = shared
    const kafkaBrokers = process.env.KAFKA_BROKERS
    shared.kafka ??= startStack({ dataDir: testDir, reaper, log, kafkaBrokers, withoutPostgres: true })
    // Nobody waits for it: brokers that start before it is there start more slowly.
    if (!kafkaBrokers)
      shared.archived ??= shared.kafka.then(
        () => archive(reaper),
        () => {},
      )
  }
  const [{ stack, templateDatabase }, kafka] = await Promise.all([shared.database, shared.kafka, shared.prepared])
  const { databaseUrl } = stack
  return { databaseUrl, templateDatabase, runId: shared.runId, kafkaBrokers: kafka?.kafkaBrokers ?? [] }
}

function archive(reaper: Reaper): Promise<void> {
  return archiveBrokerClasses({ dataDir: join(testDir, 'archive'), reaper }).catch((error: Error) => log(error.message))
}

async function startDatabase(reaper: Reaper): Promise<{ stack: Stack; templateDatabase: string }> {
  const given = process.env.DATABASE_URL
  const options = { dataDir: testDir, reaper, log, databaseUrl: given, postgresSettings, withoutKafka: true }
  const templateDatabase = `${runId}_template`
  if (!given) await keepMigratedCluster(options)
  const stack = await startStack(options)
  const source = given ? 'template0' : 'postgres'
  await withMaintenance(
    stack.databaseUrl,
    (sql) => sql`create database ${sql(templateDatabase)} template ${sql(source)} strategy file_copy`,
  )
  const url = new URL(stack.databaseUrl)
  url.pathname = templateDatabase
  await migrateUp({ databaseUrl: url.href })
  return { stack, templateDatabase }
}

/** Makes the cluster and migrates its database `postgres`, which becomes the template's source. */
async function keepMigratedCluster(options: StackOptions): Promise<void> {
  const stack = await startStack(options)
  try {
    await migrateUp({ databaseUrl: stack.databaseUrl })
  } finally {
    await stack.stop()
  }
  await keepCluster(join(testDir, 'postgres'), join(testDir, 'kept', 'postgres'))
}

/** Bundles the services, and fills Node's compile cache: without configuration a service ends as soon as it is loaded. */
async function prepareServices(): Promise<void> {
  if (soak) return
  const bundles = join(dataDir, 'services')
  await bundleServices(bundles)
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
  await Promise.allSettled(serviceNames.map((name) => run(process.execPath, [join(bundles, `${name}.mjs`)], { env })))
  // Workers begin after this, and inherit it.
  process.env.DLQ_TEST_SERVICES = bundles
}

/** The last project to end stops the servers and deletes all data, also in a database that we did not start. */
async function release(shared: Shared): Promise<void> {
  if (--shared.users > 0) return
  delete holder[key]
  const [database, kafka] = await Promise.allSettled([shared.database, shared.kafka, shared.archived])
  if (kafka.status === 'fulfilled') await kafka.value?.stop({ discard: true })
  if (database.status === 'fulfilled') {
    await dropDatabases(database.value.stack, shared.runId)
    await database.value.stack.stop({ discard: true })
  }
  await shared.reaper.close()
  for (const folder of [dataDir, testDir]) rmSync(folder, { recursive: true, force: true })
}

async function dropDatabases(stack: Stack, prefix: string): Promise<void> {
  if (stack.postgres) return // Deleted whole.
  await withMaintenance(stack.databaseUrl, async (sql) => {
    const left = await sql<{ datname: string }[]>`
      select datname from pg_database where starts_with(datname, ${prefix})`
    for (const { datname } of left) await sql`drop database if exists ${sql(datname)} with (force)`
  })
}

/** Killed runs leave their folders. Deletes each folder whose process (the number in its name) has ended. */
function removeAbandoned(): void {
  for (const folder of [devDir, memoryDir].filter((folder) => existsSync(folder))) {
    for (const name of readdirSync(folder)) {
      const pid = Number(/^dlq-test-(\d+)$/.exec(name)?.[1])
      if (pid && !isAlive(pid) && isOurs(join(folder, name)))
        rmSync(join(folder, name), { recursive: true, force: true })
    }
  }
}

/** Everybody who may use our clone may write in it, but the memory file system has the folders of all users. */
function isOurs(folder: string): boolean {
  return process.getuid?.() === 0 || statSync(folder).uid === process.getuid?.()
}

/**
 * In memory where there is room. Each test file clones 600 small files, and ext4 needs long to find numbers for
 * new files after many were deleted: it took a sixth of PostgreSQL's time.
 */
function chooseTestDir(): string {
  if (soak || !existsSync(memoryDir)) return dataDir
  const { bavail, bsize } = statfsSync(memoryDir)
  return bavail * bsize < minMemoryBytes ? dataDir : join(memoryDir, folderName)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function log(line: string): void {
  process.stderr.write(`${line}\n`)
}
