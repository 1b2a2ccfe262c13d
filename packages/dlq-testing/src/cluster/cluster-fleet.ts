// Three brokers with a fleet on them, for soaks: two ingesters and two retriers of which it is known what they ask of the
// brokers.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Admin, Kafka } from 'kafkajs'
import type postgres from 'postgres'
import { openOwnStack } from '../fleet/own-stack.ts'
import { createFleet, type Fleet } from '../fleet/service-fleet.ts'
import { createTopics } from '../kafka/create-topics.ts'
import { compileJava, type JavaProgram } from '../kafka/java.ts'
import { createTestKafka } from '../kafka/test-kafka.ts'
import type { StackServer } from '../stack.ts'
import { type FaultContext, mountSmallDisk } from './cluster-faults.ts'
import { createWatcher } from './cluster-roles.ts'
import { type KafkaCluster, startKafkaCluster } from './kafka-cluster.ts'

export const ingesters = ['ingester-1', 'ingester-2'] as const
export const retriers = ['retrier-1', 'retrier-2'] as const
export const members = [...ingesters, ...retriers]

export type ClusterFleet = {
  cluster: KafkaCluster
  fleet: Fleet
  postgres: StackServer
  sql: postgres.Sql
  kafka: Kafka
  admin: Admin
  java: JavaProgram
  /** Where the servers and the services write. */
  dataDir: string
  smallDisk: FaultContext['smallDisk']
  ledgerGroup: string
  transactionalId: string
  ingesterGroup: string
  startMember(name: (typeof members)[number]): Promise<void>
  /** Topics whose partitions are led by all three brokers in turn. */
  createTopics(names: readonly string[], partitions: number): Promise<void>
  /** What the services have done since they were started. */
  activity(): Activity
}

/** `byApi`: requests by the number of their API in Kafka's protocol. */
export type Activity = { dials: number; requests: number; byApi: Record<number, number>; warnings: number }

export const retryDelayMs = 1000
const diskMebibytes = 400
const group = 'cluster'
/** A URL has no spaces, at which NODE_OPTIONS are split. */
const counter = new URL('count-requests.ts', import.meta.url).href

/** Everything it opens is adopted by `opened`. `dataDir` holds the servers' files and the logs. */
export async function openClusterFleet(opened: AsyncDisposableStack, dataDir: string): Promise<ClusterFleet> {
  const postgresSettings = { fsync: 'off', full_page_writes: 'off', shared_buffers: '128MB' }
  // This stack has a PostgreSQL only: the brokers are the cluster's.
  const options = { dataDir: `${dataDir}/stack`, postgresSettings, withoutKafka: true }
  const { stack, sql, reaper } = await openOwnStack(opened, options)
  const disk = { broker: 3, path: `${dataDir}/cluster/broker-3` }
  mkdirSync(disk.path, { recursive: true })
  const unmount = mountSmallDisk(disk.path, diskMebibytes)
  if (unmount) opened.defer(unmount)
  const cluster = opened.adopt(
    await startKafkaCluster({ dataDir: `${dataDir}/cluster`, reaper, isPartitionable: true }),
    (cluster) => cluster.stop(),
  )
  const java = await compileJava(fileURLToPath(new URL('../../kafka/ClusterTool.java', import.meta.url)))
  if (!java) throw new Error('A cluster needs Java.')
  opened.use(java)
  const kafka = createTestKafka(cluster.brokers)
  const admin = opened.adopt(createWatcher(cluster.brokers).admin(), (admin) => admin.disconnect())
  await admin.connect()
  const countFile = `${dataDir}/activity`
  const fleet = createFleet({
    databaseUrl: stack.databaseUrl,
    kafkaBrokers: cluster.brokers,
    reaper,
    topicPattern: '*.dlq.v1',
    consumerGroup: group,
    logDir: dataDir,
    env: {
      DLQ_RETRY_INITIAL_DELAY: `${retryDelayMs}ms`,
      DLQ_RETRY_LEASE: '10s',
      DLQ_RETRY_BATCH_SIZE: '100',
      NODE_OPTIONS: `--import=${counter}`,
      DLQ_COUNT_PORTS: cluster.nodes.map(({ port }) => port).join(),
      DLQ_COUNT_FILE: countFile,
    },
  })
  opened.adopt(fleet, (fleet) => fleet.stop())
  const startMember = async (name: (typeof members)[number]) => {
    await fleet.start(name.startsWith('ingester') ? 'ingester' : 'retrier', name)
  }
  for (const name of members) await startMember(name)
  return {
    ...{ cluster, fleet, sql, kafka, admin, java, startMember, dataDir, postgres: stack.postgres! },
    smallDisk: unmount ? disk : null,
    ingesterGroup: group,
    transactionalId: `${group}-retrier-1`,
    ledgerGroup: `${group}-retrier-ledger-1`,
    createTopics: (names, partitions) => createSpreadTopics(admin, cluster, { names, partitions }),
    activity: () => ({ ...sumCounts(dataDir), warnings: countWarnings(dataDir) }),
  }
}

async function createSpreadTopics(
  admin: Admin,
  cluster: KafkaCluster,
  { names, partitions }: { names: readonly string[]; partitions: number },
): Promise<void> {
  const ids = cluster.nodes.map(({ id }) => id)
  const replicaAssignment = Array.from({ length: partitions }, (_, partition) => ({
    partition,
    replicas: ids.map((_, at) => ids[(partition + at) % ids.length]!),
  }))
  await createTopics(
    admin,
    names.map((topic) => ({ topic, replicaAssignment })),
  )
}

function sumCounts(folder: string): Omit<Activity, 'warnings'> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.count'))
  const sum: Omit<Activity, 'warnings'> = { dials: 0, requests: 0, byApi: {} }
  for (const name of files) {
    const text = readFileSync(`${folder}/${name}`, 'utf8')
    // It may just be written.
    if (!text.endsWith('}')) continue
    const counts = JSON.parse(text) as typeof sum
    sum.dials += counts.dials
    sum.requests += counts.requests
    for (const [api, count] of Object.entries(counts.byApi)) sum.byApi[+api] = (sum.byApi[+api] ?? 0) + count
  }
  return sum
}

function countWarnings(folder: string): number {
  return members
    .map((name) => readFileSync(`${folder}/${name}.log`, 'utf8').match(/"level":"(warn|error)"/g)?.length ?? 0)
    .reduce((sum, count) => sum + count, 0)
}
