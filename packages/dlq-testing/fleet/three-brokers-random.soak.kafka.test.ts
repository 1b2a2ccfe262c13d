// Half an hour of faults of three brokers in random order, while ingesters and retriers are killed as well: each dead
// letter is stored once, sent once and RESOLVED.
//
// DLQ_CLUSTER_MESSAGES and DLQ_CLUSTER_MINUTES say how much; without them 100,000 in 30 minutes.
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { auditLoad } from 'dlq-testing/cluster/audit-cluster.ts'
import { clusterFaults } from 'dlq-testing/cluster/cluster-faults.ts'
import { type ClusterFleet, members, openClusterFleet } from 'dlq-testing/cluster/cluster-fleet.ts'
import { startLoad } from 'dlq-testing/cluster/cluster-load.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { kafkaVersion } from 'dlq-testing/kafka/kafka-settings.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'

const total = Number(process.env.DLQ_CLUSTER_MESSAGES ?? 100_000)
const minutes = Number(process.env.DLQ_CLUSTER_MINUTES ?? 30)
const partitions = 6
const killEveryMs = { least: 5000, most: 25_000 }
const [original, dlq] = ['random', 'random.dlq.v1']

const logs = useLogFolder()
let release: AsyncDisposableStack | undefined
let opened: ClusterFleet

beforeAll(async () => {
  await using stack = new AsyncDisposableStack()
  opened = await openClusterFleet(stack, logs.path)
  await opened.createTopics([original, dlq], partitions)
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

/** Kills one of our processes after another, and starts it again at once. */
async function killAtRandom(isOver: () => boolean): Promise<Map<string, number>> {
  const kills = new Map<string, number>()
  while (!isOver()) {
    await sleep(randomInt(killEveryMs.least, killEveryMs.most))
    const name = members[randomInt(members.length)]!
    const service = opened.fleet.get(name)
    expect(service.hasExited()).toBe(false)
    await service.stop('SIGKILL', 0)
    kills.set(name, (kills.get(name) ?? 0) + 1)
    await opened.startMember(name)
  }
  return kills
}

test('random faults of brokers, retriers and ingesters lose nothing and double nothing', async () => {
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
  const { lost, doubled, attemptsSpent, unresolved } = audit
  expect({ lost, doubled, attemptsSpent, unresolved }).toEqual({
    ...{ lost: 0, attemptsSpent: 0, unresolved: 0 },
    doubled: { java: 0, librdkafka: doubled.librdkafka === null ? null : 0 },
  })
  expect(audit.messages).toBeGreaterThanOrEqual(load.acknowledged())
})
