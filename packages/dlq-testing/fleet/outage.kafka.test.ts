// PostgreSQL or Kafka is away for a while. The services keep running, report it, and recover without help.
// An outage is no failed attempt of a message. The file owns its servers, because it freezes and kills them.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { openOwnStack } from 'dlq-testing/fleet/own-stack.ts'
import { createFleet, type Fleet } from 'dlq-testing/fleet/service-fleet.ts'
import { type ServiceName, serviceNames } from 'dlq-testing/fleet/service-process.ts'
import { createTopicsNamed } from 'dlq-testing/kafka/create-topics.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { freezeProcess } from 'dlq-testing/process/process-tree.ts'
import type { Reaper } from 'dlq-testing/process/reaper.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { numberedDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import type { Stack } from 'dlq-testing/stack.ts'
import { Kafka, logLevel, type Producer } from 'kafkajs'
import type postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const report = soak ? console.log : () => {}
const outageMs = soak ? 20_000 : 4500
const waveSize = soak ? 1000 : 100
/** How soon readiness must turn, on a machine that does nothing else: its checks take 2 s at most. */
const noticeMs = 5000
const recoverMs = 45_000
const batchSize = 50
const original = 'orders'
const dlq = 'orders.dlq.v1'

const logs = useLogFolder()
let release: AsyncDisposableStack | undefined
let stack: Stack
let fleet: Fleet
let sql: postgres.Sql
let reaper: Reaper
let kafka: Kafka
let producer: Producer
let produced = 0

beforeAll(async () => {
  await using opened = new AsyncDisposableStack()
  const postgresSettings = { fsync: 'off', full_page_writes: 'off', shared_buffers: '64MB' }
  ;({ stack, sql, reaper } = await openOwnStack(opened, { dataDir: `${logs.path}/stack`, postgresSettings }))
  // A separate client, because it has to outlive any outage.
  const retry = { retries: 1000, initialRetryTime: 100, maxRetryTime: 500 }
  kafka = new Kafka({
    clientId: 'test',
    brokers: stack.kafkaBrokers,
    logLevel: logLevel.NOTHING,
    requestTimeout: 5000,
    retry,
  })
  await createTopicsNamed(kafka, [original, dlq], 2)
  producer = opened.adopt(kafka.producer({ idempotent: true, maxInFlightRequests: 1 }), (producer) =>
    producer.disconnect(),
  )
  await producer.connect()
  fleet = createFleet({
    databaseUrl: stack.databaseUrl,
    kafkaBrokers: stack.kafkaBrokers,
    reaper,
    topicPattern: dlq,
    consumerGroup: 'outage',
    logDir: logs.path,
    env: {
      DLQ_RETRY_INITIAL_DELAY: '3s',
      DLQ_RETRY_LEASE: '10s',
      DLQ_RETRY_BATCH_SIZE: String(batchSize),
      DLQ_KAFKA_REQUEST_TIMEOUT: soak ? '15s' : '3s',
    },
  })
  opened.adopt(fleet, (fleet) => fleet.stop())
  await fleet.startAll()
  release = opened.move()
})

afterAll(() => release?.disposeAsync())

const deadLetter = (n: number) => numberedDeadLetter(n, { topic: original, partitions: 2, group: 'outage' })

/** A wave of dead letters in ten sends; each waits for Kafka to be back. */
async function produceWave(): Promise<void> {
  for (let send = 0; send < 10; send += 1) {
    const messages = Array.from({ length: waveSize / 10 }, (_, i) => deadLetter(produced + i))
    produced += messages.length
    await producer.send({ topic: dlq, messages })
    await sleep(100)
  }
}

/** The status of /readyz; 0 where it does not answer. */
async function readiness(name: ServiceName): Promise<number> {
  const answer = await fetch(`${fleet.get(name).url}/readyz`, { signal: AbortSignal.timeout(4000) }).catch(() => null)
  return answer?.status ?? 0
}

async function untilReadiness(names: readonly ServiceName[], status: number): Promise<void> {
  const check = async (name: ServiceName) => expect([name, await readiness(name)]).toEqual([name, status])
  await Promise.all(names.map((name) => eventually(() => check(name), { intervalMs: 100 })))
}

/** A message that is only retried when somebody asks for it. Returns its id. */
async function insertWaiting(): Promise<string> {
  produced += 1
  const record = { record_key: Buffer.from(`asked ${produced}`), record_value: Buffer.from('{}') }
  return insertMessageRow(sql, { original_topic: original, next_retry_at: null, ...record })
}

/** The API's status for a retry; 0 where it does not answer in time. */
async function requestRetry(id: string, timeoutMs = 60_000): Promise<number> {
  const init = { method: 'POST', headers: { prefer: 'wait=1' }, signal: AbortSignal.timeout(timeoutMs) }
  const answer = await fleet.request(`/api/v1/dlq/messages/${id}/retry`, init).catch(() => null)
  return answer?.status ?? 0
}

