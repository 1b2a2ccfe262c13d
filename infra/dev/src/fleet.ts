// Starts everything in order and keeps it running. It restarts a process that dies; stack.json has its present address.

import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { migrateUp } from 'dlq-db/migrate.ts'
import { buildConsole } from 'dlq-testing/browser/build-console.ts'
import { type ServiceName, serviceNames } from 'dlq-testing/fleet/service-process.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { freePort } from 'dlq-testing/process/free-port.ts'
import type { Reaper } from 'dlq-testing/process/reaper.ts'
import { startWatchedProcess } from 'dlq-testing/process/watched-process.ts'
import { type Stack, type StackServer, startStack } from 'dlq-testing/stack.ts'
import kafkajs from 'kafkajs'
import { demoSettings } from './demo/demo-policy.ts'
import { demoTopics, partitionCount } from './demo/failures.ts'
import { letPeopleWork } from './demo/people.ts'
import { type StackFile, writeStackFile } from './stack-file.ts'
import { type SupervisedService, superviseService } from './supervised-service.ts'

export type FleetOptions = {
  devDir: string
  stackPath: string
  reaper: Reaper
  /** Disposing of this stack stops everything that was started, in reverse order. */
  stack: AsyncDisposableStack
  demo: boolean
  print: (line: string) => void
  signal: AbortSignal
}

export type Fleet = {
  describe(): StackFile
  /** Recent events for people, the newest last. */
  events: string[]
}

const preferredPorts: Record<ServiceName, number> = { api: 8080, ingester: 8081, retrier: 8082 }
/** New DLQ topics show within a second. */
const devSettings = { DLQ_KAFKA_TOPIC_REFRESH_INTERVAL: '1s', NODE_NO_WARNINGS: '1' }
/**
 * On a Kafka that somebody has named: it may be one whose dead letters another deployment ingests, and retries. So nothing is
 * taken from that one, nor sent beside it.
 */
const guestSettings = {
  DLQ_KAFKA_CONSUMER_GROUP: 'dlq-manager.trial',
  DLQ_RETRY_TRANSACTIONAL_ID_PREFIX: 'dlq-retrier-trial',
  DLQ_RETRY_AUTO_RETRY: 'false',
}
const maxEvents = 5

/** Null when it was stopped during its start. */
export async function startFleet(options: FleetOptions): Promise<Fleet | null> {
  const { devDir, reaper, stack, demo, print, signal, stackPath } = options
  const logDir = `${devDir}/logs`
  mkdirSync(logDir, { recursive: true })

  const { DATABASE_URL, KAFKA_BROKERS } = process.env
  // Before anything starts, and in words that help.
  loadConfig({ env: { DATABASE_URL, KAFKA_BROKERS }, yaml: null, needs: [] })
  print('Starting PostgreSQL and Kafka …')
  // Meanwhile: it takes some seconds, and only where the sources have changed. Without it the API still starts.
  const built = buildConsole().catch((error: Error) => {
    print(error.message)
  })
  const guest = Boolean(KAFKA_BROKERS)
  const servers = stack.adopt(
    await startStack({
      dataDir: devDir,
      reaper,
      log: print,
      databaseUrl: DATABASE_URL,
      kafkaBrokers: KAFKA_BROKERS,
    }),
    (servers) => servers.stop(),
  )
  if (signal.aborted) return null
  const applied = await migrateUp({ databaseUrl: servers.databaseUrl })
  print(applied.length > 0 ? `Applied ${applied.length} migrations.` : 'The database is up to date.')
  if (demo || !guest) await createDemoTopics(servers.kafkaBrokers)
  if (signal.aborted) return null

  const env: NodeJS.ProcessEnv = {
    ...devSettings,
    ...(guest && guestSettings),
    ...(demo && demoSettings),
    ...givenSettings(),
  }
  if (guest) print(guestWords(env))
  print('Starting ingester, retrier and API …')
  await built
  const services = new Map<ServiceName, SupervisedService>()
  const events: string[] = []
  const describe = (): StackFile => describeFleet(servers, services)
  const onChange = (line: string) => {
    events.push(`${new Date().toTimeString().slice(0, 8)}  ${line}`)
    events.splice(0, events.length - maxEvents)
    if (!process.stdout.isTTY) print(line)
    if (ready && !signal.aborted) writeStackFile(stackPath, describe())
  }
  let ready = false
  for (const name of serviceNames) {
    const service = await superviseService(
      {
        name,
        databaseUrl: servers.databaseUrl,
        kafkaBrokers: servers.kafkaBrokers,
        reaper,
        logFile: `${logDir}/${name}.log`,
        port: await freePort(preferredPorts[name]),
        env,
      },
      onChange,
    )
    services.set(name, service)
  }
  stack.defer(async () => void (await Promise.all([...services.values()].map((service) => service.stop()))))
  restartServers(servers, onChange, signal)
  await Promise.all([...services.values()].map((service) => service.ready()))
  ready = true
  writeStackFile(stackPath, describe())

  if (demo && !signal.aborted) {
    const traffic = await startWatchedProcess({
      command: [process.execPath, fileURLToPath(new URL('./demo/main.ts', import.meta.url))],
      logFile: `${logDir}/demo.log`,
      reaper,
      env: { ...process.env, ...devSettings, KAFKA_BROKERS: servers.kafkaBrokers.join(',') },
    })
    stack.defer(() => traffic.stop('SIGTERM', 5000))
    const people = letPeopleWork({ ...servers, reaper, logFile: `${logDir}/people.log`, signal })
    stack.defer(() => people)
  }
  return { describe, events }
}

