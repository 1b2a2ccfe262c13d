// One of our services as a real process, for tests that kill it, the demo that keeps it alive, and benchmarks.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { leanNodeOptions } from 'dlq-core/runtime/run-service.ts'
import { freePort } from '../process/free-port.ts'
import type { Reaper } from '../process/reaper.ts'
import { startWatchedProcess, type WatchedProcess } from '../process/watched-process.ts'

export const serviceNames = ['ingester', 'retrier', 'api'] as const
export type ServiceName = (typeof serviceNames)[number]

export type ServiceProcess = WatchedProcess & {
  name: ServiceName
  url: string
  port: number
  /** Resolves when /readyz answers 200. Throws when the process ends first, or after `timeoutMs`. */
  ready(timeoutMs?: number): Promise<void>
}

export type ServiceOptions = {
  name: ServiceName
  databaseUrl: string
  kafkaBrokers: readonly string[]
  reaper: Reaper
  /** The service's own output. */
  logFile: string
  /** A free one unless given. */
  port?: number | undefined
  /** Settings over the defaults, such as { DLQ_RETRY_INITIAL_DELAY: '1s' }. */
  env?: NodeJS.ProcessEnv
  /** The program that starts it. By default the Node that runs this. */
  command?: ServiceCommand | undefined
}

/** The words that start the service of that name. */
export type ServiceCommand = (name: ServiceName) => string[]

const readyMs = 120_000
const clone = fileURLToPath(new URL('../../../../', import.meta.url))

/** The program of a service; of another version's where its folder is given. */
export function serviceMain(name: ServiceName, root = clone): string {
  return join(root, `services/${name}/src/main.ts`)
}

/** The program that tests start: the bundle that their run has made (service-bundles.ts), or else the sources. */
export function testedMain(name: ServiceName): string {
  const bundles = process.env.DLQ_TEST_SERVICES
  return bundles ? join(bundles, `${name}.mjs`) : serviceMain(name)
}

/** The Node that runs this, with the program that tests start. Options that are given at once save half of the start. */
const runHere: ServiceCommand = (name) => [process.execPath, ...leanNodeOptions, testedMain(name)]

/** The Node that runs this, with the sources of that folder: a service restarts itself with the options of its version. */
export function runFrom(root: string): ServiceCommand {
  return (name) => [process.execPath, serviceMain(name, root)]
}

export async function startService({
  name,
  databaseUrl,
  kafkaBrokers,
  reaper,
  logFile,
  port,
  env,
  command = runHere,
}: ServiceOptions): Promise<ServiceProcess> {
  const chosen = port ?? (await freePort())
  const watched = await startWatchedProcess({
    command: command(name),
    logFile,
    reaper,
    env: {
      MALLOC_ARENA_MAX: '1',
      ...process.env,
      DATABASE_URL: databaseUrl,
      KAFKA_BROKERS: kafkaBrokers.join(','),
      DLQ_SERVER_PORT: String(chosen),
      ...env,
    },
  })
  const url = `http://127.0.0.1:${chosen}`
  return {
    ...watched,
    name,
    url,
    port: chosen,
    async ready(timeoutMs = readyMs) {
      const deadline = Date.now() + timeoutMs
      for (;;) {
        if (watched.hasExited()) throw new Error(`${name} ended before it was ready:\n${watched.lastOutput()}`)
        if (await isReady(url)) return
        if (Date.now() > deadline)
          throw new Error(`${name} was not ready within ${timeoutMs / 1000} s:\n${watched.lastOutput()}`)
        await sleep(100)
      }
    },
  }
}

/** Whether /readyz answers 200 now. */
export async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3000) }).then(
    (response) => response.ok,
    () => false,
  )
}
