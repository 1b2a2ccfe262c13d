// Three brokers to which happens what happens to brokers, one thing after the other, under a load of ingestion and
// retries: nothing is lost, nothing stands in Kafka twice, and no process ends. Prints a table.
//
// DLQ_CLUSTER_FAULTS=disk,SIGSTOP tries only the faults with these words in their names.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Audit, auditLoad, countStored } from 'dlq-testing/cluster/audit-cluster.ts'
import { clusterFaults, type FaultContext, type FaultDone } from 'dlq-testing/cluster/cluster-faults.ts'
import { type ClusterFleet, members, openClusterFleet } from 'dlq-testing/cluster/cluster-fleet.ts'
import { startLoad } from 'dlq-testing/cluster/cluster-load.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { kafkaVersion } from 'dlq-testing/kafka/kafka-settings.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'

const perSecond = Number(process.env.DLQ_CLUSTER_RATE ?? 100)
const words = process.env.DLQ_CLUSTER_FAULTS?.split(',') ?? ['']
const faults = Object.entries(clusterFaults).filter(([name]) => words.some((word) => name.includes(word)))
const partitions = 6
const calmMs = 5000

const logs = useLogFolder()
let release: AsyncDisposableStack | undefined
let opened: ClusterFleet
const lines: string[][] = []

beforeAll(async () => {
  await using stack = new AsyncDisposableStack()
  opened = await openClusterFleet(stack, logs.path)
  release = stack.move()
}, 600_000)

afterAll(async () => {
  if (lines.length > 0) printTable()
  await release?.disposeAsync()
})

function printTable(): void {
  const header = [
    ...['fault', 'on', 'messages', 'lost', 'doubled (Java)', 'doubled (librdkafka)', 'attempts spent', 'ended'],
    ...['election s', 'longest wait to store s', '… to send s', 'requests/s', 'dials/s', 'warnings'],
  ]
  console.log(`three brokers of Kafka ${kafkaVersion}, ${perSecond} records/s`)
  for (const cells of [header, header.map(() => '---'), ...lines]) console.log(`| ${cells.join(' | ')} |`)
}

const seconds = (ms: number) => (ms / 1000).toFixed(1)

async function tryFault(name: string, at: number): Promise<void> {
  const { kafka, fleet } = opened
  const [original, dlq] = [`fault-${at}`, `fault-${at}.dlq.v1`]
  await opened.createTopics([original, dlq], partitions)
  const context: FaultContext = { ...opened, dlqTopic: dlq, targetTopic: original }
  const load = await startLoad({ kafka, original, dlq, partitions, perSecond })
  let done: FaultDone
  let spentMs: number
  let [before, after] = [opened.activity(), opened.activity()]
  try {
    await eventually(async () => expect((await countStored(opened.sql, dlq)).resolved).toBeGreaterThan(0))
    await sleep(calmMs)
    const since = performance.now()
    before = opened.activity()
    done = await clusterFaults[name]!(context)
    spentMs = performance.now() - since
    after = opened.activity()
    await sleep(calmMs)
  } finally {
    await load.stop()
  }
  const audit = await auditLoad(opened, load, { dlqTopic: dlq, targetTopic: original })
  const ended = members.filter((member) => fleet.get(member).hasExited())
  lines.push(
    lineOf(name, { done, audit, ended: ended.length }, (what) => (after[what] - before[what]) / (spentMs / 1000)),
  )
  const asked = Object.entries(after.byApi).map(
    ([api, count]) => [api, (count - (before.byApi[+api] ?? 0)) / (spentMs / 1000)] as const,
  )
  const busiest = asked.toSorted(([, a], [, b]) => b - a).slice(0, 5)
  console.log(
    `${lines.at(-1)!.join(' | ')}\n  requests/s by API: ${busiest.map(([api, rate]) => `${api}: ${rate.toFixed(0)}`).join(', ')}`,
  )
  expect({ ...audit, longestWaitMs: null, messages: null, doubled: audit.doubled.java }).toEqual({
    ...{ lost: 0, doubled: 0, attemptsSpent: 0, unresolved: 0, longestWaitMs: null, messages: null },
  })
  expect(audit.doubled.librdkafka ?? 0).toBe(0)
  expect(audit.messages).toBeGreaterThan(perSecond * 10)
  expect(ended).toEqual([])
}

function lineOf(
  name: string,
  { done, audit, ended }: { done: FaultDone; audit: Audit; ended: number },
  rate: (what: 'dials' | 'requests' | 'warnings') => number,
): string[] {
  const { messages, lost, doubled, attemptsSpent, longestWaitMs } = audit
  return [
    ...[name, done.what, messages, lost, doubled.java, doubled.librdkafka ?? '-', attemptsSpent, ended].map(String),
    ...[done.electionMs === null ? '-' : seconds(done.electionMs)],
    ...[seconds(longestWaitMs.stored), seconds(longestWaitMs.sent)],
    ...[rate('requests').toFixed(0), rate('dials').toFixed(1), rate('warnings').toFixed(1)],
  ]
}

test.for(faults.map(([name], at) => [name, at] as const))('%s', async ([name, at], { skip }) => {
  if (name === 'a full disk' && !opened.smallDisk) return skip('a full disk needs root, to mount a small one')
  await tryFault(name, at)
})