/** What the services do on a Kafka that somebody has named. */
function guestWords(env: NodeJS.ProcessEnv): string {
  const sends = env.DLQ_RETRY_AUTO_RETRY === 'false' ? 'only when somebody asks' : 'when they are due'
  return `Reads as ${env.DLQ_KAFKA_CONSUMER_GROUP}. Messages are sent ${sends}.`
}

/** Settings of the user win over ours. */
function givenSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('DLQ_')))
}

function describeFleet(servers: Stack, services: ReadonlyMap<ServiceName, SupervisedService>): StackFile {
  const [ingester, retrier, api] = serviceNames.map((name) => services.get(name)!) as [
    SupervisedService,
    SupervisedService,
    SupervisedService,
  ]
  return {
    console: `${api.url}/console/`,
    api: api.url,
    ingester: ingester.url,
    retrier: retrier.url,
    databaseUrl: servers.databaseUrl,
    kafkaBrokers: servers.kafkaBrokers,
    pids: {
      ingester: ingester.pid,
      retrier: retrier.pid,
      api: api.pid,
      postgres: servers.postgres?.pid ?? null,
      kafka: servers.kafka?.pid ?? null,
      runner: process.pid,
    },
  }
}

function restartServers({ postgres, kafka }: Stack, onChange: (line: string) => void, signal: AbortSignal): void {
  const restart = async (name: string, server: StackServer) => {
    for (let waitMs = 500; !signal.aborted; waitMs = Math.min(waitMs * 2, 10_000)) {
      onChange(`${name} ended; starting it again`)
      await sleep(waitMs)
      if (signal.aborted) return
      try {
        await server.restart()
        onChange(`${name} started again (pid ${server.pid})`)
        return
      } catch (error) {
        onChange(`${name} did not start: ${(error as Error).message.split('\n')[0]}`)
      }
    }
  }
  postgres?.onExit(() => void restart('PostgreSQL', postgres))
  kafka?.onExit(() => void restart('Kafka', kafka))
}

/**
 * The topics of the demo and of the README's examples. A dead letter is larger than its record: a DLQ topic takes larger
 * ones, so `dlq doctor` has nothing to say of it.
 */
export function demoTopicConfigs(): kafkajs.ITopicConfig[] {
  const roomy = [{ name: 'max.message.bytes', value: String(2 * 1024 * 1024) }]
  return demoTopics.flatMap((topic) => [
    { topic, numPartitions: partitionCount },
    { topic: `${topic}.dlq.v1`, numPartitions: partitionCount, configEntries: roomy },
  ])
}

export async function createDemoTopics(brokers: string[]): Promise<void> {
  const admin = new kafkajs.Kafka({ clientId: 'dlq-dev', brokers, logLevel: kafkajs.logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    const existing = await admin.listTopics()
    const topics = demoTopicConfigs().filter(({ topic }) => !existing.includes(topic))
    if (topics.length > 0) await createTopics(admin, topics)
  } finally {
    await admin.disconnect()
  }
}
