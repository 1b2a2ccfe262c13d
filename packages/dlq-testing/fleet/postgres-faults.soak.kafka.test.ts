// What happens to a PostgreSQL, one thing after the other, each to servers of its own, under a load of ingestion, retries
// and changes by an operator: nothing is lost, no attempt is spent, and only a database that has forgotten what it had
// committed sends anything again. Prints a table.
//
// DLQ_POSTGRES_FAULTS=failover,disk tries only the faults with these words in their names, DLQ_POSTGRES_RATE says how many
// dead letters a second.
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { auditLoad, countStored } from 'dlq-testing/cluster/audit-cluster.ts'
import { retryDelayMs } from 'dlq-testing/cluster/cluster-fleet.ts'
import { startLoad } from 'dlq-testing/cluster/cluster-load.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { compileJava, type JavaProgram } from 'dlq-testing/kafka/java.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { postgresVersion } from 'dlq-testing/postgres/postgres-programs.ts'
import { startOperator } from 'dlq-testing/postgres-faults/operator-changes.ts'
import { postgresFaults } from 'dlq-testing/postgres-faults/postgres-faults.ts'
import { halves, openPostgresFleet } from 'dlq-testing/postgres-faults/postgres-fleet.ts'
import { springDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import type postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'

const perSecond = Number(process.env.DLQ_POSTGRES_RATE ?? 100)
const words = process.env.DLQ_POSTGRES_FAULTS?.split(',') ?? ['']
const names = Object.keys(postgresFaults).filter((name) => words.some((word) => name.includes(word)))
const partitions = 6
const calmMs = 5000
/** Of the late failures: beyond those of the load. */
const farOffset = 9_000_000_000n

const topics = useTopics()
const logs = useLogFolder()
let java: JavaProgram | null = null
const lines: string[][] = []

beforeAll(async () => {
  java = await compileJava(fileURLToPath(new URL('../kafka/ClusterTool.java', import.meta.url)))
})

afterAll(async () => {
  await java?.[Symbol.asyncDispose]()
  if (lines.length === 0) return
  const header = [
    'fault',
    'what',
    'messages',
    'lost',
    'sent again',
    'attempts spent',
    'changes accepted',
    'changes lost',
  ]
  header.push('longest wait to store s', '… to send s', 'ended')
  console.log(`PostgreSQL ${postgresVersion}, ${perSecond} records/s`)
  for (const cells of [header, header.map(() => '---'), ...lines]) console.log(`| ${cells.join(' | ')} |`)
})

const seconds = (ms: number) => (ms / 1000).toFixed(1)

const lateFailure = 'com.example.LateFailure'

/** Dead letters that fail in a way that was not seen before. */
async function sendLate(original: string, dlq: string, numbers: readonly number[]): Promise<void> {
  const producer = topics.kafka.producer({ idempotent: true, allowAutoTopicCreation: false })
  await producer.connect()
  const error = Object.assign(new Error('this is late'), { name: lateFailure })
  const messages = numbers.map((n) => ({
    ...springDeadLetter({
      ...{ topic: original, partition: 0, offset: farOffset + BigInt(n), timestamp: 1_700_000_000_000n, headers: [] },
      ...{ key: Buffer.from(`late ${n}`), value: Buffer.from('{}'), group: 'load', error },
    }),
    partition: 0,
  }))
  await producer.send({ topic: dlq, messages })
  await producer.disconnect()
}

/** The late failures that are stored, and how many of them the list of groups does not know. */
async function countLate(sql: postgres.Sql): Promise<{ stored: number; withoutGroup: number }> {
  const [row] = await sql<{ stored: number; withoutGroup: number }[]>`
    select count(*)::int as stored, (count(*) filter (where g.id is null))::int as "withoutGroup"
      from dlq.dlq_messages m left join dlq.dlq_groups g on g.id = m.group_id
     where m.error_class = ${lateFailure}`
  return row!
}

type Tools = { tool: JavaProgram; skip: (why: string) => never }

async function tryFault(name: string, { tool, skip }: Tools): Promise<void> {
  const fault = postgresFaults[name]!
  await using opened = new AsyncDisposableStack()
  const dataDir = `${logs.path}/${names.indexOf(name)}`
  mkdirSync(dataDir)
  const original = topics.topicName('postgres-fault')
  const dlq = topics.claimTopic(`${original}.dlq.v1`)
  await createTopics(
    topics.admin,
    [original, dlq].map((topic) => ({ topic, numPartitions: partitions })),
  )
  const fleet = await openPostgresFleet(opened, {
    ...{ dataDir, brokers: topics.brokers, dlq, consumerGroup: topics.groupName('postgres-fault'), retryDelayMs },
    ...{ replication: fault.replication, onSmallDisk: fault.onSmallDisk ?? null },
  })
  if (fault.onSmallDisk && fleet.smallDisk === null) return skip(`${name} needs root, to mount a small one`)
  const operator = startOperator(fleet.fleet)
  const load = await startLoad({ kafka: topics.kafka, original, dlq, partitions, perSecond })
  let what: string
  try {
    await eventually(async () => expect((await countStored(fleet.sql, dlq)).resolved).toBeGreaterThan(0))
    await sleep(calmMs)
    what = await fault.happen(fleet, async () => {
      // A kind of failure that the database meets now, and may forget.
      await sendLate(original, dlq, [0, 1, 2])
      await eventually(async () => {
        if (fault.replication === 'asynchronous') expect((await countLate(fleet.sql)).stored).toBe(3)
      })
      if (fault.thenNothingNew) await load.stop()
    })
    if (!fault.thenNothingNew) await sendLate(original, dlq, [3, 4, 5])
    await sleep(calmMs)
  } finally {
    await load.stop()
  }
  // Where no standby took over, no late failure was sent before.
  const lateSent = (fault.replication === null ? 0 : 3) + (fault.thenNothingNew ? 0 : 3)
  const late = await eventually(async () => {
    const found = await countLate(fleet.sql)
    expect(found.stored).toBe(lateSent)
    return found
  })
  const cluster = { brokers: topics.brokers }
  const audit = await auditLoad({ cluster, java: tool, sql: fleet.sql }, load, { dlqTopic: dlq, targetTopic: original })
  const changes = await operator.countLost(fleet.sql)
  const ended = halves.filter(([, instance]) => fleet.fleet.get(instance).hasExited()).length
  const { messages, lost, doubled, attemptsSpent, unresolved, longestWaitMs } = audit
  const counts = [messages, lost, doubled.java, attemptsSpent, changes.accepted, changes.lost]
  lines.push([
    ...[name, what, ...counts.map(String)],
    ...[seconds(longestWaitMs.stored), seconds(longestWaitMs.sent), String(ended)],
  ])
  console.log(lines.at(-1)!.join(' | '))

  expect({ lost, attemptsSpent, unresolved, ended }).toEqual({ lost: 0, attemptsSpent: 0, unresolved: 0, ended: 0 })
  expect(late.withoutGroup).toBe(0)
  expect(messages).toBeGreaterThan(perSecond * 5)
  expect(changes.accepted).toBeGreaterThan(0)
  // A fault that is said to forget and forgets nothing did not happen.
  if (fault.forgets) expect(Math.min(doubled.java, changes.lost)).toBeGreaterThan(0)
  else expect({ sentAgain: doubled.java, changesLost: changes.lost }).toEqual({ sentAgain: 0, changesLost: 0 })
}

test.for(names)('%s', async (name, { skip }) => {
  if (java === null) return skip('the audit needs Java')
  await tryFault(name, { tool: java, skip })
})
