// Surrounds every service's main: configuration, log, metrics, signals, and an orderly end. The first
// SIGTERM or SIGINT drains, the second ends the process at once, and a drain that takes too long is
// aborted.

import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { ConfigError, type Need } from './config/config.ts'
import { configPath, readConfig } from './config/config-files.ts'
import type { Config } from './config/config-schema.ts'
import { describeConfig } from './config/effective-config.ts'
import { connectDatabase, proveLogin } from './database/database.ts'
import { type DatabaseLogin, followLogin } from './database/database-login.ts'
import { joinEmbeddedDatabase } from './database/embedded-database.ts'
import { type ServerFacts, serverFault, serverQuery } from './database/server-support.ts'
import { createLog, type Log } from './log.ts'
import { runLoop } from './run-loop.ts'
import { startTracing } from './start-tracing.ts'
import { createCertificateMetrics } from './tls/own-certificates.ts'
import type { Tracing } from './tracing.ts'

// sysexits.h: starting again will not help.
const exitUsage = 64
const exitConfig = 78
/** How long --check-config waits for the database. */
const databaseWaitMs = 3000
const usage = 'usage: [--config PATH] [--check-config]'

/** How often the service looks at the files of its secrets. */
const loginIntervalMs = 1000

export type ServiceContext = {
  config: Config
  /** The configuration with the present secrets of its files. */
  latest: () => Config
  /** The service's present login for PostgreSQL. */
  login: DatabaseLogin
  /** Push here what you open; it is released in reverse order. */
  stack: AsyncDisposableStack
  /** Aborts when the service is asked to stop. */
  signal: AbortSignal
  log: Log
  registry: Registry
  tracing: Tracing
}

export type ServiceOptions = {
  name: string
  needs: readonly Need[]
  /**
   * By how much of itself the heap may grow before all of it is cleaned, in percent. On a machine with much memory V8 lets
   * it grow fourfold, whatever the service needs: over a backlog the ingester peaked at 320 to 380 MiB. With 100 it
   * peaked at 281 over 400,000 records, with 75 at 236 (infra/docs/decisions/068-less-garbage.md).
   */
  heapGrowth?: number
}

/**
 * The options of Node that a service has, and restarts itself for, because they can only be set before Node begins.
 *
 * A small young generation: with buffers passing through this fast, Node lets it grow to hundreds of MiB. The
 * ingester peaked at 336–391 MiB over a backlog and at 237 MiB with this, for no more CPU.
 * One thread that helps the collector of garbage, not four: on two cores the main thread waited for helpers that waited
 * for a core, and an ingester stored 5 % fewer rows.
 * No object is made among the old ones: what outlives collections while a service starts, or while a batch waits, made V8
 * put all objects of the same place there, for ever. A third of what an ingester's collections copied was such.
 */
export const leanNodeOptions = [
  '--max-semi-space-size=4',
  '--v8-pool-size=1',
  '--no-allocation-site-pretenuring',
] as const

/**
 * Restarts this process with `leanNodeOptions`; the process id stays. And with:
 *
 * One arena of malloc (glibc): with one for each thread, freed buffers stayed in several of them. The ingester peaked at 231 to
 * 243 MiB over a backlog, and at 217 with one, for no more CPU.
 * A cache of compiled modules, in the user's cache folder: without it each start compiles TypeScript again,
 * and the compiler stays in memory (119 MiB with all modules loaded, 94 MiB from the cache).
 */
function startOverLean(): void {
  const isSet = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((option) =>
    option.includes('semi-space-size'),
  )
  if (isSet || !process.execve) return
  const { HOME, XDG_CACHE_HOME = HOME && join(HOME, '.cache') } = process.env
  process.execve(
    process.execPath,
    [process.execPath, ...leanNodeOptions, ...process.execArgv, ...process.argv.slice(1)],
    {
      ...(XDG_CACHE_HOME && { NODE_COMPILE_CACHE: join(XDG_CACHE_HOME, 'dlq-manager') }),
      MALLOC_ARENA_MAX: '1',
      ...process.env,
    },
  )
}

