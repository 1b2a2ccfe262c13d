// Every service is killed by SIGKILL while it works, again and again, first on PostgreSQL itself and then behind PgBouncer in
// transaction mode. Every record is stored once and sent at least once; a record that is sent twice has the same attempt id.
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { deriveAttemptId, deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { type ServiceName, serviceNames } from 'dlq-testing/fleet/service-process.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { readTopic, type TopicRecord } from 'dlq-testing/kafka/read-topic.ts'
import { findPgBouncer, startPooler } from 'dlq-testing/pooling/pgbouncer.ts'
import { numberedDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import { expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const report = soak ? console.log : () => {}
const total = soak ? 10_000 : 1000
const producingMs = soak ? 120_000 : 12_000
const minKills = soak ? 8 : 1
const sendSize = 10

const fleet = useFleet('crash', {
  partitions: 3,
  env: { DLQ_RETRY_INITIAL_DELAY: '200ms', DLQ_RETRY_LEASE: '5s', DLQ_RETRY_BATCH_SIZE: '50' },
})

/** The settings of every start, which the test sets before the first one. */
let connection: NodeJS.ProcessEnv = {}
let produced = 0

async function startAll(): Promise<void> {
  const started = await Promise.all(serviceNames.map((name) => fleet.services.start(name, name, connection)))
  await Promise.all(started.map((service) => service.ready()))
}

const deadLetter = (n: number) => numberedDeadLetter(n, { topic: fleet.original, partitions: 3, group: 'crash' })

/** Sends `total` dead letters, and more on a slow machine, until `isEnough`. */
async function produce(isEnough: () => boolean): Promise<void> {
  const first = produced
  while (produced < first + total || (!isEnough() && produced < first + 10 * total)) {
    const messages = Array.from({ length: sendSize }, (_, i) => deadLetter(produced + i))
    await fleet.producer.send({ topic: fleet.dlq, messages })
    produced += messages.length
    await sleep((producingMs * sendSize) / total)
  }
}

let kills: Record<ServiceName, number>

/** Kills a service some moments after each time that `progress` has grown, until `isOver`. */
async function killWhileWorking(
  name: ServiceName,
  { progress, isOver }: { progress: () => Promise<number>; isOver: () => boolean },
) {
  while (!isOver()) {
    const before = await progress()
    while (!isOver() && (await progress()) <= before) await sleep(20)
    await sleep(randomInt(0, 400))
    const service = fleet.services.get(name)
    await service.stop('SIGKILL', 0)
    if ((await service.exited).signal === 'SIGKILL') kills[name] += 1
    await fleet.services.start(name, name, connection)
  }
}

/** An operator who lists and retries all the time. Returns the statuses of the answers, each once; 0: no answer. */
async function askWhileKilled(isOver: () => boolean): Promise<Set<number>> {
  const statuses = new Set<number>()
  while (!isOver()) {
    try {
      const list = await fleet.services.request(`/api/v1/dlq/${fleet.original}?page_size=5`)
      statuses.add(list.status)
      const { messages = [] } = list.json() as { messages?: { id: string }[] }
      for (const { id } of messages) {
        const path = `/api/v1/dlq/messages/${id}/retry`
        statuses.add((await fleet.services.request(path, { method: 'POST', headers: { prefer: 'wait=0' } })).status)
      }
    } catch {
      statuses.add(0)
    }
    await sleep(100)
  }
  return statuses
}

const idOf = (record: TopicRecord) => {
  const { partition, offset, timestamp } = record
  const place = { cluster: fleet.cluster, topic: fleet.dlq, partition }
  return deriveMessageId({ ...place, offset: BigInt(offset), timestamp: BigInt(timestamp) })
}
const headerOf = (record: TopicRecord, wanted: string) =>
  String(record.headerPairs.find(([name]) => name === wanted)?.[1])
const read = (topic: string) => readTopic(fleet.topics.kafka, { topic, groupId: fleet.topics.groupName('reader') })

test('services killed at random moments lose no dead letter, store none twice and retry every one', async () => {
  await startAll()
  await killAndCompare()
})

test('nor do they behind PgBouncer in transaction mode', async ({ skip }) => {
  if (findPgBouncer() === null)
    return skip('no PgBouncer here (Debian: apt-get install pgbouncer, or PGBOUNCER=/its/path)')
  await fleet.services.stop()
  const pooler = await startPooler(fleet.database.url, { size: 8 })
  connection = { DATABASE_URL: pooler.url, DLQ_DATABASE_PREPARE: 'false' }
  try {
    await startAll()
    await killAndCompare()
  } finally {
    await fleet.services.stop()
    await pooler.close()
  }
})

async function killAndCompare(): Promise<void> {
  const { sql } = fleet.database
  kills = { ingester: 0, retrier: 0, api: 0 }
  const counts = async () => {
    const [row] = await sql<{ rows: number; resolved: number }[]>`
      select count(*)::int as rows, count(*) filter (where status = 'RESOLVED')::int as resolved from dlq.dlq_messages`
    return row!
  }
  let isProduced = false
  const isOver = () => isProduced
  const killing = Promise.all([
    killWhileWorking('ingester', { progress: async () => (await counts()).rows, isOver }),
    killWhileWorking('retrier', { progress: async () => (await counts()).resolved, isOver }),
    killWhileWorking('api', { progress: async () => (await counts()).rows, isOver }),
    askWhileKilled(isOver),
  ])
  await produce(() => Math.min(...Object.values(kills)) >= minKills)
  isProduced = true
  const [, , , statuses] = await killing
  const timer = performance.now()

  await eventually(async () => expect(await counts()).toEqual({ rows: produced, resolved: produced }), {
    intervalMs: 100,
  })
  const settledMs = Math.round(performance.now() - timer)
  report(
    `kills: ingester ${kills.ingester}, retrier ${kills.retrier}, api ${kills.api}; settled ${settledMs} ms after the last`,
  )
  expect(Math.min(...Object.values(kills))).toBeGreaterThanOrEqual(minKills)
  expect([...statuses]).toEqual(expect.arrayContaining([200, 202]))
  // 503: on a machine so busy that the database seems away.
  expect([...statuses].filter((status) => ![0, 200, 202, 409, 503].includes(status))).toEqual([])

  const rows = await sql<{ id: string }[]>`select id from dlq.dlq_messages`
  const ids = rows.map(({ id }) => id).sort()
  expect(ids).toEqual((await read(fleet.dlq)).map(idOf).sort())

  // One attempt for each, however often it was sent.
  const attempts = await sql<{ message_id: string; number: number; outcome: string }[]>`
    select message_id, number, outcome from dlq.dlq_attempts order by message_id`
  expect([...attempts]).toEqual(ids.map((message_id) => ({ message_id, number: 1, outcome: 'published' })))
  const attemptIds = new Map<string, Set<string>>()
  const republished = await read(fleet.original)
  for (const record of republished) {
    const id = headerOf(record, 'dlq-message-id')
    attemptIds.set(id, (attemptIds.get(id) ?? new Set()).add(headerOf(record, 'dlq-attempt-id')))
  }
  expect([...attemptIds.keys()].sort()).toEqual(ids)
  for (const [id, ofMessage] of attemptIds) expect([...ofMessage]).toEqual([deriveAttemptId(id, 1)])
  report(`${republished.length} records for ${produced} messages`)
}
