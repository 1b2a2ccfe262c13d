// A partition whose replicas are all away, beside others: of a topic with one replica, for example, whose broker is down.
// Everybody reads the others and sends to them. The cluster is this file's own, because a broker is killed.

import { LeaderlessPartition } from 'dlq-core/runtime/kafka/kafkajs-internals.ts'
import { askTogether } from 'dlq-core/runtime/kafka/refusals.ts'
import { createTopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { type KafkaCluster, startKafkaCluster } from 'dlq-testing/cluster/kafka-cluster.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { createTestKafka } from 'dlq-testing/kafka/test-kafka.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { claimDue } from 'dlq-testing/rows/claim-due.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import type { Admin, Kafka, Producer } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTargetTopics } from '../../../services/retrier/src/publish/target-topics.ts'
import { createSlotWorker } from '../../../services/retrier/src/slot/run-slot.ts'
import { sweepSlots } from '../../../services/retrier/src/slot/sweep-slots.ts'
import { testSlotDeps } from '../../../services/retrier/src/test-retrier.ts'

const [led, lone] = ['led', 'lone']
const lost = 3

const database = useDatabase()
const service = useServiceDatabase(database)
const logs = useLogFolder()
const log = createLog({ service: 'test', level: 'silent' })
let release: AsyncDisposableStack | undefined
let cluster: KafkaCluster
let kafka: Kafka
let admin: Admin
/** It has sent to both topics before. */
let producer: Producer
let isLost = false

beforeAll(async () => {
  await using opened = new AsyncDisposableStack()
  const reaper = opened.adopt(createReaper(), (reaper) => reaper.close())
  const options = { dataDir: `${logs.path}/cluster`, reaper }
  cluster = opened.adopt(await startKafkaCluster(options), (cluster) => cluster.stop())
  kafka = createTestKafka(cluster.brokers)
  admin = opened.adopt(kafka.admin(), (admin) => admin.disconnect())
  await admin.connect()
  await createTopics(admin, [
    { topic: led, replicaAssignment: [{ partition: 0, replicas: [1, 2] }] },
    { topic: lone, replicaAssignment: [{ partition: 0, replicas: [lost] }] },
  ])
  producer = opened.adopt(kafka.producer({ metadataMaxAge: 100 }), (producer) => producer.disconnect())
  await producer.connect()
  for (const topic of [led, lone]) await producer.send({ topic, messages: [{ value: 'before' }] })
  await lose()
  release = opened.move()
})

afterAll(() => release?.disposeAsync())

async function lose(): Promise<void> {
  await cluster.node(lost).kill()
  isLost = true
  await untilLedBy(-1)
}

async function bringBack(): Promise<void> {
  if (isLost) await cluster.node(lost).start()
  isLost = false
  await untilLedBy(lost)
}

function untilLedBy(leader: number): Promise<void> {
  return eventually(async () => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [lone] })
    expect(topics[0]!.partitions).toMatchObject([{ leader }])
  })
}

test('nothing can be sent to it, and it is looked up as unavailable', async () => {
  const targets = createTargetTopics({
    ...{ kafka, dlqPatterns: [], allowedTargets: ['*'], ledgerTopic: 'ledger' },
    dlqTopicsAmong: async () => new Set(),
  })
  try {
    expect([...(await targets.find([led, lone]))].map(([topic, { kind }]) => `${topic} ${kind}`).toSorted()).toEqual([
      'led found',
      'lone unavailable',
    ])
  } finally {
    await targets.close()
  }
})

test('the bounds of the other topics are known', async () => {
  const reader = createTopicReader(kafka)
  try {
    await expect(reader.fetchLogBounds([led, lone])).rejects.toThrow(LeaderlessPartition)
    const bounds = await askTogether([led, lone], reader.fetchLogBounds, log)
    expect(bounds.map(({ topic }) => topic)).toEqual([led])
  } finally {
    await reader.disconnect()
  }
})

test('a consumer that joins reads the others, and the partition itself when it has a leader again', async () => {
  const consumer = kafka.consumer({ groupId: 'leaderless', metadataMaxAge: 500, maxWaitTimeInMs: 100 })
  const read: string[] = []
  await consumer.connect()
  try {
    await consumer.subscribe({ topics: [led, lone], fromBeginning: true })
    await consumer.run({ eachMessage: async ({ topic, message }) => void read.push(`${topic} ${message.value}`) })
    await eventually(() => expect(read).toEqual(['led before']))
    await producer.send({ topic: led, messages: [{ value: 'meanwhile' }] })
    await eventually(() => expect(read).toEqual(['led before', 'led meanwhile']))
    await bringBack()
    await eventually(() => expect(read).toEqual(['led before', 'led meanwhile', 'lone before']))
  } finally {
    await consumer.disconnect()
  }
})

test('a slot whose transaction Kafka cannot end is left aside, and another one sends', async () => {
  await bringBack()
  const transactional = kafka.producer({ transactionalId: 'pending-1', maxInFlightRequests: 1 })
  await transactional.connect()
  try {
    const transaction = await transactional.transaction()
    await transaction.send({ topic: lone, messages: [{ value: 'never seen' }] })
    await lose()
    const depsOfRetrier = () => testSlotDeps({ sql: service.sql, kafka, prefix: 'pending' })
    await insertDueRows(database.sql, { count: 2, topics: [led] })
    await claimDue(service.sql)
    await database.sql`update dlq.dlq_slots set owner_until = now() - interval '1 s'`
    await insertDueRows(database.sql, { count: 3, topics: [led], from: 2 })
    const statuses = async () => {
      const rows = await database.sql<{ status: string; count: number }[]>`
        select status, count(*)::int from dlq.dlq_messages group by 1`
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
    }

    const sweeping = depsOfRetrier()
    expect(await sweepSlots(sweeping)).toEqual({ more: true })
    expect(await sweepSlots(sweeping)).toEqual({ more: false })
    await sweeping.targets.close()

    const deps = depsOfRetrier()
    const worker = createSlotWorker(deps)
    await expect(worker.pass()).rejects.toMatchObject({ code: 'TRANSACTION_PENDING' })
    expect(deps.breaker.fault()).toBeNull()
    expect(await worker.pass()).toMatchObject({ published: 3 })
    await worker.close()
    await deps.targets.close()
    expect(await statuses()).toEqual({ RETRYING: 2, RESOLVED: 3 })

    await bringBack()
    const later = depsOfRetrier()
    expect(await sweepSlots(later)).toEqual({ more: true })
    await later.targets.close()
    expect(await statuses()).toEqual({ PENDING: 2, RESOLVED: 3 })
  } finally {
    await transactional.disconnect()
  }
})
