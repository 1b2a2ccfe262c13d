// An election that loses records, as clusters allow by unclean.leader.election.enable (the default of some hosts): the new
// leader lacks what its follower had not yet copied, and writes other records at those offsets. All of them are stored.

import { readFileSync } from 'node:fs'
import { createWatcher, leaderOf } from 'dlq-testing/cluster/cluster-roles.ts'
import { type KafkaCluster, startKafkaCluster } from 'dlq-testing/cluster/kafka-cluster.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { createFleet, type Fleet } from 'dlq-testing/fleet/service-fleet.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { numberedDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import type { Admin, Kafka } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'

const logs = useLogFolder()
const database = useDatabase()
let release: AsyncDisposableStack | undefined
let cluster: KafkaCluster
let kafka: Kafka
let admin: Admin
let fleet: Fleet
const [leader, follower] = [1, 2]

beforeAll(async () => {
  await using opened = new AsyncDisposableStack()
  const reaper = opened.adopt(createReaper(), (reaper) => reaper.close())
  const options = { dataDir: `${logs.path}/cluster`, reaper }
  cluster = opened.adopt(await startKafkaCluster(options), (cluster) => cluster.stop())
  kafka = createWatcher(cluster.brokers)
  admin = opened.adopt(kafka.admin(), (admin) => admin.disconnect())
  await admin.connect()
  fleet = opened.adopt(
    createFleet({
      ...{ databaseUrl: database.url, kafkaBrokers: cluster.brokers, reaper, logDir: logs.path },
      ...{ topicPattern: '*.dlq.v1', consumerGroup: 'unclean' },
    }),
    (fleet) => fleet.stop(),
  )
  release = opened.move()
})
afterAll(() => release?.disposeAsync())

/** Two brokers have copies, and either may lead without the other. */
async function createUnsafeTopics(names: readonly string[]): Promise<void> {
  const unsafe = { 'unclean.leader.election.enable': 'true', 'min.insync.replicas': '1' }
  const configEntries = Object.entries(unsafe).map(([name, value]) => ({ name, value }))
  const replicaAssignment = [{ partition: 0, replicas: [leader!, follower!] }]
  await createTopics(
    admin,
    names.map((topic) => ({ topic, replicaAssignment, configEntries })),
  )
}

/** Dead letters whose values are `<what> 0`, `<what> 1` and so on. */
async function produce(topic: string, what: string, count: number): Promise<void> {
  const producer = kafka.producer()
  await producer.connect()
  const messages = Array.from({ length: count }, (_, n) =>
    numberedDeadLetter(n, {
      topic: topic.split('.')[0]!,
      partitions: 1,
      group: 'g',
      value: Buffer.from(`${what} ${n}`),
    }),
  )
  await producer.send({ topic, messages })
  await producer.disconnect()
}

async function storedOf(topic: string): Promise<Record<string, number>> {
  const rows = await database.sql<{ what: string; n: number }[]>`
    select split_part(convert_from(record_value, 'UTF8'), ' ', 1) as what, count(*)::int as n
    from dlq.dlq_messages where dlq_topic = ${topic} group by 1`
  return Object.fromEntries(rows.map(({ what, n }) => [what, n]))
}

const countEvents = (name: string) =>
  readFileSync(`${logs.path}/ingester.log`, 'utf8').split(`"event":"${name}"`).length - 1

test.each([
  ['while the ingester reads', { isReading: true }],
  ['while no ingester runs', { isReading: false }],
])(
  'what a new leader writes at offsets that were read already is stored, and nothing else is read again: %s',
  async (_, { isReading }) => {
    const mode = isReading ? 'reading' : 'stopped'
    // The log becomes longer than it was, and that of `short` does not.
    const [long, short] = [`long-${mode}.dlq.v1`, `short-${mode}.dlq.v1`]
    const both = [long, short]
    await createUnsafeTopics(both)
    await fleet.start('ingester')
    const cutsBefore = countEvents('log_cut')
    for (const topic of both) await produce(topic, 'kept', 20)
    for (const topic of both) await eventually(async () => expect(await storedOf(topic)).toEqual({ kept: 20 }))
    await database.sql`
    delete from dlq.dlq_messages
    where id = (select id from dlq.dlq_messages where dlq_topic = ${short} limit 1)`

    await cluster.node(follower!).kill()
    for (const topic of both)
      await eventually(async () => {
        const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
        expect(topics[0]!.partitions[0]!.isr).toEqual([leader])
      })
    for (const topic of both) await produce(topic, 'lost', 10)
    await eventually(async () => expect(await storedOf(long)).toEqual({ kept: 20, lost: 10 }))
    await eventually(async () => expect(await storedOf(short)).toEqual({ kept: 19, lost: 10 }))
    if (!isReading) await fleet.stop()

    await cluster.node(leader!).kill()
    await cluster.node(follower!).start()
    for (const topic of both) await eventually(async () => expect(await leaderOf(admin, topic, 0)).toBe(follower))
    await produce(long, 'new', 15)
    await produce(short, 'new', 5)

    if (!isReading) await fleet.start('ingester')
    await eventually(async () => expect(await storedOf(long)).toEqual({ kept: 20, lost: 10, new: 15 }))
    await eventually(async () => expect(await storedOf(short)).toEqual({ kept: 19, lost: 10, new: 5 }))
    await cluster.node(leader!).start()
    for (const topic of both) await produce(topic, 'later', 3)
    await eventually(async () => expect(await storedOf(long)).toEqual({ kept: 20, lost: 10, new: 15, later: 3 }))
    await eventually(async () => expect(await storedOf(short)).toEqual({ kept: 19, lost: 10, new: 5, later: 3 }))
    expect(countEvents('log_cut') - cutsBefore).toBe(2)
    expect(countEvents('topic_recreated')).toBe(0)
    await fleet.stop()
  },
)
