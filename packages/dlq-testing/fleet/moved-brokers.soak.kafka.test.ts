// All brokers get other addresses at once, as where the machines or the pods of a cluster are replaced: only the address of
// kafka.brokers leads to them still. Or another cluster answers there. The file owns its servers.
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { openOwnStack } from 'dlq-testing/fleet/own-stack.ts'
import { createFleet, type Fleet } from 'dlq-testing/fleet/service-fleet.ts'
import { serviceNames } from 'dlq-testing/fleet/service-process.ts'
import { createTopicsNamed } from 'dlq-testing/kafka/create-topics.ts'
import { type RunningKafka, startKafka } from 'dlq-testing/kafka/kafka.ts'
import { type Address, openAddress } from 'dlq-testing/process/address.ts'
import type { Reaper } from 'dlq-testing/process/reaper.ts'
import { numberedDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import { Kafka, logLevel } from 'kafkajs'
import type postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'

const original = 'orders'
const dlq = 'orders.dlq.v1'
const waveSize = 40
/** What a consumer knows of its brokers is asked again when it is older. */
const metadataAgeMs = 3000

const logs = useLogFolder()
let release: AsyncDisposableStack | undefined
let reaper: Reaper
let server: RunningKafka
let address: Address
let fleet: Fleet
let sql: postgres.Sql

/** Another name is another cluster. */
const startBroker = (name: string, port?: number) => startKafka({ dataDir: `${logs.path}/${name}`, reaper, port })

beforeAll(async () => {
  await using opened = new AsyncDisposableStack()
  const postgresSettings = { fsync: 'off', full_page_writes: 'off', shared_buffers: '64MB' }
  const own = await openOwnStack(opened, { dataDir: `${logs.path}/stack`, postgresSettings, withoutKafka: true })
  ;({ sql, reaper } = own)
  server = await startBroker('first')
  opened.defer(() => server.stop({ discard: true }))
  address = opened.use(await openAddress(server.port))
  await createTopicsNamed(connectTo(server), [original, dlq], 2)
  fleet = createFleet({
    databaseUrl: own.stack.databaseUrl,
    kafkaBrokers: [`127.0.0.1:${address.port}`],
    reaper,
    topicPattern: dlq,
    consumerGroup: 'moved',
    logDir: logs.path,
    env: { DLQ_RETRY_INITIAL_DELAY: '1s' },
  })
  opened.adopt(fleet, (fleet) => fleet.stop())
  await fleet.startAll()
  release = opened.move()
})

afterAll(() => release?.disposeAsync())

function connectTo({ brokers }: RunningKafka): Kafka {
  return new Kafka({ clientId: 'test', brokers, logLevel: logLevel.NOTHING })
}

/** A cluster of its own, at that port, with the topics and nothing in them. */
async function startEmpty(name: string, port: number): Promise<RunningKafka> {
  const empty = await startBroker(name, port)
  await createTopicsNamed(connectTo(empty), [original, dlq], 2)
  return empty
}

let produced = 0
async function produceWave(to = server): Promise<void> {
  const producer = connectTo(to).producer()
  await producer.connect()
  const messages = Array.from({ length: waveSize }, (_, at) =>
    numberedDeadLetter(produced + at, { topic: original, partitions: 2, group: 'moved' }),
  )
  await producer.send({ topic: dlq, messages })
  produced += waveSize
  await producer.disconnect()
}

/** Each once, and none sent a second time. `waves`: by cluster, in the order in which they came. */
async function untilAllSent(waves: readonly number[]): Promise<void> {
  const expected = waves.map((number) => ({ status: 'RESOLVED', retry_count: 1, count: number * waveSize }))
  await eventually(async () => {
    const rows = await sql<{ status: string; retry_count: number; count: number }[]>`
      select status, retry_count, count(*)::int from dlq.dlq_messages
      group by status, retry_count, dlq_cluster order by min(created_at)`
    expect([...rows]).toEqual(expected)
  })
}

/** Ends the broker, begins `next`, and leads the address to it. */
async function replace(next: () => Promise<RunningKafka>): Promise<void> {
  await server.stop()
  address.leadTo(null)
  server = await next()
  address.leadTo(server.port)
}

test('where all brokers have other addresses, the services find them by kafka.brokers again', async () => {
  await produceWave()
  await untilAllSent([1])

  const before = server.port
  await replace(() => startBroker('first'))
  expect(server.port).not.toBe(before)
  await produceWave()

  await untilAllSent([2])
})

test('another cluster has positions of its own: nothing is missing, and nothing is read twice', async () => {
  const { port } = server
  await replace(() => startEmpty('shorter', port))
  await produceWave()
  await untilAllSent([2, 1])

  // Its records at the positions of the former one are not those that follow there.
  await replace(async () => {
    await sleep(metadataAgeMs)
    const fresh = await startEmpty('longer', port)
    for (let wave = 0; wave < 3; wave++) await produceWave(fresh)
    return fresh
  })
  await untilAllSent([2, 1, 3])
  const present = await sql`select topic from dlq.dlq_topics where gone_at is null`
  expect([...present]).toEqual([{ topic: dlq }])

  expect(serviceNames.filter((name) => fleet.get(name).hasExited())).toEqual([])
  await fleet.get('ingester').stop('SIGTERM', 15_000)
  await fleet.start('ingester')
  await produceWave()
  await untilAllSent([2, 1, 4])
})
