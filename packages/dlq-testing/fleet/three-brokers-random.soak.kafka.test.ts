// Half an hour of faults of three brokers in random order, while ingesters, retriers, the API and PostgreSQL are killed as
// well: each dead letter is stored once, sent once and RESOLVED, and no process holds more and more memory, files or
// connections.
//
// DLQ_CLUSTER_MESSAGES and DLQ_CLUSTER_MINUTES say how much; without them 100,000 in 30 minutes. For an hour:
// DLQ_CLUSTER_MINUTES=60 DLQ_CLUSTER_MESSAGES=200000 npm run soak -- three-brokers-random
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { auditLoad } from 'dlq-testing/cluster/audit-cluster.ts'
import { clusterFaults } from 'dlq-testing/cluster/cluster-faults.ts'
import { type ClusterFleet, members, openClusterFleet } from 'dlq-testing/cluster/cluster-fleet.ts'
import { startLoad } from 'dlq-testing/cluster/cluster-load.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { kafkaVersion } from 'dlq-testing/kafka/kafka-settings.ts'
import { type HeldByProcess, heldBy } from 'dlq-testing/process/held-by-process.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'

const total = Number(process.env.DLQ_CLUSTER_MESSAGES ?? 100_000)
const minutes = Number(process.env.DLQ_CLUSTER_MINUTES ?? 30)
const partitions = 6
const killEveryMs = { least: 5000, most: 25_000 }
const [original, dlq] = ['random', 'random.dlq.v1']
const killed = [...members, 'api', 'postgres'] as const
/** A pool has 10 connections, and a retrier 6 more for its slots and its locks. */
const maxConnections = 16
/** More than any process has needed after an hour: one that leaks passes them in that time. */
const limits = { memoryMiB: 300, files: 150 }

const logs = useLogFolder()
let release: AsyncDisposableStack | undefined
let opened: ClusterFleet

beforeAll(async () => {
  await using stack = new AsyncDisposableStack()
  opened = await openClusterFleet(stack, logs.path)
  await opened.createTopics([original, dlq], partitions)
  await opened.fleet.start('api')
  release = stack.move()
}, 600_000)

afterAll(() => release?.disposeAsync())

/** Each fault once before any comes again. Returns how often each one happened. */
async function failAtRandom(isOver: () => boolean): Promise<Map<string, number>> {
  const happened = new Map<string, number>()
  let left: string[] = []
  while (!isOver()) {
    if (left.length === 0)
      left = Object.keys(clusterFaults).filter((name) => opened.smallDisk !== null || name !== 'a full disk')
    const [name] = left.splice(randomInt(left.length), 1) as [string]
    console.log(`${name}: ${(await clusterFaults[name]!({ ...opened, dlqTopic: dlq, targetTopic: original })).what}`)
    happened.set(name, (happened.get(name) ?? 0) + 1)
  }
  return happened
}

/** Kills one process after another, and starts it again at once. */
async function killAtRandom(isOver: () => boolean): Promise<Map<string, number>> {
  const kills = new Map<string, number>()
  let left: (typeof killed)[number][] = []
  while (!isOver()) {
    await sleep(randomInt(killEveryMs.least, killEveryMs.most))
    if (left.length === 0) left = [...killed]
    const [name] = left.splice(randomInt(left.length), 1) as [(typeof killed)[number]]
    if (name === 'postgres') await killPostgres()
    else await killService(name)
    kills.set(name, (kills.get(name) ?? 0) + 1)
  }
  return kills
}

async function killService(name: Exclude<(typeof killed)[number], 'postgres'>): Promise<void> {
  const service = opened.fleet.get(name)
  expect(service.hasExited()).toBe(false)
  await service.stop('SIGKILL', 0)
  if (name === 'api') await opened.fleet.start('api')
  else await opened.startMember(name)
}

async function killPostgres(): Promise<void> {
  process.kill(opened.postgres.pid, 'SIGKILL')
  await opened.postgres.restart()
}

/** Prints what each process holds, and what is on the disks; throws where a process holds more than the limits. */
async function lookAtWhatIsHeld(): Promise<void> {
  const { fleet, sql } = opened
  const services = [...members, 'api'].map((name): [string, HeldByProcess] => [name, heldBy(fleet.get(name).pid)])
  for (const [name, held] of services) console.log(name, held)
  const connections = await sql<{ name: string; connections: number }[]>`
    select application_name as name, count(*)::int as connections from pg_stat_activity
     where backend_type = 'client backend' group by 1 order by 1`
  console.log(
    'connections to PostgreSQL',
    Object.fromEntries(connections.map(({ name, connections }) => [name, connections])),
  )
  const [disk] = await sql<{ database: string; wal: string }[]>`
    select pg_size_pretty(pg_database_size(current_database())) as database,
           (select pg_size_pretty(sum(size)) from pg_ls_waldir()) as wal`
  console.log('disk of PostgreSQL', { ...disk })
  for (const [name, { memoryMiB, files }] of services) {
    expect({ name, isSmall: memoryMiB <= limits.memoryMiB && files <= limits.files }).toEqual({ name, isSmall: true })
  }
  const ours = connections.filter(({ name }) => name.startsWith('dlq-'))
  const open = ours.reduce((sum, { connections }) => sum + connections, 0)
  expect(open).toBeLessThanOrEqual(services.length * maxConnections)
}

test('random faults of brokers, of PostgreSQL and of every service lose nothing and double nothing', async () => {
  const begun = Date.now()
  const perSecond = total / (minutes * 60)
  const load = await startLoad({ kafka: opened.kafka, original, dlq, partitions, perSecond, limit: total })
  const isOver = () => load.acknowledged() >= total || Date.now() > begun + minutes * 60_000
  const [faults, kills] = await Promise.all([failAtRandom(isOver), killAtRandom(isOver)])
  await load.stop()
  const audit = await auditLoad(opened, load, { dlqTopic: dlq, targetTopic: original })
  const took = (Date.now() - begun) / 60_000
  console.log(`Kafka ${kafkaVersion}, ${took.toFixed(1)} minutes`, audit)
  console.log('faults', Object.fromEntries(faults), 'kills', Object.fromEntries(kills))
  await lookAtWhatIsHeld()
  const { lost, doubled, attemptsSpent, unresolved } = audit
  expect({ lost, doubled, attemptsSpent, unresolved }).toEqual({
    ...{ lost: 0, attemptsSpent: 0, unresolved: 0 },
    doubled: { java: 0, librdkafka: doubled.librdkafka === null ? null : 0 },
  })
  expect(audit.messages).toBeGreaterThanOrEqual(load.acknowledged())
})
