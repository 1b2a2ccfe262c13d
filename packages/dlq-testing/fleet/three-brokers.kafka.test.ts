// One of three brokers refuses, or answers late: what a retrier sends still stands in Kafka once.
import { randomUUID } from 'node:crypto'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import {
  createProxiedKafka,
  type Fate,
  type FaultProxy,
  type ProxiedRequest,
  pass,
  produceApi,
  startFaultProxy,
} from 'dlq-testing/cluster/fault-proxy.ts'
import { type KafkaCluster, spreadTopic, startKafkaCluster } from 'dlq-testing/cluster/kafka-cluster.ts'
import { patienceMs } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { createTestKafka } from 'dlq-testing/kafka/test-kafka.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createIdempotentProducer } from '../../../services/retrier/src/publish/idempotent-producer.ts'
import type { Outgoing } from '../../../services/retrier/src/publish/outgoing.ts'
import type { SlotProducer } from '../../../services/retrier/src/publish/slot-producer.ts'
import { createTransactionalProducer } from '../../../services/retrier/src/publish/transactional-producer.ts'

const soak = process.env.DLQ_SOAK === '1'
const rounds = Number(process.env.DLQ_FAULT_ROUNDS ?? (soak ? 50 : 1))
const timeout = 300_000 + rounds * 60_000
const report = rounds > 1 ? console.log : () => {}

const logs = useLogFolder()
const log = createLog({ service: 'retrier', level: 'silent' })
let cluster: KafkaCluster
let release: AsyncDisposableStack | undefined
let judge: (request: ProxiedRequest) => Fate = () => pass
const proxies = new Map<number, FaultProxy>()

beforeAll(async () => {
  await using opened = new AsyncDisposableStack()
  const reaper = opened.adopt(createReaper(), (reaper) => reaper.close())
  const options = { dataDir: `${logs.path}/cluster`, reaper }
  cluster = opened.adopt(await startKafkaCluster(options), (cluster) => cluster.stop())
  for (const node of cluster.nodes)
    proxies.set(node.port, opened.use(await startFaultProxy(node, (request) => judge(request))))
  release = opened.move()
})

afterAll(() => release?.disposeAsync())

async function createTopic(topic: string): Promise<void> {
  const admin = createTestKafka(cluster.brokers).admin()
  await admin.connect()
  await createTopics(admin, [spreadTopic(topic)])
  await admin.disconnect()
}

const recordsFor = (topic: string, batch: number): Outgoing[] =>
  Array.from({ length: 30 }, (_, n) => ({
    ...{ id: `${batch} ${n}`, topic, partition: n % 3, key: null, value: Buffer.from(`${batch} ${n}`) },
    ...{ headers: [], timestamp: undefined, maxBatchBytes: 1_048_576, isDoubtful: false },
  }))

/** Publishes as a slot does: what is released is sent again, after the producer has connected again. */
async function publishAll(producer: SlotProducer, records: readonly Outgoing[]): Promise<void> {
  const until = Date.now() + patienceMs
  for (let left = [...records]; left.length > 0; ) {
    expect(Date.now()).toBeLessThan(until)
    const number = await connect(producer)
    if (number === null) continue
    const { published } = await producer.publish({ batchNumber: number, token: randomUUID(), records: left })
    const done = new Set(published.map(({ id }) => id))
    left = left.filter(({ id }) => !done.has(id))
  }
}

/** The number of the next batch; null where Kafka did not let it connect. */
async function connect(producer: SlotProducer): Promise<bigint | null> {
  try {
    const ledger = await producer.connect()
    const number = (ledger?.batchNumber ?? 0n) + 1n
    await producer.begin({ batchNumber: number, token: randomUUID() })
    return number + 1n
  } catch (error) {
    if (!(error instanceof DlqError)) throw error
    return null
  }
}

/** Value → how often a read-committed consumer sees it. */
async function countValues(topic: string): Promise<Map<string, number>> {
  const records = await readTopic(createTestKafka(cluster.brokers), { topic, groupId: `${topic}-reader` })
  return new Map([...Map.groupBy(records, ({ value }) => String(value))].map(([value, of]) => [value, of.length]))
}

/** The first Produce that comes to each of the brokers meets the fate that is named for it. */
function firstProduce(fates: Record<number, Fate>): { met(): number } {
  const left = new Map(Object.entries(fates).map(([broker, fate]) => [Number(broker), fate]))
  const wanted = left.size
  judge = ({ broker, apiKey }) => {
    const fate = apiKey === produceApi ? left.get(broker) : undefined
    if (fate) left.delete(broker)
    return fate ?? pass
  }
  return { met: () => wanted - left.size }
}

const late: Fate = { kind: 'hold-answer', ms: 300 }
const faults: [title: string, fates: Record<number, Fate>][] = [
  ['loses a request while another answers late', { 1: { kind: 'lose-request' }, 2: late }],
  ['loses its answer while another answers late', { 1: { kind: 'lose-answer' }, 2: late }],
]
/** Where all connections but the late one are free, every second of them shows what was wrong. */
const batchesEach = 6

const kinds = {
  'exactly-once': () =>
    createTransactionalProducer({
      ...{ kafka: createProxiedKafka(cluster.brokers, proxies), log, slot: 1 },
      ...{ passFaultPoint: () => {}, noteUnanswered: async () => {} },
      ...{ prefix: `three-brokers-${randomUUID()}`, ledgerTopic: 'three-brokers.ledger', transactionTimeoutMs: 30_000 },
    }),
  'at-least-once': () =>
    createIdempotentProducer({ kafka: createProxiedKafka(cluster.brokers, proxies), log, passFaultPoint: () => {} }),
}

/** Publishes batches of which each meets the fates. Returns how many records stand in Kafka more than once. */
async function countDoubled(createProducer: () => SlotProducer, fates: Record<number, Fate>): Promise<number> {
  const topic = `spread-${randomUUID()}`
  await createTopic(topic)
  const batches = Array.from({ length: batchesEach }, (_, batch) => recordsFor(topic, batch))
  const producer = createProducer()
  try {
    for (const records of batches) {
      const fault = firstProduce(fates)
      await publishAll(producer, records)
      expect(fault.met()).toBe(Object.keys(fates).length)
    }
  } finally {
    judge = () => pass
    await producer.close()
  }
  const counts = await countValues(topic)
  expect([...counts.keys()].sort()).toEqual(
    batches
      .flat()
      .map(({ id }) => id)
      .sort(),
  )
  return [...counts.values()].filter((count) => count > 1).length
}

describe.each(Object.entries(kinds))('%s', (kind, createProducer) => {
  test.each(faults)('each record stands in Kafka once where a broker %s', { timeout }, async (title, fates) => {
    const doubled: number[] = []
    for (let round = 0; round < rounds; round += 1) doubled.push(await countDoubled(createProducer, fates))
    report(`${kind}, ${title}: records doubled in each round: ${doubled.join(', ')}`)
    expect(doubled).toEqual(doubled.map(() => 0))
  })
})
