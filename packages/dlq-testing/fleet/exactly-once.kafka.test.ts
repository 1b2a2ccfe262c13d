// Retriers are killed by SIGKILL all the time, at random and exactly where it hurts most; Kafka and
// PostgreSQL are started anew once. A read-committed consumer sees every message exactly once. On servers
// of its own, because it kills them.
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { deriveAttemptId } from 'dlq-core/message-id.ts'
import { createTopicsNamed } from 'dlq-testing/create-topics.ts'
import { insertDueRows } from 'dlq-testing/due-rows.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { readWithKcat } from 'dlq-testing/kcat.ts'
import { useLogFolder } from 'dlq-testing/log-folder.ts'
import { openOwnStack } from 'dlq-testing/own-stack.ts'
import { readTopic, type TopicRecord } from 'dlq-testing/read-topic.ts'
import type { Reaper } from 'dlq-testing/reaper.ts'
import { createFleet, type Fleet, type FleetOptions } from 'dlq-testing/service-fleet.ts'
import type { Stack } from 'dlq-testing/stack.ts'
import { createTestKafka } from 'dlq-testing/test-kafka.ts'
import type { Kafka } from 'kafkajs'
import type postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const total = soak ? 50_000 : 240
const settledMs = soak ? 1_800_000 : 600_000
const batchSize = soak ? 100 : 10
const killEveryMs = 1000
const topics = ['orders', 'payments', 'refunds', 'shipments']
const partitions = 3
const retriers = ['retrier-1', 'retrier-2', 'retrier-3']
const slotsEach = 2
const lease = '3s'

const logs = useLogFolder()
let release: AsyncDisposableStack | undefined
let stack: Stack
let sql: postgres.Sql
let kafka: Kafka
let fleet: Fleet
let reaper: Reaper

beforeAll(async () => {
  await using opened = new AsyncDisposableStack()
  const postgresSettings = { shared_buffers: '64MB' }
  ;({ stack, sql, reaper } = await openOwnStack(opened, { dataDir: `${logs.path}/stack`, postgresSettings }))
  kafka = createTestKafka(stack.kafkaBrokers)
  release = opened.move()
})

afterAll(() => release?.disposeAsync())

beforeEach(async () => {
  await sql`truncate dlq.dlq_messages, dlq.dlq_attempts, dlq.dlq_policies`
})

/** Topics that this test alone writes to. */
async function createTopics(test: string): Promise<string[]> {
  const names = topics.map((topic) => `${topic}-${test}`)
  await createTopicsNamed(kafka, names, partitions)
  return names
}

function fleetOptions(env: NodeJS.ProcessEnv): FleetOptions {
  return {
    ...{ databaseUrl: stack.databaseUrl, kafkaBrokers: stack.kafkaBrokers, reaper },
    ...{ topicPattern: '*.dlq.v1', consumerGroup: 'exactly-once', logDir: logs.path },
    env: { DLQ_RETRY_LEASE: lease, DLQ_RETRY_BATCH_SIZE: String(batchSize), DLQ_KAFKA_REQUEST_TIMEOUT: '5s', ...env },
  }
}

/** Retriers that are started again whenever they end, until they are disposed of. */
async function superviseRetriers(env: NodeJS.ProcessEnv) {
  fleet = createFleet(fleetOptions(env))
  let isOver = false
  let ends = 0
  const supervise = async (instance: string) => {
    while (!isOver) {
      const retrier = await fleet.start('retrier', instance, somewhereToDie())
      if (isOver) await retrier.stop('SIGKILL', 0)
      await retrier.exited
      ends += 1
    }
  }
  const supervised = Promise.all(retriers.map(supervise))
  return {
    ends: () => ends,
    async [Symbol.asyncDispose]() {
      isOver = true
      await fleet.stop()
      await supervised
    },
  }
}

/** Every other retrier dies by itself between two steps, some batches after its start. */
function somewhereToDie(): NodeJS.ProcessEnv {
  const point = ['between-send-and-commit', 'between-commit-and-settle', '', ''][randomInt(4)]
  return point === '' ? {} : { TEST_FAULT_POINT: `${point}@${randomInt(5, 40)}` }
}

