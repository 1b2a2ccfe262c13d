// PostgreSQL and Kafka together, for tests, demo and benchmarks. A server that the environment names is used as it is.
// Any other is started here and belongs to this process.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { startKafka } from './kafka/kafka.ts'
import { startPostgres } from './postgres/postgres.ts'
import type { Reaper } from './process/reaper.ts'
import type { ProcessExit } from './process/watched-process.ts'

/** A server we started. `pid` changes with every restart, the port and the data do not. */
export type StackServer = {
  readonly pid: number
  readonly port: number
  /** Calls `listener` with the exit when the server ends without a request to stop. */
  onExit(listener: (exit: ProcessExit) => void): void
  /** Starts it again on the same port and data, stopping it first if it still runs. */
  restart(): Promise<void>
}

/** The running servers. A server of the environment has no `postgres` or `kafka` to handle. */
export type Stack = {
  databaseUrl: string
  kafkaBrokers: string[]
  postgres?: StackServer
  kafka?: StackServer
  /** Stops what was started here; `discard` also deletes its data. */
  stop(options?: { discard?: boolean }): Promise<void>
}

/** `dataDir` holds a folder and a log file per server started. */
export type StackOptions = {
  dataDir: string
  reaper: Reaper
  log?: (line: string) => void
  /** Use this PostgreSQL and start none. */
  databaseUrl?: string | undefined
  /** Use this Kafka (host:port,host:port) and start none. */
  kafkaBrokers?: string | undefined
  ports?: { postgres?: number | undefined; kafka?: number | undefined }
  /** Further PostgreSQL settings, such as `{ fsync: 'off' }`. */
  postgresSettings?: Record<string, string>
  /** Leave Kafka out; `kafkaBrokers` is then empty. */
  withoutKafka?: boolean
  /** Leave PostgreSQL out; `databaseUrl` is then empty. */
  withoutPostgres?: boolean
}

type Running = {
  pid: number
  port: number
  exited: Promise<ProcessExit>
  stop(how?: { discard?: boolean }): Promise<void>
}

/** Starts both servers at once, unless the options name them. When one fails, it stops the other and throws. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { dataDir, reaper, log, ports = {} } = options
  const [postgres, kafka] = await startBoth(
    options.databaseUrl || options.withoutPostgres
      ? undefined
      : (port) =>
          startPostgres({ dataDir: join(dataDir, 'postgres'), reaper, log, port, settings: options.postgresSettings }),
    options.kafkaBrokers || options.withoutKafka
      ? undefined
      : (port) => startKafka({ dataDir: join(dataDir, 'kafka'), reaper, log, port }),
    ports,
  )
  return {
    databaseUrl: options.databaseUrl || (postgres ? `postgres://postgres@127.0.0.1:${postgres.port}/postgres` : ''),
    kafkaBrokers: splitBrokers(options.kafkaBrokers) ?? (kafka ? [`127.0.0.1:${kafka.port}`] : []),
    ...(postgres && { postgres }),
    ...(kafka && { kafka }),
    async stop({ discard = false } = {}) {
      await Promise.all([postgres?.stop({ discard }), kafka?.stop({ discard })])
      if (discard) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

type Start = ((port: number | undefined) => Promise<Running>) | undefined

async function startBoth(
  startFirst: Start,
  startSecond: Start,
  ports: { postgres?: number | undefined; kafka?: number | undefined },
): Promise<[SupervisedServer | undefined, SupervisedServer | undefined]> {
  const [first, second] = await Promise.allSettled([
    startFirst && supervise(startFirst, ports.postgres),
    startSecond && supervise(startSecond, ports.kafka),
  ])
  if (first.status === 'rejected' || second.status === 'rejected') {
    for (const result of [first, second]) if (result.status === 'fulfilled') await result.value?.stop()
    throw first.status === 'rejected' ? first.reason : (second as PromiseRejectedResult).reason
  }
  return [first.value, second.value]
}

type SupervisedServer = StackServer & { stop(how?: { discard?: boolean }): Promise<void> }

async function supervise(start: NonNullable<Start>, wantedPort: number | undefined): Promise<SupervisedServer> {
  const listeners = new Set<(exit: ProcessExit) => void>()
  let current = await start(wantedPort)
  const { port } = current
  const stopping = new WeakSet<Running>()
  const watch = (server: Running) =>
    server.exited.then((exit) => {
      if (!stopping.has(server)) for (const listener of listeners) listener(exit)
    })
  void watch(current)
  const stop = async (how?: { discard?: boolean }) => {
    stopping.add(current)
    await current.stop(how)
  }
  return {
    get pid() {
      return current.pid
    },
    port,
    onExit: (listener) => void listeners.add(listener),
    async restart() {
      await stop()
      current = await start(port)
      void watch(current)
    },
    stop,
  }
}

function splitBrokers(brokers: string | undefined): string[] | undefined {
  if (!brokers) return undefined
  return brokers
    .split(',')
    .map((broker) => broker.trim())
    .filter(Boolean)
}
