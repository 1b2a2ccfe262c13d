// Three brokers of Apache Kafka on this machine, each of which can be killed, frozen and started again alone. Every
// broker is controller too, so that a cluster takes three processes and about 1.2 GB of memory.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Admin, Kafka, logLevel } from 'kafkajs'
import { findJava } from '../kafka/java.ts'
import { randomClusterId, startJavaBroker } from '../kafka/java-broker.ts'
import { kafkaSettings } from '../kafka/kafka-settings.ts'
import { freePort } from '../process/free-port.ts'
import { freezeProcess } from '../process/process-tree.ts'
import type { Reaper } from '../process/reaper.ts'
import type { WatchedProcess } from '../process/watched-process.ts'
import { type BrokerLinks, hostOf, type LinkedBroker, startBrokerLinks } from './broker-links.ts'

/** One broker of the cluster. It keeps its port and its data. */
export type ClusterBroker = {
  readonly id: number
  readonly port: number
  /** `127.0.0.1:port`. */
  readonly address: string
  /** Of its last process: it changes with every start. */
  readonly pid: number
  isRunning(): boolean
  /** SIGKILL. Resolves when the process is gone; the others notice when its session is over, after 4 s. */
  kill(): Promise<void>
  /** SIGTERM: it hands its partitions over first. SIGKILL after 30 s. */
  stop(): Promise<void>
  /** Starts it again and waits until the others count it as one of them. */
  start(): Promise<void>
  /** SIGSTOP. The function it returns lets it go on: it then believes for a moment that it still leads. */
  freeze(): () => void
}

export type KafkaCluster = {
  /** The addresses of all brokers. */
  readonly brokers: string[]
  readonly nodes: readonly ClusterBroker[]
  node(id: number): ClusterBroker
  /** Where they reach each other; only with `isPartitionable`. */
  readonly links: BrokerLinks | null
  /** Kills all of them: the data is thrown away. */
  stop(): Promise<void>
}

export type KafkaClusterOptions = {
  /** Holds a folder and a log file for each broker. */
  dataDir: string
  reaper: Reaper
  log?: (line: string) => void
  /** Further lines of server.properties. */
  settings?: Readonly<Record<string, string>>
  /** Whether the network between them can be cut. Linux only. */
  isPartitionable?: boolean
}

const ids = [1, 2, 3]
/** Brokers 1, 2 and 3 lead its partitions 0, 1 and 2. Each broker has a copy of each partition. */
export function spreadTopic(topic: string) {
  const replicaAssignment = ids.map((_, partition) => ({
    partition,
    replicas: [...ids.slice(partition), ...ids.slice(0, partition)],
  }))
  return { topic, replicaAssignment }
}

const readyMs = 180_000
const stopMs = 30_000
const pollMs = 100

/** Starts the cluster and waits until it answers. @throws where there is no Java 17 with Maven */
export async function startKafkaCluster({
  dataDir,
  reaper,
  log = () => {},
  settings,
  isPartitionable = false,
}: KafkaClusterOptions): Promise<KafkaCluster> {
  const java = await findJava()
  if (!java) throw new Error('A cluster of three brokers needs Java 17 or later and Maven.')
  const clusterId = randomClusterId()
  const places: Place[] = []
  for (const id of ids)
    places.push({ id, port: await freePort(), controllerPort: await freePort(), replicationPort: await freePort() })
  const links = isPartitionable ? await startBrokerLinks(places) : null
  const brokers = places.map(({ port }) => `127.0.0.1:${port}`)
  const nodes = places.map((place) =>
    createBroker(place, () =>
      startJavaBroker({
        ...{ java, reaper, log, clusterId },
        dataDir: join(dataDir, `broker-${place.id}`),
        settings: { ...clusterSettings(place, places), ...(links && linkedSettings(place, places)), ...settings },
        ...(links && { javaOptions: [`-Djdk.net.hosts.file=${writeHosts(dataDir, place, links)}`] }),
      }),
    ),
  )
  try {
    await Promise.all(nodes.map((node) => node.launch()))
    await Promise.all(nodes.map((node) => node.answered(ids.length)))
    await untilCoordinated(nodes[0]!.address)
  } catch (error) {
    await Promise.all(nodes.map((node) => node.kill()))
    await links?.[Symbol.asyncDispose]()
    throw error
  }
  return {
    brokers,
    nodes,
    links,
    node: (id) => nodes.find((node) => node.id === id)!,
    async stop() {
      await Promise.all(nodes.map((node) => node.kill()))
      await links?.[Symbol.asyncDispose]()
    },
  }
}

