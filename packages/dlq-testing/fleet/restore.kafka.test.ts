// The database dies and is restored from a backup, once with its WAL to the last moment and once as it was at the
// backup. Kafka has newer records meanwhile. Shows the promises of infra/docs/backup.md.
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrateUp } from 'dlq-db/migrate.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { createFleet, type Fleet } from 'dlq-testing/fleet/service-fleet.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { readTopic, type TopicRecord } from 'dlq-testing/kafka/read-topic.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import {
  archiveRest,
  archivingTo,
  layOutRestore,
  restoringFrom,
  takeBaseBackup,
} from 'dlq-testing/postgres/base-backup.ts'
import { startPostgres } from 'dlq-testing/postgres/postgres.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper, type Reaper } from 'dlq-testing/process/reaper.ts'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const perPhase = soak ? 10_000 : 150
/** Small, because several servers run in this file. */
const quick = { shared_buffers: '32MB', max_connections: '60' }

const empty = useDatabase()
const topics = useTopics()
const logs = useLogFolder()
let release: AsyncDisposableStack
let reaper: Reaper
let original: string
let dlq: string
let group: string
let produced = 0
/** The messages that had been published when the backup began. */
let beforeBackup: Set<string>
let allIds: string[]

const place = (name: string) => join(logs.path, name)

beforeAll(async () => {
  release = new AsyncDisposableStack()
  reaper = release.adopt(createReaper(), (reaper) => reaper.close())
  original = topics.topicName('restore')
  dlq = `${original}.dlq.v1`
  group = topics.groupName('restore')
  release.defer(() => topics.admin.deleteTopics({ topics: [dlq] }))
  await createTopics(
    topics.admin,
    [original, dlq].map((topic) => ({ topic, numPartitions: 2 })),
  )
  mkdirSync(place('archive'))
  chmodSync(place('archive'), 0o777)
  await workAndCrash()
})

afterAll(() => release?.disposeAsync())

function fleetOn(databaseUrl: string, name: string, env: Record<string, string> = {}) {
  mkdirSync(place(name))
  return createFleet({
    ...{ databaseUrl, reaper, topicPattern: dlq, consumerGroup: group, logDir: place(name) },
    kafkaBrokers: topics.brokers,
    env: { DLQ_RETRY_INITIAL_DELAY: '300ms', DLQ_RETRY_BATCH_SIZE: '20', DLQ_RETRY_LEASE: '3s', ...env },
  })
}

/** These tests do not use the API. */
async function startBoth(fleet: Fleet): Promise<void> {
  await Promise.all([fleet.start('ingester'), fleet.start('retrier')])
}

/** Dead letters, retries, a backup, more of both, and the end of the server while all of it goes on. */
async function workAndCrash(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const dataDir = place('first')
  const server = await startPostgres({ dataDir, reaper, settings: { ...quick, ...archivingTo(place('archive')) } })
  stack.defer(() => server.stop())
  await migrateUp({ databaseUrl: server.url })
  const sql = postgres(server.url, { max: 2, onnotice: () => {} })
  stack.defer(() => sql.end({ timeout: 5 }))
  const fleet = fleetOn(server.url, 'before')
  stack.defer(() => fleet.stop())
  await startBoth(fleet)

  await produce(perPhase)
  await eventually(async () => expect(await count(sql, 'RESOLVED')).toBeGreaterThan(perPhase / 2))
  await produce(perPhase / 3)
  beforeBackup = new Set((await readOriginal()).map(idOf))
  await takeBaseBackup(sql, { dataDir, target: place('backup') })
  await produce(perPhase)
  await eventually(async () => expect(await count(sql, 'RESOLVED')).toBeGreaterThan(perPhase * 1.7))
  const ending = produce(perPhase)
  await sleep(100)
  process.kill(server.pid, 'SIGKILL')
  await server.exited
  await ending
  await fleet.stop()
  await archiveRest(dataDir, place('archive'))
}

async function produce(messages: number): Promise<void> {
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  for (const end = produced + Math.round(messages); produced < end; ) {
    const size = Math.min(50, end - produced)
    const batch = Array.from({ length: size }, (_, i) => ({
      key: `${produced + i}`,
      value: `{"n":${produced + i}}`,
      headers: { 'dlq-original-topic': original, 'dlq-error-message': 'failed' },
    }))
    await producer.send({ topic: dlq, messages: batch })
    produced += size
  }
  await producer.disconnect()
}

