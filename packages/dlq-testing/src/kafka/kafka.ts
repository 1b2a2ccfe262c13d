// A real Apache Kafka broker of our own: on Java when the machine has it, else in a
// container. Killed and started again on the same directory and port, it goes on where it was.
import type { ChildProcess } from 'node:child_process'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Kafka, logLevel } from 'kafkajs'
import { freePort } from './free-port.ts'
import { findJava } from './java.ts'
import { containerEngine, removeContainer, startKafkaContainer } from './kafka-container.ts'
import { kafkaJars } from './kafka-jars.ts'
import { jvmFlags, type KafkaListener, kafkaSettings, kafkaVersion } from './kafka-settings.ts'
import type { Reaper } from './reaper.ts'
import { type ProcessExit, startWatchedProcess, type WatchedProcess } from './watched-process.ts'

const run = promisify(execFile)

/** A broker that answers. */
export type RunningKafka = {
  brokers: string[]
  port: number
  pid: number
  child: ChildProcess
  exited: Promise<ProcessExit>
  /** SIGTERM, SIGKILL after 20 s; the data stays unless `discard` (a container's volume; the directory is yours). */
  stop(options?: { discard?: boolean }): Promise<void>
}

/** Where the data lives, and which port (a free one by default). */
export type KafkaOptions = {
  dataDir: string
  reaper: Reaper
  port?: number | undefined
  log?: ((line: string) => void) | undefined
  extras?: KafkaExtras | undefined
}

/** What a broker has beyond the usual; only one on Java can have it. */
export type KafkaExtras = {
  listeners?: readonly KafkaListener[]
  /** Further lines of server.properties; a value may have several lines itself, as PEM has. */
  settings?: Readonly<Record<string, string>>
  /** For the tool that formats a new directory, such as `--add-scram`. */
  formatArguments?: readonly string[]
}

const readyMs = 180_000
const stopMs = 20_000
const pollMs = 100
const log4j = fileURLToPath(new URL('../kafka/log4j2.properties', import.meta.url))

/**
 * Starts Kafka on 127.0.0.1 and waits until it answers; its output is appended to `dataDir`.log.
 * Throws, naming the ways to get one, when there is neither Java 17 with Maven nor a container engine.
 */
export async function startKafka(options: KafkaOptions): Promise<RunningKafka> {
  const dataDir = resolve(options.dataDir)
  const log = options.log ?? (() => {})
  const port = options.port ?? (await freePort())
  mkdirSync(dataDir, { recursive: true })
  const java = await findJava()
  if (java) {
    const { reaper, extras = {} } = options
    const server = await startOnJava({ java, dataDir, port, reaper, log, extras })
    await untilAnswers(server, port)
    return describe(server, port, async () => {})
  }
  if (options.extras) throw new Error('A broker with further listeners or settings needs Java 17 or later and Maven.')
  const engine = await containerEngine()
  if (!engine) throw new Error(noKafkaMessage)
  const server = await startKafkaContainer({ engine, dataDir, port, reaper: options.reaper, log })
  await untilAnswers(server, port)
  return describe(server, port, (discard) => removeContainer({ engine, dataDir, discard }))
}

const noKafkaMessage = [
  'No Kafka to test against. Any one of these will do:',
  '  - set KAFKA_BROKERS to a cluster (host:port,host:port);',
  '  - install Java 17 or later and Maven (Debian: apt-get install -y openjdk-17-jre-headless maven);',
  '  - start a container engine (docker or podman).',
].join('\n')

function describe(server: WatchedProcess, port: number, clean: (discard: boolean) => Promise<void>): RunningKafka {
  return {
    brokers: [`127.0.0.1:${port}`],
    port,
    pid: server.pid,
    child: server.child,
    exited: server.exited,
    async stop({ discard = false } = {}) {
      await server.stop('SIGTERM', stopMs)
      await clean(discard)
    },
  }
}

type JavaBroker = {
  java: string
  dataDir: string
  port: number
  reaper: Reaper
  log: (line: string) => void
  extras: KafkaExtras
}

async function startOnJava({ java, dataDir, port, reaper, log, extras }: JavaBroker): Promise<WatchedProcess> {
  const { listeners = [], formatArguments = [] } = extras
  const jars = await kafkaJars(log)
  const properties = join(dataDir, 'server.properties')
  const settings = {
    ...kafkaSettings({ port, controllerPort: await freePort(), bindAddress: '127.0.0.1', listeners }),
    'log.dirs': join(dataDir, 'log'),
    ...extras.settings,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${escapeProperty(value)}\n`)
  writeFileSync(properties, lines.join(''), { mode: 0o600 })
  const jvm = [java, ...jvmFlags, `-Dlog4j2.configurationFile=${log4j}`, '-cp', join(jars, '*')]
  await formatOnce({ dataDir, jvm, properties, formatArguments })
  return startWatchedProcess({
    command: [...jvm, 'kafka.Kafka', properties],
    logFile: `${dataDir}.log`,
    reaper,
    cwd: dataDir,
  })
}

/** As java.util.Properties reads it back. */
function escapeProperty(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

type Formatting = { dataDir: string; jvm: string[]; properties: string; formatArguments: readonly string[] }

/** Formats the storage of a new directory. A marker file says that it was done to the end. */
async function formatOnce({ dataDir, jvm, properties, formatArguments }: Formatting): Promise<void> {
  const marker = join(dataDir, 'formatted')
  if (existsSync(marker)) return
  rmSync(join(dataDir, 'log'), { recursive: true, force: true })
  const clusterId = randomClusterId()
  const [program = '', ...args] = [...jvm, 'kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', properties]
  await run(program, [...args, ...formatArguments], { cwd: dataDir, timeout: 180_000 })
  writeFileSync(marker, `${clusterId}\n`)
}

/** 16 bytes in URL-safe base64; like Kafka's own, never one that begins with "-", which would be read as an option. */
function randomClusterId(): string {
  const bytes = randomBytes(16)
  bytes[0]! &= 0x7f
  return bytes.toString('base64url')
}

async function untilAnswers(server: WatchedProcess, port: number): Promise<void> {
  const deadline = Date.now() + readyMs
  const kafka = new Kafka({
    clientId: 'dlq-testing-ready',
    brokers: [`127.0.0.1:${port}`],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 1_000,
    requestTimeout: 5_000,
    retry: { retries: 0 },
  })
  while (!server.hasExited() && Date.now() < deadline) {
    const admin = kafka.admin()
    const producer = kafka.producer({
      transactionalId: 'dlq-testing-ready',
      maxInFlightRequests: 1,
      retry: { retries: 1 },
    })
    try {
      await admin.connect()
      const { brokers } = await admin.describeCluster()
      // The coordinators' topics are made when they are first asked for, which takes a young broker a while.
      await admin.fetchOffsets({ groupId: 'dlq-testing-ready' })
      await producer.connect()
      await producer.transaction()
      if (brokers.length > 0) return
    } catch {
      // Not listening yet, or the controller has not registered the broker yet.
    } finally {
      await Promise.allSettled([admin.disconnect(), producer.disconnect()])
    }
    await sleep(pollMs)
  }
  await server.stop('SIGKILL', 0)
  throw new Error(`Kafka ${kafkaVersion} did not start on port ${port}:\n${server.lastOutput()}`)
}
