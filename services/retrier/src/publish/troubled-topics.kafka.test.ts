// Target topics with which something is wrong, although Kafka answers: what goes to others is sent.

import { createRequire } from 'node:module'
import { createLog } from 'dlq-core/runtime/log.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { createCooldown } from '../slot/cooldown.ts'
import { createSlotWorker } from '../slot/run-slot.ts'
import { testSlotDeps } from '../test-retrier.ts'
import { createIdempotentProducer } from './idempotent-producer.ts'
import type { Outgoing } from './outgoing.ts'

const require = createRequire(import.meta.url)
const Broker = require('kafkajs/src/broker')
const { createErrorFromCode }: { createErrorFromCode: (code: number) => Error } = require('kafkajs/src/protocol/error')

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages'))

test('a topic that was created again with fewer partitions does not hold up the others, and is sent to where it has some', async () => {
  const [orders, payments] = [
    await topics.createTopic('orders', { partitions: 2 }),
    await topics.createTopic('payments', { partitions: 2 }),
  ]
  const deps = testSlotDeps(
    { sql: service.sql, kafka: topics.kafka, prefix: topics.groupName('troubled') },
    // Nobody has to wait for what was left alone.
    { cooldown: { ...createCooldown({ now: Date.now }), has: () => false } },
  )
  const worker = createSlotWorker(deps)
  try {
    await insertDueRows(database.sql, { count: 4, topics: [orders, payments], partitions: 2 })
    expect(await worker.pass()).toMatchObject({ published: 4 })

    await topics.admin.deleteTopics({ topics: [payments] })
    await expect.poll(async () => (await topics.admin.listTopics()).includes(payments)).toBe(false)
    await createTopics(topics.admin, [{ topic: payments, numPartitions: 1 }])
    await insertDueRows(database.sql, { count: 8, topics: [orders, payments], partitions: 2 })
    expect(await worker.pass()).toMatchObject({ published: 4, refused: 0, released: 4 })

    await database.sql`update dlq.dlq_messages set next_retry_at = now() where status = 'PENDING'`
    expect(await worker.pass()).toMatchObject({ published: 4, refused: 0, released: 0 })
  } finally {
    await worker.close()
    await deps.targets.close()
  }
})

type TopicData = { topic: string; partitions: { partition: number }[] }[]
type Produce = (request: { topicData: TopicData }) => Promise<{ topics: object[] }>

/** From now on no leader takes records for the topic; not because of the records. Returns the topics of each request. */
function breakTopic(topic: string): { requests: string[][] } & Disposable {
  const produce: Produce = Broker.prototype.produce
  const requests: string[][] = []
  const errorCode = 21
  const failed = { errorCode, baseOffset: '-1', logAppendTime: '-1' }
  Broker.prototype.produce = async function (this: object, request: { topicData: TopicData }) {
    requests.push(request.topicData.map(({ topic }) => topic))
    const [refused, others] = [true, false].map((is) => request.topicData.filter((of) => (of.topic === topic) === is))
    if (refused!.length === 0) return produce.call(this, request)
    const answer = others!.length === 0 ? { topics: [] } : await produce.call(this, { ...request, topicData: others! })
    const answers = refused!.map(({ topic: topicName, partitions }) => ({
      topicName,
      partitions: partitions.map(({ partition }) => ({ partition, ...failed })),
    }))
    throw Object.assign(createErrorFromCode(errorCode), { response: { topics: [...answer.topics, ...answers] } })
  }
  return {
    requests,
    [Symbol.dispose]() {
      Broker.prototype.produce = produce
    },
  }
}

test('a topic that no leader takes records for holds up others once, and goes behind them until something was sent', async () => {
  const [orders, payments] = [await topics.createTopic('orders'), await topics.createTopic('payments')]
  const clock = { ms: Date.now() }
  const cooldown = createCooldown({ now: () => clock.ms })
  const options = { sql: service.sql, kafka: topics.kafka, prefix: topics.groupName('troubled') }
  const told: object[] = []
  const log = Object.assign(createLog({ service: 'retrier', level: 'silent' }), {
    warn: ({ topics, forMs }: Record<string, unknown>, event: string) => told.push({ event, topics, forMs }),
  })
  const deps = testSlotDeps(options, { cooldown, log })
  const worker = createSlotWorker(deps)
  const dueAgain = () => database.sql`update dlq.dlq_messages set next_retry_at = now() where status = 'PENDING'`
  try {
    {
      using broken = breakTopic(payments)
      await insertDueRows(database.sql, { count: 4, topics: [orders, payments] })
      expect(await worker.pass()).toMatchObject({ published: 2, released: 2 })
      expect(broken.requests).toEqual([expect.arrayContaining([orders, payments]), [orders]])

      clock.ms += 15_000
      await dueAgain()
      await insertDueRows(database.sql, { count: 2, topics: [orders] })
      broken.requests.length = 0
      expect(await worker.pass()).toMatchObject({ published: 2, released: 2 })
      expect(broken.requests).toEqual([[orders], [payments]])
      expect(told).toEqual([15_000, 30_000].map((forMs) => ({ event: 'topics_left_alone', topics: [payments], forMs })))
      // Twice as long as before.
      clock.ms += 29_000
      expect(cooldown.has(payments)).toBe(true)
      clock.ms += 2000
    }
    await dueAgain()
    expect(await worker.pass()).toMatchObject({ published: 2, released: 0 })
    expect(cooldown.isTroubled(payments)).toBe(false)
  } finally {
    await worker.close()
    await deps.targets.close()
  }
})

test('at least once, too, no more is tried of such a topic in a batch, and the others are sent', async () => {
  const [orders, payments] = [await topics.createTopic('orders'), await topics.createTopic('payments')]
  const record = (topic: string, at: number): Outgoing => ({
    ...{ id: `${topic} ${at}`, topic, partition: 0, key: null, value: null, headers: [], timestamp: undefined },
    ...{ maxBatchBytes: 1_000_000, isDoubtful: false },
  })
  // More than one send may have.
  const refused = Array.from({ length: 501 }, (_, at) => record(payments, at))
  const { log } = testSlotDeps({ sql: service.sql, kafka: topics.kafka, prefix: topics.groupName('troubled') })
  const producer = createIdempotentProducer({ kafka: topics.kafka, log, passFaultPoint() {} })
  try {
    await producer.connect()
    using broken = breakTopic(payments)
    const result = await producer.publish({ batchNumber: 1n, token: '', records: [...refused, record(orders, 0)] })
    expect(broken.requests).toEqual([[payments], [orders]])
    expect(result).toMatchObject({ published: [{ topic: orders }], fault: { topics: [payments] } })
    expect(result.released).toHaveLength(refused.length)
  } finally {
    await producer.close()
  }
})