/** Messages that the retrier has claimed and given back unsent. */
async function countReleased(): Promise<number> {
  const metrics = await (await fetch(`${fleet.get('retrier').url}/metrics`)).text()
  return Number(/^dlq_retry_attempts_total\{outcome="released"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
}

/** How often the retrier found Kafka usable again. */
function countClosings(): number {
  return readFileSync(`${logs.path}/retrier.log`, 'utf8').split('"kafka_back"').length - 1
}

async function counts() {
  const [row] = await sql<{ rows: number; resolved: number }[]>`
    select count(*)::int as rows, count(*) filter (where status = 'RESOLVED')::int as resolved from dlq.dlq_messages`
  return row!
}

type Outage = { server: 'postgres' | 'kafka'; begin: () => () => Promise<void>; unready: readonly ServiceName[] }

const freeze = (server: Outage['server']) => () => {
  const resume = freezeProcess(stack[server]!.pid)
  return async () => resume()
}
const kill = (server: Outage['server']) => () => {
  process.kill(stack[server]!.pid, 'SIGKILL')
  return () => stack[server]!.restart()
}
const deaths: [title: string, Outage][] = [
  [
    'PostgreSQL that is killed and started again',
    { server: 'postgres', begin: kill('postgres'), unready: serviceNames },
  ],
  [
    'Kafka that is killed and started again',
    { server: 'kafka', begin: kill('kafka'), unready: ['ingester', 'retrier'] },
  ],
]
/** For the soak. A database that freezes is in run-worker.pg.test.ts, too. */
const freezes: [title: string, Outage][] = [
  ['PostgreSQL that is frozen', { server: 'postgres', begin: freeze('postgres'), unready: serviceNames }],
  ['Kafka that is frozen', { server: 'kafka', begin: freeze('kafka'), unready: ['ingester', 'retrier'] }],
]
const outages = soak ? [...deaths, ...freezes] : deaths

test.each(outages)('the fleet outlives %s, and counts no attempt for it', async (title, outage) => {
  const { server, begin, unready } = outage
  const pids = serviceNames.map((name) => fleet.get(name).pid)
  const [releasedBefore, closingsBefore] = [await countReleased(), countClosings()]
  await produceWave()
  await eventually(async () => expect((await counts()).rows).toBe(produced))
  const asked = await insertWaiting()

  const since = performance.now()
  const end = begin()
  let producing: Promise<void>
  try {
    producing = produceWave()
    producing.catch(() => {})
    await untilReadiness(unready, 503)
    const noticedMs = Math.round(performance.now() - since)
    report(`${title}: noticed after ${noticedMs} ms`)
    if (soak) expect(noticedMs).toBeLessThan(noticeMs)
    // Without PostgreSQL it fails, or does not answer in time. Without Kafka it works, because only the retrier needs Kafka.
    if (server === 'postgres') expect([0, 503]).toContain(await requestRetry(asked, 3000))
    else {
      expect([200, 202]).toContain(await requestRetry(asked))
      await untilReadiness(['api'], 200)
    }
    await sleep(Math.max(0, outageMs - (performance.now() - since)))
  } finally {
    await end()
  }
  const back = performance.now()
  await untilReadiness(serviceNames, 200)
  const readyMs = Math.round(performance.now() - back)
  await producing
  // 409: it is RESOLVED already.
  await eventually(async () => expect([200, 409]).toContain(await requestRetry(asked)))
  const done = { rows: produced, resolved: produced }
  await eventually(async () => expect(await counts()).toEqual(done), { intervalMs: 100 })
  const doneMs = Math.round(performance.now() - back)
  report(`${title}: ready after ${readyMs} ms, all done after ${doneMs} ms`)
  if (soak) expect(Math.max(readyMs, doneMs)).toBeLessThan(recoverMs)

  const states = await sql`select status, retry_count, count(*)::int from dlq.dlq_messages group by 1, 2`
  expect([...states]).toEqual([{ status: 'RESOLVED', retry_count: 1, count: produced }])
  // Each slot's batch, each time that Kafka seemed usable: a retrier that kept claiming would have given back more.
  const batches = 2 * Math.max(1, countClosings() - closingsBefore)
  expect((await countReleased()) - releasedBefore).toBeLessThanOrEqual(batches * batchSize)
  expect(serviceNames.map((name) => fleet.get(name).pid)).toEqual(pids)
  expect(serviceNames.filter((name) => fleet.get(name).hasExited())).toEqual([])
  const records = await readTopic(kafka, { topic: original, groupId: `reader-${produced}` })
  expect(new Set(records.map(({ key }) => String(key))).size).toBe(produced)
})