async function count(sql: postgres.Sql, status: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from dlq.dlq_messages where status::text = ${status}`
  return row!.count
}

const headerOf = (record: TopicRecord, wanted: string) =>
  String(record.headerPairs.find(([name]) => name === wanted)?.[1])
const idOf = (record: TopicRecord) => headerOf(record, 'dlq-message-id')
const readOriginal = () => readTopic(topics.kafka, { topic: original, groupId: topics.groupName('reader') })

const lineOf = ({ partition, offset }: TopicRecord) => `${partition}/${offset}`

/** Restores, lets a fleet catch up, and returns the records that it has sent since, and the retrier's log. */
async function restoreAndCatchUp(name: string, { atBackup }: { atBackup: boolean }) {
  await using stack = new AsyncDisposableStack()
  await layOutRestore(place('backup'), place(name))
  const settings = { ...quick, ...restoringFrom(place('archive'), { atBackup }) }
  const server = await startPostgres({ dataDir: place(name), reaper, settings })
  stack.defer(() => server.stop())
  const sql = postgres(server.url, { max: 2, onnotice: () => {} })
  stack.defer(() => sql.end({ timeout: 5 }))
  const known = await sql<{ id: string }[]>`select id from dlq.dlq_messages where status = 'RESOLVED'`
  const past = new Set((await readOriginal()).map(lineOf))
  const fleet = fleetOn(server.url, `${name}-logs`)
  stack.defer(() => fleet.stop())
  await startBoth(fleet)
  await eventually(async () => expect(await count(sql, 'RESOLVED')).toBe(produced))

  const [row] = await sql`
    select count(*)::int as rows, count(distinct record_value)::int as values,
           (select sum(next_offset)::int from dlq.dlq_positions) as read
    from dlq.dlq_messages`
  expect(row).toEqual({ rows: produced, values: produced, read: produced })
  await fleet.stop()
  const all = await readOriginal()
  return {
    all,
    sent: all.filter((record) => !past.has(lineOf(record))),
    known: new Set(known.map(({ id }) => id)),
    log: readFileSync(join(place(`${name}-logs`), 'retrier.log'), 'utf8'),
  }
}

test('restored to its last moment, the fleet goes on: each dead letter is stored once and was sent once', async () => {
  const { all, sent, log } = await restoreAndCatchUp('last-moment', { atBackup: false })
  expect(sent.length).toBeGreaterThan(0)
  expect(all).toHaveLength(produced)
  allIds = all.map(idOf).toSorted()
  expect(new Set(allIds).size).toBe(produced)
  expect(log).not.toContain('database_behind_kafka')
})

test('restored as it was at the backup, the fleet sends the later messages again under the same attempt ids, and reports it', async () => {
  const earlier = new Map((await readOriginal()).map((record) => [idOf(record), headerOf(record, 'dlq-attempt-id')]))
  const { sent, known, log } = await restoreAndCatchUp('at-backup', { atBackup: true })
  // Messages that the backup has as published stay so. Each of the others is sent again.
  expect(beforeBackup.size).toBeGreaterThan(0)
  expect(beforeBackup.difference(known).size).toBeLessThan(beforeBackup.size)
  const again = new Set(sent.map(idOf))
  expect(sent).toHaveLength(again.size)
  expect([...known].filter((id) => again.has(id))).toEqual([])
  expect(again.size + known.size).toBe(produced)
  for (const record of sent) expect(headerOf(record, 'dlq-attempt-id')).toBe(earlier.get(idOf(record)))
  expect(log).toContain('"event":"database_behind_kafka"')
})

test('an empty database is filled from Kafka alone, with the same dead letters under the same ids', async () => {
  const fleet = fleetOn(empty.url, 'rebuilt-logs', { DLQ_RETRY_AUTO_RETRY: 'false' })
  try {
    await fleet.start('ingester')
    await eventually(async () => expect(await count(empty.sql, 'PENDING')).toBe(produced))
  } finally {
    await fleet.stop()
  }
  const rows = await empty.sql<{ id: string }[]>`select id from dlq.dlq_messages order by id`
  expect(rows.map(({ id }) => id)).toEqual(allIds)
})
