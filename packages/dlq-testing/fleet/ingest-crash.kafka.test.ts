// Ingesters are killed, join and leave while records arrive, and PostgreSQL restarts. Each record is stored once, under
// the id that follows from its coordinates. The file has its own PostgreSQL.
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import { migrateUp } from 'dlq-db/migrate.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { openOwnStack } from 'dlq-testing/fleet/own-stack.ts'
import { createFleet, type Fleet } from 'dlq-testing/fleet/service-fleet.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import type { Reaper } from 'dlq-testing/process/reaper.ts'
import type { Stack } from 'dlq-testing/stack.ts'
import type { Producer } from 'kafkajs'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const report = soak ? console.log : () => {}
const total = soak ? 200_000 : 4000
const producingMs = soak ? 120_000 : 7000
const databaseRestarts = soak ? 2 : 1
const afterwards = soak ? 10_000 : 500
const partitions = 8
const sendSize = soak ? 500 : 50
const killEveryMs = 2000
const minKills = 3
const ingesters = ['ingester-1', 'ingester-2', 'ingester-3']

const topics = useTopics()
const logs = useLogFolder()
const firstTimestamp = Date.now()
let release: AsyncDisposableStack | undefined
let stack: Stack
let sql: postgres.Sql
let producer: Producer
let cluster: string
let dlq: string
let group: string
let reaper: Reaper
let fleet: Fleet
let produced = 0
/** An operator deletes it; it must stay deleted. */
let deletedId: string | undefined

beforeAll(async () => {
  await using opened = new AsyncDisposableStack()
  const postgresSettings = { fsync: 'off', full_page_writes: 'off', shared_buffers: '64MB' }
  const kafkaBrokers = topics.brokers.join()
  ;({ stack, sql, reaper } = await openOwnStack(opened, {
    dataDir: `${logs.path}/stack`,
    postgresSettings,
    kafkaBrokers,
  }))
  dlq = await topics.createTopic('ingest-crash', { partitions, suffix: '.dlq.v1' })
  group = topics.groupName('ingest-crash')
  cluster = (await topics.admin.describeCluster()).clusterId
  producer = opened.adopt(topics.kafka.producer({ idempotent: true, maxInFlightRequests: 1 }), (producer) =>
    producer.disconnect(),
  )
  await producer.connect()
  release = opened.move()
  fleet = createIngesters(stack.databaseUrl)
})

afterAll(() => release?.disposeAsync())

/** Describes ingesters on one database; starts none. */
function createIngesters(databaseUrl: string): Fleet {
  const servers = { databaseUrl, kafkaBrokers: topics.brokers, reaper }
  const fleet = createFleet({ ...servers, topicPattern: dlq, consumerGroup: group, logDir: logs.path })
  return release!.adopt(fleet, (fleet) => fleet.stop())
}

const timestampOf = (n: number) => firstTimestamp + n
const textOf = (n: number) => `{"n":${n}}`

/** The only producer sends in order, so the coordinates of each record are known beforehand. */
function idOf(n: number): string {
  const place = { cluster, topic: dlq, partition: n % partitions, offset: BigInt(Math.floor(n / partitions)) }
  return deriveMessageId({ ...place, timestamp: BigInt(timestampOf(n)) })
}

async function produce(count: number, { overMs = 0 } = {}): Promise<void> {
  for (let sent = 0; sent < count; sent += sendSize) {
    const messages = Array.from({ length: Math.min(sendSize, count - sent) }, (_, i) => {
      const n = produced + i
      return { partition: n % partitions, timestamp: String(timestampOf(n)), key: `${n}`, value: textOf(n) }
    })
    await producer.send({ topic: dlq, messages })
    produced += messages.length
    await sleep((overMs * sendSize) / count)
  }
}