/** Runs `main` until it returns; then, or after a fault, releases everything and ends the process. */
export async function runService(
  { name, needs, heapGrowth }: ServiceOptions,
  main: (context: ServiceContext) => Promise<void>,
): Promise<never> {
  const options = commandLine(name)
  if (!options['check-config']) startOverLean()
  if (heapGrowth !== undefined) setFlagsFromString(`--heap-growing-percent=${heapGrowth}`)
  // Otherwise the cache is written only at an orderly end.
  flushCompileCache()
  const { config: given, warnings, reread } = readConfigOrExit(name, options.config, needs)
  if (options['check-config']) await printAndExit(given, warnings)
  const log = createLog({ service: name, level: given.log.level })
  for (const warning of warnings) log.warn({ warning }, 'config_warning')

  const stopping = new AbortController()
  stopOnSignals(stopping, log, given.app.shutdown_timeout)
  const stack = new AsyncDisposableStack()
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })

  let code = 0
  try {
    const { name: app, version, tier, environment } = given.app
    log.info({ app, version, tier, environment, pid: process.pid, node: process.version }, 'service_starting')
    const withDatabase = await joinEmbeddedDatabase(given.database, { stack, log })
    const config = withDatabase(given)
    let latest = config
    createCertificateMetrics(registry, () => latest)
    const login = followLogin(config.database, {
      reread() {
        const fresh = reread()
        if (fresh === null) return null
        latest = withDatabase(fresh)
        return latest.database
      },
      prove: proveLogin,
      log,
    })
    void runLoop(login.look, { name: 'database-login', intervalMs: loginIntervalMs, signal: stopping.signal, log })
    const tracing = stack.use(await startTracing({ service: name, version: config.app.version, env: process.env }))
    if (tracing.isOn) log.info('tracing_started')
    await main({ config, latest: () => latest, login, stack, signal: stopping.signal, log, registry, tracing })
  } catch (error) {
    log.fatal({ error }, 'service_failed')
    code = 1
  }
  try {
    await stack.disposeAsync()
  } catch (error) {
    log.error({ error }, 'shutdown_failed')
    code = 1
  }
  log.info({ code }, 'service_stopped')
  process.exit(code)
}

function readConfigOrExit(name: string, named: string | undefined, needs: ServiceOptions['needs']) {
  const path = configPath(named, process.env)
  try {
    return readConfig(path, { env: process.env, needs })
  } catch (error) {
    const reason = error instanceof ConfigError ? error.message : `cannot read ${path}: ${(error as Error).message}`
    console.error(`${name}: ${reason}`)
    process.exit(exitConfig)
  }
}

async function printAndExit(config: Config, warnings: readonly string[]): Promise<never> {
  for (const warning of warnings) console.error(`warning: ${warning}`)
  const fault = await lookAtDatabase(config)
  if (fault !== null) console.error(`${fault.level}: database: ${fault.message}`)
  if (fault?.level === 'error') process.exit(exitConfig)
  process.stdout.write(describeConfig(config))
  process.exit(0)
}

/** A configuration is checked in places that cannot reach the database, too. */
async function lookAtDatabase({ database }: Config): Promise<{ level: string; message: string } | null> {
  if (!database.url && !database.host) return null
  const log = createLog({ service: 'check-config', level: 'silent' })
  const sql = connectDatabase({ ...database, max_open_conns: 1 }, { applicationName: 'dlq-check-config', log })
  try {
    const late = sleep(databaseWaitMs, null, { ref: false })
    const rows = await Promise.race([sql.unsafe<ServerFacts[]>(serverQuery), late])
    if (rows) return serverFault(rows[0]!)
  } catch {
    // As when it does not answer in time.
  } finally {
    void sql.end({ timeout: 0 }).catch(() => {})
  }
  return { level: 'note', message: 'it does not answer from here, so its version and its encoding were not looked at' }
}

// Strict: with a mistyped argument ignored, the service would run with unintended settings.
function commandLine(name: string) {
  try {
    return parseArgs({ options: { config: { type: 'string' }, 'check-config': { type: 'boolean', default: false } } })
      .values
  } catch (error) {
    console.error(`${name}: ${(error as Error).message}\n${usage}`)
    process.exit(exitUsage)
  }
}

/** A Ctrl-C comes from the terminal, and once more from the npm or npx that started us. So soon, a signal is no second one. */
export const sameSignalMs = 500

function stopOnSignals(stopping: AbortController, log: Log, timeoutMs: number): void {
  let stoppedAt = 0
  const stop = (reason: string) => {
    if (stopping.signal.aborted) {
      if (performance.now() - stoppedAt < sameSignalMs) return
      log.warn({ reason }, 'service_stopped_at_once')
      process.exit(1)
    }
    log.info({ reason }, 'service_stopping')
    stoppedAt = performance.now()
    stopping.abort()
    // Unreferenced: it ends a drain that hangs, and keeps nothing alive.
    setTimeout(() => {
      log.error({ timeoutMs }, 'shutdown_timed_out')
      process.exit(1)
    }, timeoutMs).unref()
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  process.on('unhandledRejection', (error) => {
    log.fatal({ error }, 'unhandled_rejection')
    process.exit(1)
  })
}
