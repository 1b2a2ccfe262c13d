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
import type { RecordKind } from '../ingest/real-dead-letters.ts'
import type { Measurement } from './measure.ts'

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
  /** Which records the benchmarks `ingest` and `versions` are made of. */
  records: RecordKind
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
  // Millions of rows are made by one statement.
  return connectDatabase(config.database, { applicationName: 'dlq-bench', log, silenceMs: null })
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

/** Adds what each of the `rows` rows that `work` handles has cost in WAL. */
export async function withWal(
  { sql }: BenchDatabase,
  rows: number,
  work: () => Promise<Measurement>,
): Promise<Measurement & { walBytes: number }> {
  const position = async () => {
    const [row] = await sql<{ bytes: number }[]>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes`
    return row!.bytes
  }
  const before = await position()
  const measured = await work()
  return { ...measured, walBytes: ((await position()) - before) / rows }
}

/** The bytes of all tables of the schema dlq, with indexes, TOAST, and what rows share. */
export async function tableBytes({ sql }: BenchDatabase): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select sum(pg_total_relation_size(c.oid))::float8 as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'dlq' and c.relkind = 'r'`
  return row!.bytes
}

/** Writes dirty pages now, and not while the next variant is measured. */
export async function settleDatabase({ sql }: BenchDatabase): Promise<void> {
  await sql`checkpoint`
}
