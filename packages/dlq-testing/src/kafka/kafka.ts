// A real Apache Kafka broker of our own: on Java if the machine has it, else in a container. A killed broker continues
// when it is started again on the same directory and port.
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import { freePort } from '../process/free-port.ts'
import type { Reaper } from '../process/reaper.ts'
import type { ProcessExit, WatchedProcess } from '../process/watched-process.ts'
import { findJava } from './java.ts'
import { classArchive, startJavaBroker } from './java-broker.ts'
import { containerEngine, removeContainer, startKafkaContainer } from './kafka-container.ts'
import { kafkaJars } from './kafka-jars.ts'
import { type KafkaListener, kafkaSettings, kafkaVersion } from './kafka-settings.ts'

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

/** Further listeners and settings of a broker, which only one on Java can have. */
export type KafkaExtras = {
  listeners?: readonly KafkaListener[]
  /** Further lines of server.properties; a value may have several lines itself, as PEM has. */
  settings?: Readonly<Record<string, string>>
  /** For the tool that formats a new directory, such as `--add-scram`. */
  formatArguments?: readonly string[]
  /** Further options of Java itself. */
  javaOptions?: readonly string[]
}

const readyMs = 180_000
const stopMs = 20_000
const pollMs = 100

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
    const { reaper, extras: { listeners = [], formatArguments = [], javaOptions = [], settings: more } = {} } = options
    const plain = kafkaSettings({ port, controllerPort: await freePort(), bindAddress: '127.0.0.1', listeners })
    const settings = { ...plain, ...more }
    const server = await startJavaBroker({ java, dataDir, settings, reaper, log, formatArguments, javaOptions })
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

/**
 * Once per machine, by a broker of its own in `dataDir`: keeps its classes for the brokers that are started afterwards.
 * Without Java it does nothing. Takes ten seconds.
 */
export async function archiveBrokerClasses({
  dataDir,
  reaper,
}: Pick<KafkaOptions, 'dataDir' | 'reaper'>): Promise<void> {
  const java = await findJava()
  if (!java) return
  const archive = await classArchive(java, await kafkaJars(() => {}))
  if (existsSync(archive)) return
  // Under another name first, because others may look for it at any moment.
  const fresh = `${archive}.new-${process.pid}`
  const javaOptions = [`-XX:ArchiveClassesAtExit=${fresh}`]
  try {
    const { child, exited } = await startKafka({ dataDir, reaper, extras: { javaOptions } })
    child.kill('SIGTERM')
    await exited
    renameSync(fresh, archive)
  } finally {
    rmSync(fresh, { force: true })
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const noKafkaMessage = [
  'No Kafka here. Any one of these will do:',
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
      // The first request creates the coordinators' topics, which takes a new broker a while.
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
