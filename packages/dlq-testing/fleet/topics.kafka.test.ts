// DLQ topics are created, deleted and created again while records flow on others. No service restarts, and no record of
// the others is lost. The soak also bounds how late the others are stored.
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, nothingHappensFor } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { createFleet, type Fleet } from 'dlq-testing/fleet/service-fleet.ts'
import { createTopics as createServedTopics, recreateTopic } from 'dlq-testing/kafka/create-topics.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import type { Producer } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const report = soak ? console.log : () => {}
const steadyTopics = 5
const addedTopics = 20
const deletedTopics = 5
const settleMs = soak ? 30_000 : 2000
const sendEveryMs = 100
/** The bound on a machine without other work. */
const maxLagMs = 5000
const suffix = '.dlq.v1'

const database = useDatabase()
const topics = useTopics()
const logs = useLogFolder()
let release: AsyncDisposableStack | undefined
let fleet: Fleet
/** Begins the name of every topic of this file. */
let prefix: string

beforeAll(async () => {
  await using opened = new AsyncDisposableStack()
  const reaper = opened.adopt(createReaper(), (reaper) => reaper.close())
  prefix = topics.topicName('topics')
  opened.defer(deleteTopicsOfFile)
  fleet = createFleet({
    databaseUrl: database.url,
    kafkaBrokers: topics.brokers,
    reaper,
    topicPattern: `${prefix}-*${suffix}`,
    consumerGroup: topics.groupName('topics'),
    logDir: logs.path,
    // At full size the default.
    env: { DLQ_KAFKA_TOPIC_REFRESH_INTERVAL: soak ? '5s' : '1s' },
  })
  opened.adopt(fleet, (fleet) => fleet.stop())
  release = opened.move()
})

afterAll(() => release?.disposeAsync())

async function deleteTopicsOfFile(): Promise<void> {
  const left = (await topics.admin.listTopics()).filter((topic) => topic.startsWith(prefix))
  if (left.length > 0) await topics.admin.deleteTopics({ topics: left })
}

const nameOf = (base: string) => `${prefix}-${base}${suffix}`
const namesOf = (base: string, count: number) => Array.from({ length: count }, (_, i) => nameOf(`${base}-${i}`))

async function createTopics(names: readonly string[], numPartitions = 1): Promise<void> {
  await createServedTopics(
    topics.admin,
    names.map((topic) => ({ topic, numPartitions })),
  )
}

/** One producer per topic, because a deleted topic makes its producer fail for other topics too. */
async function connectProducer(stack: AsyncDisposableStack): Promise<Producer> {
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  stack.adopt(producer, (producer) => producer.disconnect())
  await producer.connect()
  return producer
}

async function countRowsOf(names: readonly string[]): Promise<Map<string, number>> {
  const rows = await database.sql<{ topic: string; count: number }[]>`
    select dlq_topic as topic, count(*)::int as count
      from dlq.dlq_messages
     where dlq_topic = any(${[...names]})
     group by dlq_topic`
  return new Map(rows.map(({ topic, count }) => [topic, count]))
}

async function untilRows(names: readonly string[], each: number): Promise<void> {
  const expected = new Map(names.map((name) => [name, each]))
  await eventually(async () => expect(await countRowsOf(names)).toEqual(expected))
}

test('an ingester that finds no topic is ready, and takes the first one that appears', async () => {
  const ingester = await fleet.start('ingester')
  await ingester.ready()
  await nothingHappensFor(1000)
  expect(ingester.hasExited()).toBe(false)

  await using stack = new AsyncDisposableStack()
  const producer = await connectProducer(stack)
  const first = nameOf('first')
  await createTopics([first])
  await producer.send({ topic: first, messages: [{ value: 'one' }] })
  await untilRows([first], 1)
})

/** Records without a timestamp get the time of the send. */
async function sendToEach(producer: Producer, names: readonly string[], value: string): Promise<void> {
  // One by one: where one of several partitions has no leader yet, kafkajs sends to the others again.
  await Promise.all(names.map((topic) => producer.send({ topic, messages: [{ value }] })))
}

/** One record for each topic, again and again, until `isOver`. Returns how many each got. */
async function keepSending(producer: Producer, names: readonly string[], isOver: () => boolean): Promise<number> {
  let rounds = 0
  for (; !isOver(); rounds += 1) {
    await sendToEach(producer, names, String(rounds))
    await sleep(sendEveryMs)
  }
  return rounds
}

async function worstLagMs(names: readonly string[]): Promise<number> {
  const [row] = await database.sql<{ lag: number }[]>`
    select max(extract(epoch from created_at - record_timestamp) * 1000)::int as lag
      from dlq.dlq_messages
     where dlq_topic = any(${[...names]})`
  return row!.lag
}

test('while records flow on five topics, twenty topics are added and five of those deleted; every record of the five is stored', async () => {
  await using stack = new AsyncDisposableStack()
  const producer = await connectProducer(stack)
  const steady = namesOf('steady', steadyTopics)
  await createTopics(steady, 2)
  await sendToEach(producer, steady, 'first')
  await fleet.start('ingester', 'second')
  await untilRows(steady, 1)
  await database.sql`delete from dlq.dlq_messages where dlq_topic = any(${steady})`

  let isOver = false
  const sending = keepSending(producer, steady, () => isOver)
  await sleep(settleMs)
  const added = namesOf('added', addedTopics)
  await createTopics(added)
  const since = performance.now()
  await sendToEach(await connectProducer(stack), added, 'new')
  await untilRows(added, 1)
  const pickedUpMs = Math.round(performance.now() - since)
  await topics.admin.deleteTopics({ topics: added.slice(0, deletedTopics) })
  const { sql } = database
  const goneTopics = () => sql`select from dlq.dlq_topics where topic = any(${added}) and gone_at is not null`
  await eventually(async () => expect(await goneTopics()).toHaveLength(deletedTopics))
  await sleep(settleMs)

  isOver = true
  const rounds = await sending
  expect(rounds).toBeGreaterThan(0)
  await untilRows(steady, rounds)
  const lagMs = await worstLagMs(steady)
  report(`${addedTopics} topics picked up within ${pickedUpMs} ms; the others lagged by ${lagMs} ms at worst`)
  if (soak) expect(lagMs).toBeLessThan(maxLagMs)
  // Those that stayed are still read.
  const left = added.slice(deletedTopics)
  await sendToEach(producer, left, 'more')
  await untilRows(left, 2)
})

type Generation = { partition: number; generation: number; next_offset: string }

test('a topic that is deleted and created again starts a new generation; the records of both generations are stored', async () => {
  await using stack = new AsyncDisposableStack()
  const producer = await connectProducer(stack)
  const topic = nameOf('anew')
  await createTopics([topic], 2)
  // One partition after the other: see sendToEach.
  const send = async (label: string, counts: readonly number[]) => {
    for (const [partition, count] of counts.entries()) {
      const messages = Array.from({ length: count }, (_, n) => ({ partition, value: `${label} ${n}` }))
      await producer.send({ topic, messages })
    }
  }
  await send('old', [10, 10])
  await untilRows([topic], 20)

  await recreateTopic(topics.admin, { topic, numPartitions: 2 })
  // Partition 0 grows beyond the end of the old one, partition 1 stays below it.
  await send('new', [15, 5])
  await untilRows([topic], 40)
  const positions = await database.sql<Generation[]>`
    select partition, generation, next_offset from dlq.dlq_positions where topic = ${topic} order by partition`
  expect([...positions]).toEqual([
    { partition: 0, generation: 1, next_offset: '15' },
    { partition: 1, generation: 1, next_offset: '5' },
  ])
})
