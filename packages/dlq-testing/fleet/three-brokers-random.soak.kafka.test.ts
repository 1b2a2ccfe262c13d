// Half an hour of faults of three brokers in random order, while ingesters, retriers, the API and PostgreSQL are killed as
// well: each dead letter is stored once, sent once and RESOLVED, and nobody holds more and more memory, files or connections.
// Prints what is held, seven times, and at the end of each process.
//
// DLQ_CLUSTER_MESSAGES and DLQ_CLUSTER_MINUTES say how much; without them 100,000 in 30 minutes. DLQ_CLUSTER_KILL_SECONDS
// says how long it is on average from one kill to the next; without it 15.
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { auditLoad } from 'dlq-testing/cluster/audit-cluster.ts'
import { clusterFaults } from 'dlq-testing/cluster/cluster-faults.ts'
import { type ClusterFleet, members, openClusterFleet } from 'dlq-testing/cluster/cluster-fleet.ts'
import { startLoad } from 'dlq-testing/cluster/cluster-load.ts'
import { type HeldByCluster, heldByCluster } from 'dlq-testing/cluster/held-by-cluster.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { kafkaVersion } from 'dlq-testing/kafka/kafka-settings.ts'
import type { HeldByProcess } from 'dlq-testing/process/held-by-process.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'

const total = Number(process.env.DLQ_CLUSTER_MESSAGES ?? 100_000)
const minutes = Number(process.env.DLQ_CLUSTER_MINUTES ?? 30)
const killEveryMs = Number(process.env.DLQ_CLUSTER_KILL_SECONDS ?? 15) * 1000
const partitions = 6
const [original, dlq] = ['random', 'random.dlq.v1']
const killed = [...members, 'api', 'postgres'] as const
type Killed = (typeof killed)[number]
/** How often it is looked at what is held, the end included. */
const looks = 7
/** More than any service has needed after an hour: one that leaks passes them in that time. */
const limits = { memoryMiB: 300, files: 150 }
/** A pool has at most 10 connections, and a retrier 6 more for its slots and its locks. */
const maxConnections = members.length * 10 + 2 * 6 + 10

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

/** Kills one process after another, each once before any again, and starts it again at once. */
async function killAtRandom(isOver: () => boolean): Promise<Map<string, number>> {
  const kills = new Map<string, number>()
  let left: Killed[] = []
  while (!isOver()) {
    await sleep(randomInt(Math.ceil(killEveryMs / 3), Math.ceil((killEveryMs * 5) / 3)))
    if (left.length === 0) left = [...killed]
    const [name] = left.splice(randomInt(left.length), 1) as [Killed]
    await kill(name)
    kills.set(name, (kills.get(name) ?? 0) + 1)
  }
  return kills
}

async function kill(name: Killed): Promise<void> {
  if (name === 'postgres') {
    process.kill(opened.postgres.pid, 'SIGKILL')
    return await opened.postgres.restart()
  }
  const service = opened.fleet.get(name)
  expect(service.hasExited(), `${name} ended by itself: ${service.lastOutput()}`).toBe(false)
  await service.stop('SIGKILL', 0)
  if (name === 'api') await opened.fleet.start('api')
  else await opened.startMember(name)
}

/** Asks the API twice a second, as a console would, and counts its answers. */
async function askAtAnEvenRate(isOver: () => boolean): Promise<{ answers: number; refused: number }> {
  const counts = { answers: 0, refused: 0 }
  while (!isOver()) {
    const status = await opened.fleet.request('/api/v1/messages?limit=100').then(
      ({ status }) => status,
      () => null,
    )
    if (status === 200) counts.answers += 1
    else counts.refused += 1
    await sleep(500)
  }
  return counts
}

/** Looks at what is held at even times. Prints a line of a table each time. */
async function lookAtWhatIsHeld(isOver: () => boolean, begun: number): Promise<void> {
  console.log(
    '| minute | rows | services, MiB; files | brokers, MiB; files | connections | database; WAL; Kafka; logs, MiB |',
  )
  console.log('| --- | --- | --- | --- | --- | --- |')
  for (let look = 1; look < looks; look += 1) {
    const at = begun + (look * minutes * 60_000) / looks
    while (Date.now() < at && !isOver()) await sleep(1000)
    if (isOver()) return
    printHeld(await heldByCluster(opened), begun)
  }
}

function printHeld(held: HeldByCluster, begun: number): void {
  const { services, brokers, connections, rows, databaseMiB, walMiB, brokersMiB, logsMiB } = held
  const range = (of: HeldByCluster['services'], read: (one: HeldByProcess) => number) => {
    const figures = [...of.values()].map(read)
    return `${Math.min(...figures)}–${Math.max(...figures)}`
  }
  const cells = [
    ((Date.now() - begun) / 60_000).toFixed(0),
    rows,
    `${range(services, ({ memoryMiB }) => memoryMiB)}; ${range(services, ({ files }) => files)}`,
    `${range(brokers, ({ memoryMiB }) => memoryMiB)}; ${range(brokers, ({ files }) => files)}`,
    [...connections.values()].reduce((sum, n) => sum + n, 0),
    [databaseMiB, walMiB, brokersMiB, logsMiB].join('; '),
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

/** Every service runs, and none holds more than the limits. */
function expectLittleIsHeld({ services, connections }: HeldByCluster): void {
  for (const [name, held] of services) console.log(name, held)
  console.log('connections', Object.fromEntries(connections))
  expect(services.size).toBe(members.length + 1)
  const tooMuch = [...services].filter(
    ([, { memoryMiB, files }]) => memoryMiB > limits.memoryMiB || files > limits.files,
  )
  expect(tooMuch).toEqual([])
  expect([...connections.values()].reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(maxConnections)
}

test(
  'random faults of brokers, of PostgreSQL and of every service lose nothing, double nothing and leave nothing open',
  async () => {
    const begun = Date.now()
    const perSecond = total / (minutes * 60)
    const load = await startLoad({ kafka: opened.kafka, original, dlq, partitions, perSecond, limit: total })
    const isOver = () => load.acknowledged() >= total || Date.now() > begun + minutes * 60_000
    const [faults, kills, asked] = await Promise.all([
      failAtRandom(isOver),
      killAtRandom(isOver),
      askAtAnEvenRate(isOver),
      lookAtWhatIsHeld(isOver, begun),
    ])
    await load.stop()
    const audit = await auditLoad(opened, load, { dlqTopic: dlq, targetTopic: original })
    const took = (Date.now() - begun) / 60_000
    console.log(`Kafka ${kafkaVersion}, ${took.toFixed(1)} minutes`, audit)
    console.log('faults', Object.fromEntries(faults), 'kills', Object.fromEntries(kills), 'of the API', asked)
    const held = await heldByCluster(opened)
    printHeld(held, begun)
    expectLittleIsHeld(held)
    const { lost, doubled, attemptsSpent, unresolved } = audit
    expect({ lost, doubled, attemptsSpent, unresolved }).toEqual({
      ...{ lost: 0, attemptsSpent: 0, unresolved: 0 },
      doubled: { java: 0, librdkafka: doubled.librdkafka === null ? null : 0 },
    })
    expect(audit.messages).toBeGreaterThanOrEqual(load.acknowledged())
    await eventually(async () => expect((await opened.fleet.request('/readyz')).status).toBe(200))
  },
  // What was under way at the end of the faults has time to settle.
  (minutes + 30) * 60_000,
)
