// The connections to PostgreSQL carry nothing any more, and nobody says so: its host died and another one took over its name,
// or a firewall forgot them. Services give them up, and go on with new ones.
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { createFleet, type Fleet } from 'dlq-testing/fleet/service-fleet.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { openSilentNetwork, type SilentNetwork } from 'dlq-testing/postgres-faults/silent-network.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { numberedDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'

const rounds = 3
const perRound = 200
const statementMs = 2000
/** A statement's time, and 15 s more, by looks that are an eighth of that apart; and as long again for a busy machine. */
const recoverMs = 2 * 1.125 * (statementMs + 15_000)

const database = useDatabase()
const topics = useTopics()
const logs = useLogFolder()
let release: AsyncDisposableStack | undefined
let network: SilentNetwork
let fleet: Fleet
let original: string
let dlq: string

beforeAll(async () => {
  await using opened = new AsyncDisposableStack()
  const reaper = opened.adopt(createReaper(), (reaper) => reaper.close())
  original = topics.topicName('silent')
  dlq = topics.claimTopic(`${original}.dlq.v1`)
  await createTopics(
    topics.admin,
    [original, dlq].map((topic) => ({ topic, numPartitions: 2 })),
  )
  network = opened.use(await openSilentNetwork(database.url))
  const env = {
    DLQ_DATABASE_STATEMENT_TIMEOUT: `${statementMs}ms`,
    DLQ_SERVER_REQUEST_TIMEOUT: '3s',
    DLQ_RETRY_INITIAL_DELAY: '200ms',
    DLQ_RETRY_LEASE: '5s',
  }
  fleet = opened.adopt(
    createFleet({
      ...{ databaseUrl: network.url, kafkaBrokers: topics.brokers, reaper, logDir: logs.path, env },
      ...{ topicPattern: dlq, consumerGroup: topics.groupName('silent') },
    }),
    (fleet) => fleet.stop(),
  )
  await fleet.startAll()
  release = opened.move()
})
afterAll(() => release?.disposeAsync())

async function produce(from: number): Promise<void> {
  const producer = topics.kafka.producer()
  await producer.connect()
  const messages = Array.from({ length: perRound }, (_, n) =>
    numberedDeadLetter(from + n, { topic: original, partitions: 2, group: 'g', value: Buffer.from(`${from + n}`) }),
  )
  await producer.send({ topic: dlq, messages })
  await producer.disconnect()
}

async function countResolved(): Promise<number> {
  const [row] = await database.sql<{ n: number }[]>`
    select count(*)::int as n from dlq.dlq_messages where status = 'RESOLVED'`
  return row!.n
}

test('ingesters, retriers and the API go on in bounded time, and each message is sent once', async () => {
  await produce(0)
  await eventually(async () => expect(await countResolved()).toBe(perRound))
  for (let round = 1; round <= rounds; round += 1) {
    await produce(round * perRound)
    // In the middle of it.
    await eventually(async () => expect(await countResolved()).toBeGreaterThan(round * perRound), { intervalMs: 5 })
    expect(network.silence()).toBeGreaterThan(3)
    const since = performance.now()
    await eventually(async () => expect(await countResolved()).toBe((round + 1) * perRound))
    await eventually(async () => expect((await fleet.request('/readyz')).status).toBe(200))
    const tookMs = Math.round(performance.now() - since)
    console.log(`round ${round}: after ${tookMs} ms`)
    expect(tookMs).toBeLessThan(recoverMs)
  }
  const records = await readTopic(topics.kafka, { topic: original, groupId: topics.groupName('reader') })
  const values = records.map(({ value }) => String(value))
  expect(values).toHaveLength((rounds + 1) * perRound)
  expect(new Set(values).size).toBe(values.length)
})