async function countRows(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from dlq.dlq_messages`
  return row!.count
}

async function untilStored(sql: postgres.Sql, count: number): Promise<void> {
  await eventually(async () => expect(await countRows(sql)).toBe(count), { intervalMs: 100 })
}

/** Compares the rows with the records: missing rows, rows without a record, rows under another record's id. */
async function differences(sql: postgres.Sql): Promise<{ missing: string[]; wrong: string[] }> {
  const rows = await sql<{ id: string; value: string }[]>`
    select id, convert_from(record_value, 'UTF8') as value from dlq.dlq_messages`
  const stored = new Map(rows.map(({ id, value }) => [id, value]))
  const missing: string[] = []
  const wrong = new Map(stored)
  for (let n = 0; n < produced; n += 1) {
    const id = idOf(n)
    if (stored.get(id) === textOf(n)) wrong.delete(id)
    else if (id !== deletedId) missing.push(`${n} ${id}`)
  }
  return { missing: missing.slice(0, 10), wrong: [...wrong.entries()].map(String).slice(0, 10) }
}

const nothing = { missing: [], wrong: [] }

/**
 * Kills one ingester after the other and restarts it. Before each kill it waits for rows since the last one, because on
 * a busy machine the start of an ingester takes longer than the pause between kills. Returns the number of kills, and
 * how many of them happened while records were still to be stored.
 */
async function killInTurn(isOver: () => boolean): Promise<{ kills: number; whileStoring: number }> {
  let [kills, whileStoring, rows] = [0, 0, 0]
  while (!isOver() || kills < minKills) {
    await sleep(killEveryMs - 250 + randomInt(0, 500))
    const before = rows
    while (rows === before && rows < total) {
      rows = await countRows(sql).catch(() => before)
      await sleep(20)
    }
    const name = ingesters[kills % ingesters.length]!
    const ingester = fleet.get(name)
    await ingester.stop('SIGKILL', 0)
    if ((await ingester.exited).signal === 'SIGKILL') {
      kills += 1
      if (rows < total) whileStoring += 1
    }
    await fleet.start('ingester', name)
  }
  return { kills, whileStoring }
}

/** A further ingester joins, which moves partitions, and leaves again. */
async function joinAndLeave(): Promise<void> {
  const guest = await fleet.start('ingester', 'guest')
  await guest.ready()
  await sleep(1000)
  await guest.stop('SIGTERM', 60_000)
}

/** Returns how often the server was restarted. */
async function restartDatabase(): Promise<number> {
  const pids = new Set([stack.postgres!.pid])
  for (let restarts = 0; restarts < databaseRestarts; restarts += 1) {
    await sleep(producingMs / (databaseRestarts + 1))
    await stack.postgres!.restart()
    pids.add(stack.postgres!.pid)
  }
  return pids.size - 1
}

test('ingesters that are killed, join and leave, on a database that restarts, store every record once under its own id', async () => {
  await Promise.all(ingesters.map((name) => fleet.start('ingester', name)))
  await fleet.get(ingesters[0]!).ready()
  let isOver = false
  const killing = killInTurn(() => isOver)
  const disturbing = Promise.all([restartDatabase(), joinAndLeave()])
  await produce(total, { overMs: producingMs })
  isOver = true
  const { kills, whileStoring } = await killing
  const [restarts] = await disturbing
  const since = performance.now()
  const storedWhileKilled = await countRows(sql)
  await untilStored(sql, total)
  report(
    `${kills} kills, ${restarts} restarts of PostgreSQL: ${storedWhileKilled} of ${total} rows stored meanwhile, ` +
      `the rest ${Math.round(performance.now() - since)} ms after`,
  )
  expect(kills).toBeGreaterThanOrEqual(minKills)
  expect(whileStoring).toBeGreaterThan(0)
  expect(restarts).toBe(databaseRestarts)
  expect(await differences(sql)).toEqual(nothing)
})

test("without the group's committed offsets ingestion continues behind the stored rows, and deleted messages stay deleted", async () => {
  await Promise.all(ingesters.map((name) => fleet.get(name).stop('SIGTERM', 60_000)))
  // One that was killed is a member until its session ends.
  await eventually(() => topics.admin.deleteGroups([group]))
  deletedId = idOf(total >> 1)
  await sql`delete from dlq.dlq_messages where id = ${deletedId}`

  await Promise.all(ingesters.map((name) => fleet.start('ingester', name)))
  await produce(afterwards)
  await untilStored(sql, produced - 1)
  expect(await differences(sql)).toEqual(nothing)
  // For the next test: offsets are committed a moment after the rows are; where a rebalance came between, with the next rows.
  await eventually(async () => {
    await produce(1)
    expect(await hasCommitted()).toBe(true)
  })
  await untilStored(sql, produced - 1)
  await Promise.all(ingesters.map((name) => fleet.get(name).stop('SIGTERM', 60_000)))
})

/** Whether the group has committed any offset. */
async function hasCommitted(): Promise<boolean> {
  const committed = await topics.admin.fetchOffsets({ groupId: group, topics: [dlq] })
  return committed[0]!.partitions.some(({ offset }) => Number(offset) > 0)
}

test('a new database reads the topic from its beginning, whatever the group has committed, and has the same ids', async () => {
  expect(await hasCommitted()).toBe(true)
  const url = new URL(stack.databaseUrl)
  url.pathname = 'rebuilt'
  await sql`create database rebuilt`
  await migrateUp({ databaseUrl: url.href })
  await using opened = new AsyncDisposableStack()
  const rebuilt = opened.adopt(postgres(url.href, { max: 1, onnotice: () => {} }), (sql) => sql.end({ timeout: 5 }))
  const since = performance.now()
  await createIngesters(url.href).start('ingester', 'rebuilding')
  await untilStored(rebuilt, produced)
  report(`${produced} records read again in ${Math.round(performance.now() - since)} ms`)
  deletedId = undefined
  expect(await differences(rebuilt)).toEqual(nothing)
})