type Place = LinkedBroker & { port: number }

function writeHosts(dataDir: string, { id }: Place, links: BrokerLinks): string {
  mkdirSync(dataDir, { recursive: true })
  const file = join(dataDir, `hosts-${id}`)
  writeFileSync(file, links.hostsOf(id))
  return file
}

/** As one would run it: three copies of everything, of which two must have taken a record. */
function clusterSettings({ id, port, controllerPort }: Place, places: readonly Place[]): Record<string, string> {
  return {
    ...kafkaSettings({ port, controllerPort, bindAddress: '127.0.0.1' }),
    'node.id': String(id),
    'controller.quorum.voters': places.map((place) => `${place.id}@127.0.0.1:${place.controllerPort}`).join(),
    'default.replication.factor': '3',
    'min.insync.replicas': '2',
    'offsets.topic.replication.factor': '3',
    'transaction.state.log.replication.factor': '3',
    'transaction.state.log.min.isr': '2',
    'share.coordinator.state.topic.replication.factor': '3',
    'share.coordinator.state.topic.min.isr': '2',
  }
}

/** The brokers reach each other by names, which each of them resolves to links of its own. */
function linkedSettings(place: Place, places: readonly Place[]): Record<string, string> {
  const { port, replicationPort } = place
  const own = `REPLICATION://${hostOf(place)}:${replicationPort}`
  return {
    listeners: `PLAINTEXT://127.0.0.1:${port},${own},CONTROLLER://${hostOf(place)}:${place.controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port},${own}`,
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,REPLICATION:PLAINTEXT',
    'inter.broker.listener.name': 'REPLICATION',
    'controller.quorum.voters': places.map((of) => `${of.id}@${hostOf(of)}:${of.controllerPort}`).join(),
  }
}

function createBroker({ id, port }: Pick<Place, 'id' | 'port'>, spawn: () => Promise<WatchedProcess>) {
  const address = `127.0.0.1:${port}`
  let server: WatchedProcess | null = null
  let resume: (() => void) | null = null
  const launch = async () => {
    server = await spawn()
  }
  const isRunning = () => server !== null && !server.hasExited()

  /** Resolves when the broker itself counts `least` brokers, itself among them. */
  async function answered(least: number): Promise<void> {
    const deadline = Date.now() + readyMs
    while (isRunning() && Date.now() < deadline) {
      const known = await askAdmin(address, async (admin) => (await admin.describeCluster()).brokers).catch(() => [])
      if (known.length >= least && known.some(({ nodeId }) => nodeId === id)) return
      await sleep(pollMs)
    }
    throw new Error(`broker ${id} did not join the cluster on port ${port}:\n${server?.lastOutput()}`)
  }

  return {
    ...{ id, port, address, launch, answered, isRunning },
    get pid() {
      return server!.pid
    },
    async kill() {
      await server?.stop('SIGKILL', 0)
    },
    async stop() {
      resume?.()
      await server?.stop('SIGTERM', stopMs)
    },
    async start() {
      await launch()
      await answered(1)
    },
    freeze() {
      const thaw = freezeProcess(server!.pid)
      resume = thaw
      return thaw
    },
  }
}

/** The topics of the coordinators are made when somebody first asks for one, which takes a young cluster a while. */
async function untilCoordinated(address: string): Promise<void> {
  const deadline = Date.now() + readyMs
  for (;;) {
    const producer = quietClient(address).producer({ transactionalId: 'dlq-testing-ready', maxInFlightRequests: 1 })
    try {
      await askAdmin(address, (admin) => admin.fetchOffsets({ groupId: 'dlq-testing-ready' }))
      await producer.connect()
      await producer.transaction()
      return
    } catch (cause) {
      if (Date.now() > deadline) throw new Error('the cluster has no coordinators', { cause })
      await sleep(pollMs)
    } finally {
      await producer.disconnect()
    }
  }
}

async function askAdmin<T>(address: string, ask: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = quietClient(address).admin()
  try {
    await admin.connect()
    return await ask(admin)
  } finally {
    await admin.disconnect()
  }
}

function quietClient(address: string): Kafka {
  return new Kafka({
    clientId: 'dlq-testing-ready',
    brokers: [address],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 2_000,
    requestTimeout: 10_000,
    retry: { retries: 1 },
  })
}
