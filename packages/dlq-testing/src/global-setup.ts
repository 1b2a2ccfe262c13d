// Once per vitest run: the servers that the chosen test files need, and the migrated
// template that test databases are cloned from. Projects share them: each project loads
// this module for itself, so what they share hangs on the process. fsync is off because the
// data is thrown away.
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { migrateUp } from 'dlq-db/migrate.ts'
import type { TestProject } from 'vitest/node'
import { withMaintenance } from './maintenance.ts'
import type { TestStack } from './provided.ts'
import { createReaper, type Reaper } from './reaper.ts'
import { serviceMain, serviceNames } from './service-process.ts'
import { type Stack, startStack } from './stack.ts'

const devDir = fileURLToPath(new URL('../../../.dev/', import.meta.url))
const dataDir = join(devDir, `test-${process.pid}`)
const runId = `dlqt_${Date.now().toString(36)}_${process.pid}`
const run = promisify(execFile)
const postgresSettings = { fsync: 'off', full_page_writes: 'off', shared_buffers: '128MB' }

type Shared = {
  users: number
  runId: string
  reaper: Reaper
  database: Promise<{ stack: Stack; templateDatabase: string }>
  compiled: Promise<unknown>
  kafka?: Promise<Stack>
}

const key = Symbol.for('dlq-testing.shared-stack')
const holder = globalThis as { [key]?: Shared }

/** Called by vitest for every project that has files to run; returns what undoes it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = open()
  shared.users++
  try {
    project.provide('testStack', await start(shared, { withKafka: project.name === 'kafka' }))
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
  const reaper = createReaper()
  holder[key] = { users: 0, runId, reaper, database: startDatabase(reaper), compiled: compileServices() }
  return holder[key]
}

async function start(shared: Shared, { withKafka }: { withKafka: boolean }): Promise<TestStack> {
  const { stack, templateDatabase } = await shared.database
  const { databaseUrl } = stack
  if (withKafka) {
    const kafkaBrokers = process.env.KAFKA_BROKERS
    shared.kafka ??= startStack({ dataDir, reaper: shared.reaper, log, databaseUrl, kafkaBrokers })
  }
  const kafka = await shared.kafka
  await shared.compiled
  return { databaseUrl, templateDatabase, runId: shared.runId, kafkaBrokers: kafka?.kafkaBrokers ?? [] }
}

async function startDatabase(reaper: Reaper): Promise<{ stack: Stack; templateDatabase: string }> {
  const databaseUrl = process.env.DATABASE_URL
  const stack = await startStack({ dataDir, reaper, log, databaseUrl, postgresSettings, withoutKafka: true })
  const templateDatabase = `${runId}_template`
  await withMaintenance(stack.databaseUrl, (sql) => sql`create database ${sql(templateDatabase)} template template0`)
  const url = new URL(stack.databaseUrl)
  url.pathname = templateDatabase
  await migrateUp({ databaseUrl: url.href })
  return { stack, templateDatabase }
}

/** Fills Node's compile cache (vitest.config.ts): bare, a service ends with a complaint once it is loaded. */
function compileServices(): Promise<unknown> {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
  return Promise.allSettled(serviceNames.map((name) => run(process.execPath, [serviceMain(name)], { env })))
}

/** The last project to end stops everything and leaves nothing behind, in a foreign database neither. */
async function release(shared: Shared): Promise<void> {
  if (--shared.users > 0) return
  delete holder[key]
  const [database, kafka] = await Promise.allSettled([shared.database, shared.kafka])
  if (kafka.status === 'fulfilled') await kafka.value?.stop({ discard: true })
  if (database.status === 'fulfilled') {
    await dropDatabases(database.value.stack, shared.runId)
    await database.value.stack.stop({ discard: true })
  }
  await shared.reaper.close()
  rmSync(dataDir, { recursive: true, force: true })
}

async function dropDatabases(stack: Stack, prefix: string): Promise<void> {
  if (stack.postgres) return // Deleted whole.
  await withMaintenance(stack.databaseUrl, async (sql) => {
    const left = await sql<{ datname: string }[]>`
      select datname from pg_database where starts_with(datname, ${prefix})`
    for (const { datname } of left) await sql`drop database if exists ${sql(datname)} with (force)`
  })
}

/** Runs that were killed leave their data; the number in its name is a process that is no more. */
function removeAbandoned(): void {
  for (const name of readdirSync(devDir)) {
    const pid = Number(/^test-(\d+)$/.exec(name)?.[1])
    if (pid && !isAlive(pid)) rmSync(join(devDir, name), { recursive: true, force: true })
  }
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
