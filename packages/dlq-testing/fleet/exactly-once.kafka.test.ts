// Retriers are killed by SIGKILL all the time, at random and between the steps of a batch. Kafka and PostgreSQL are
// killed once each. A read-committed consumer sees every message exactly once. The servers are this file's own.
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { openOwnStack } from 'dlq-testing/fleet/own-stack.ts'
import { createFleet, type Fleet, type FleetOptions } from 'dlq-testing/fleet/service-fleet.ts'
import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { createTopicsNamed } from 'dlq-testing/kafka/create-topics.ts'
import { readWithKcat } from 'dlq-testing/kafka/kcat.ts'
import { readTopic, type TopicRecord } from 'dlq-testing/kafka/read-topic.ts'
import { createTestKafka } from 'dlq-testing/kafka/test-kafka.ts'
import type { Reaper } from 'dlq-testing/process/reaper.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import type { Stack } from 'dlq-testing/stack.ts'
import type { Kafka } from 'kafkajs'
import type postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const total = soak ? 50_000 : 120
const settledMs = soak ? 1_800_000 : 600_000
const batchSize = soak ? 100 : 10
/** A retrier needs a second to start, so that more kills of a small run would only cost starts. */
const killEveryMs = soak ? 1000 : 2000
/** Often enough to find each server's moment in a small run. */
const lookEveryMs = 50
const topics = ['orders', 'payments', 'refunds', 'shipments']
const partitions = 3
const retriers = ['retrier-1', 'retrier-2', 'retrier-3']
const slotsEach = 3
const lease = '3s'
/** services/retrier/src/slot/fault-points.ts. */
const faultPoints = ['between-send-and-commit', 'between-commit-and-settle'] as const
type FaultPoint = (typeof faultPoints)[number]

const logs = useLogFolder()
let release: AsyncDisposableStack | undefined
let stack: Stack
let sql: postgres.Sql
let kafka: Kafka
let fleet: Fleet
let reaper: Reaper