async function countSettled(): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select count(*)::int as n from dlq.dlq_messages where status = 'RESOLVED'`
  return row!.n
}

const settledOr = (fallback: number) => countSettled().catch(() => fallback)

/** Kills a retrier each second, and each server once on the way, until all messages are settled. */
async function killUntilSettled(count: number, ends: () => number): Promise<string> {
  const deadline = Date.now() + settledMs
  let [kills, settled] = [0, 0]
  const restarts = [
    { after: count / 4, server: stack.kafka! },
    { after: count / 2, server: stack.postgres! },
  ]
  while (settled < count) {
    if (Date.now() > deadline) throw new Error(`${settled} of ${count} were settled in time`)
    await sleep(killEveryMs)
    const before = settled
    settled = await settledOr(settled)
    // On a machine so busy that nothing was settled meanwhile, kills alone would show nothing.
    if (settled > before) {
      await fleet.get(retriers[randomInt(retriers.length)]!).stop('SIGKILL', 0)
      kills += 1
    }
    if (settled >= (restarts[0]?.after ?? Number.POSITIVE_INFINITY)) {
      const { server } = restarts.shift()!
      process.kill(server.pid, 'SIGKILL')
      await server.restart()
    }
  }
  return `${kills} kills, ${Math.max(0, ends() - kills)} deaths at fault points`
}

const idOf = (record: TopicRecord) => headerOf(record, 'dlq-message-id')
const headerOf = (record: TopicRecord, wanted: string) =>
  String(record.headerPairs.find(([name]) => name === wanted)?.[1])

async function readAll(names: readonly string[]): Promise<TopicRecord[]> {
  const records: TopicRecord[] = []
  for (const topic of names) records.push(...(await readTopic(kafka, { topic, groupId: `reader-${topic}` })))
  return records
}

test('messages of retriers that are killed all the time are seen exactly once by read-committed consumers', {
  timeout: settledMs + 300_000,
}, async () => {
  const names = await createTopics('exactly-once')
  await insertDueRows(sql, { count: total, topics: names, partitions })
  await using supervised = await superviseRetriers({})
  const deaths = await killUntilSettled(total, supervised.ends)

  const states = await sql`select status, retry_count, count(*)::int from dlq.dlq_messages group by 1, 2`
  expect([...states]).toEqual([{ status: 'RESOLVED', retry_count: 1, count: total }])
  const attempts = await sql`select number, outcome, count(*)::int from dlq.dlq_attempts group by 1, 2`
  expect([...attempts]).toEqual([{ number: 1, outcome: 'published', count: total }])

  const rows = await sql<{ id: string }[]>`select id from dlq.dlq_messages`
  const records = await readAll(names)
  expect(records.map(idOf).sort()).toEqual(rows.map(({ id }) => id).sort())
  let seenByKcat = 0
  for (const topic of names) {
    const values = await readWithKcat(stack.kafkaBrokers, topic)
    if (values === null) continue
    seenByKcat += values.length
    expect(new Set(values).size).toBe(values.length)
  }
  expect([0, total]).toContain(seenByKcat)
  console.log(`${total} messages, ${deaths}; kcat saw ${seenByKcat}`)
})

test('with delivery at-least-once none is lost, and what is sent twice has the same attempt id', {
  timeout: settledMs + 300_000,
}, async () => {
  const count = total / 2
  const names = await createTopics('at-least-once')
  await insertDueRows(sql, { count, topics: names, partitions })
  await using supervised = await superviseRetriers({ DLQ_RETRY_DELIVERY: 'at-least-once' })
  const deaths = await killUntilSettled(count, supervised.ends)

  const rows = await sql<{ id: string }[]>`select id from dlq.dlq_messages`
  const seen = new Map<string, Set<string>>()
  const records = await readAll(names)
  for (const record of records) {
    const id = idOf(record)
    seen.set(id, (seen.get(id) ?? new Set()).add(headerOf(record, 'dlq-attempt-id')))
  }
  expect([...seen.keys()].sort()).toEqual(rows.map(({ id }) => id).sort())
  for (const [id, attemptIds] of seen) expect([...attemptIds]).toEqual([deriveAttemptId(id, 1)])
  console.log(`${count} messages, ${deaths}; ${records.length - count} duplicates`)
})

test('a broker that is away for long costs no attempt and no process, and afterwards the rate is kept', async () => {
  const [count, outageMs, rate] = soak ? [10_000, 60_000, 1000] : [1000, 6000, 200]
  const names = await createTopics('outage')
  const topic = names[0]!
  await insertDueRows(sql, { count: count / 2, topics: [topic], partitions })
  await sql`insert into dlq.dlq_policies (pattern, rate_per_second) values (${topic}, ${rate})`
  fleet = createFleet(fleetOptions({}))
  await Promise.all(retriers.map((instance) => fleet.start('retrier', instance)))
  try {
    await eventually(async () => expect(await countSettled()).toBeGreaterThan(0), { intervalMs: 20 })
    process.kill(stack.kafka!.pid, 'SIGKILL')
    await insertDueRows(sql, { count: count / 2, from: count / 2, topics: [topic], partitions })
    await sleep(outageMs)
    expect(await countSettled()).toBeLessThanOrEqual(count / 2)
    expect(retriers.filter((instance) => fleet.get(instance).hasExited())).toEqual([])
    await stack.kafka!.restart()
    await eventually(async () => expect(await countSettled()).toBe(count), { intervalMs: 100 })
  } finally {
    await fleet.stop()
  }
  const states = await sql`select status, retry_count, count(*)::int from dlq.dlq_messages group by 1, 2`
  expect([...states]).toEqual([{ status: 'RESOLVED', retry_count: 1, count }])
  const seconds = await sql<{ sent: number }[]>`
    select count(*)::int as sent from dlq.dlq_attempts group by date_trunc('second', settled_at)`
  // A bucket that was full, what grew in that second, and what every slot had claimed before it.
  const claimedBefore = retriers.length * slotsEach * batchSize
  expect(Math.max(...seconds.map(({ sent }) => sent))).toBeLessThanOrEqual(2 * rate + claimedBefore)
  expect((await readTopic(kafka, { topic, groupId: 'reader-outage' })).length).toBe(count)
})
