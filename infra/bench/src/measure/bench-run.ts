// The environment of every benchmark, and its databases: a new one per round, so that no round inherits another's bloat.

import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { connectDatabase, type Database } from 'dlq-core/runtime/database/database.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { runFrom, type ServiceName, type ServiceProcess, startService } from 'dlq-testing/fleet/service-process.ts'
import { withMaintenance } from 'dlq-testing/postgres/maintenance.ts'
import type { Reaper } from 'dlq-testing/process/reaper.ts'
import type { Stack } from 'dlq-testing/stack.ts'
import kafkajs from 'kafkajs'
import { migrateUp } from '../../../../db/migrate.ts'

export type BenchRun = {
  stack: Stack
  reaper: Reaper
  /** The folder of the services' logs. */
  logDir: string
  quick: boolean
  rounds: number
  /** Runs only cases of the API's benchmark whose names contain one of these. Null: all. */
  only: readonly string[] | null
  /** The number of rows of the size benchmark's large database. */
  rows: number
  /** The folder of another checkout, whose services are compared with ours. Null: none is named. */
  against: string | null
  print: (line: string) => void
}

export type BenchDatabase = { url: string; sql: Database }

/** Runs `work` on a new database with our schemas in it, or with what `migrate` makes, and drops it. */
export async function withBenchDatabase<T>(
  { stack }: BenchRun,
  work: (database: BenchDatabase) => Promise<T>,
  migrate: (databaseUrl: string) => Promise<unknown> = (databaseUrl) => migrateUp({ databaseUrl }),
): Promise<T> {
  const name = `dlq_bench_${process.pid}_${Date.now().toString(36)}`
  await withMaintenance(stack.databaseUrl, (sql) => sql`create database ${sql(name)}`)
  const url = new URL(stack.databaseUrl)
  url.pathname = name
  try {
    await migrate(url.href)
    const sql = connectBench(url.href)
    try {
      return await work({ url: url.href, sql })
    } finally {
      await sql.end({ timeout: 5 })
    }
  } finally {
    await withMaintenance(stack.databaseUrl, (sql) => sql`drop database if exists ${sql(name)} with (force)`)
  }
}

/** The services' client settings, so that a floor differs from a service only in its work. */
export function connectBench(url: string): Database {
  const { config } = loadConfig({ env: { DATABASE_URL: url }, yaml: null, needs: ['database'] })
  const log = createLog({ service: 'bench', level: 'warn' })
  return connectDatabase(config.database, { applicationName: 'dlq-bench', log })
}

export function connectBenchKafka({ stack }: BenchRun): kafkajs.Kafka {
  return new kafkajs.Kafka({ clientId: 'dlq-bench', brokers: stack.kafkaBrokers, logLevel: kafkajs.logLevel.NOTHING })
}

export type BenchService = {
  name: ServiceName
  databaseUrl: string
  env: NodeJS.ProcessEnv
  /** The folder of the checkout that it is started from. Ours unless given. */
  root?: string | undefined
}

/** Starts a service. The caller stops it. */
export async function startBenchService(
  { stack, reaper, logDir }: BenchRun,
  { name, databaseUrl, env, root }: BenchService,
): Promise<ServiceProcess> {
  const logFile = `${logDir}/${name}.log`
  const command = root === undefined ? undefined : runFrom(root)
  return startService({ name, databaseUrl, kafkaBrokers: stack.kafkaBrokers, reaper, logFile, env, command })
}

/** Runs `work` beside a service of ours, and stops it. */
export async function withService<T>(
  run: BenchRun,
  options: BenchService,
  work: (service: ServiceProcess) => Promise<T>,
): Promise<T> {
  const service = await startBenchService(run, options)
  try {
    return await work(service)
  } finally {
    await service.stop('SIGTERM', 15_000)
  }
}

/** Writes dirty pages now, and not while the next variant is measured. */
export async function settleDatabase({ sql }: BenchDatabase): Promise<void> {
  await sql`checkpoint`
}