beforeAll(async () => {
  await using opened = new AsyncDisposableStack()
  // The least safe way to have a database: what PostgreSQL says is committed, it forgets in a crash.
  const forgetful = { synchronous_commit: 'off', wal_writer_delay: '10s' }
  const postgresSettings = { shared_buffers: '64MB', ...forgetful }
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

/** Retriers that are restarted whenever they end, until disposal. Each dies at some of `points`. */
async function superviseRetriers(points: readonly FaultPoint[], env: NodeJS.ProcessEnv = {}) {
  fleet = createFleet(fleetOptions(env))
  let isOver = false
  const killed = new Set<ServiceProcess>()
  const deaths = { kill: 0, ...Object.fromEntries(points.map((point) => [point, 0])) } as Record<string, number>
  const supervise = async (instance: string, nth: number) => {
    while (!isOver) {
      const point = choosePoint(points, deaths, nth)
      const retrier = await fleet.start('retrier', instance, point ? { TEST_FAULT_POINT: point.setting } : {})
      if (isOver) await retrier.stop('SIGKILL', 0)
      const { signal } = await retrier.exited
      if (isOver || signal !== 'SIGKILL') continue
      const kind = killed.has(retrier) ? 'kill' : point?.name
      if (kind) deaths[kind]! += 1
    }
  }
  const supervised = Promise.all(retriers.map(supervise))
  return {
    deaths,
    async killOne() {
      const retrier = fleet.get(retriers[randomInt(retriers.length)]!)
      killed.add(retrier)
      await retrier.stop('SIGKILL', 0)
    },
    async [Symbol.asyncDispose]() {
      isOver = true
      await fleet.stop()
      await supervised
    },
  }
}

/** A retrier soon dies at a point without a death so far. Later every other retrier dies, some batches after its start. */
function choosePoint(points: readonly FaultPoint[], deaths: Record<string, number>, nth: number) {
  const missing = points.filter((point) => deaths[point] === 0)
  if (missing.length > 0) {
    const name = missing[nth % missing.length]!
    return { name, setting: `${name}@${randomInt(2)}` }
  }
  const name = points[randomInt(2 * points.length)]
  return name && { name, setting: `${name}@${randomInt(5, 40)}` }
}

type Supervised = Awaited<ReturnType<typeof superviseRetriers>>

async function countSettled(): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select count(*)::int as n from dlq.dlq_messages where status = 'RESOLVED'`
  return row!.n
}

const settledOr = (fallback: number) => countSettled().catch(() => fallback)

/**
 * Kills a retrier each second, and each server once on the way, until all messages are settled. Fails unless a
 * retrier died by a kill and at every point, and both servers died. Returns the deaths.
 */
async function killUntilSettled(count: number, supervised: Supervised): Promise<string> {
  const deadline = Date.now() + settledMs
  let settled = 0
  let last = { at: Date.now(), settled }
  const servers = [
    { after: count / 4, name: 'kafka' as const },
    { after: count / 2, name: 'postgres' as const },
  ]
  const restarts = { kafka: 0, postgres: 0 }
  // Few messages may all be settled between two looks, before a server's turn.
  while (settled < count || servers.length > 0) {
    if (Date.now() > deadline) throw new Error(`${settled} of ${count} were settled in time`)
    await sleep(lookEveryMs)
    settled = await settledOr(settled)
    if (settled >= (servers[0]?.after ?? Number.POSITIVE_INFINITY)) {
      const { name } = servers.shift()!
      process.kill(stack[name]!.pid, 'SIGKILL')
      await stack[name]!.restart()
      restarts[name] += 1
    }
    // Kills alone would show nothing on a machine so busy that no message was settled meanwhile.
    if (Date.now() - last.at < killEveryMs || settled === last.settled) continue
    await supervised.killOne()
    last = { at: Date.now(), settled }
  }
  const deaths = { ...supervised.deaths, ...restarts }
  const text = JSON.stringify(deaths)
  expect(Math.min(...Object.values(deaths)), text).toBeGreaterThan(0)
  return text
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
  await using supervised = await superviseRetriers(faultPoints)
  const deaths = await killUntilSettled(total, supervised)

  const states = await sql`select status, retry_count, count(*)::int from dlq.dlq_messages group by 1, 2`
  expect([...states]).toEqual([{ status: 'RESOLVED', retry_count: 1, count: total }])
  const attempts = await sql`select number, outcome, count(*)::int from dlq.dlq_attempts group by 1, 2`
  expect([...attempts]).toEqual([{ number: 1, outcome: 'published', count: total }])

  const rows = await sql<{ id: string }[]>`select id from dlq.dlq_messages`
  const records = await readAll(names)
  expect(records.map(idOf).sort()).toEqual(rows.map(({ id }) => id).sort())
  let seenByKcat: number | null = null
  for (const topic of names) {
    const values = await readWithKcat(stack.kafkaBrokers, topic)
    if (values === null) break
    seenByKcat = (seenByKcat ?? 0) + values.length
    expect(new Set(values).size).toBe(values.length)
  }
  if (seenByKcat !== null) expect(seenByKcat).toBe(total)
  console.log(`${total} messages, ${deaths}; kcat ${seenByKcat === null ? 'is not installed' : `saw ${seenByKcat}`}`)
})

test('with delivery at-least-once none is lost, and what is sent twice has the same attempt id', {
  timeout: settledMs + 300_000,
}, async () => {
  const count = soak ? total / 2 : total
  const names = await createTopics('at-least-once')
  await insertDueRows(sql, { count, topics: names, partitions })
  // This delivery commits no transaction, so the retrier settles directly after the send.
  await using supervised = await superviseRetriers(['between-commit-and-settle'], {
    DLQ_RETRY_DELIVERY: 'at-least-once',
  })
  const deaths = await killUntilSettled(count, supervised)

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

// outage.kafka.test.ts has a short one.
test.runIf(soak)(
  'a long outage of the broker costs no attempt and ends no process, and afterwards the rate is kept',
  async () => {
    const [count, outageMs, rate] = [10_000, 60_000, 1000]
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
    // A full bucket, the tokens of that second, and the messages that every slot had claimed before.
    const claimedBefore = retriers.length * slotsEach * batchSize
    expect(Math.max(...seconds.map(({ sent }) => sent))).toBeLessThanOrEqual(2 * rate + claimedBefore)
    expect((await readTopic(kafka, { topic, groupId: 'reader-outage' })).length).toBe(count)
  },
)
