// A broker dies in the middle of transactions, many times. Each verdict of the ledger must agree with the records that a
// read-committed consumer sees. On a separate broker, because the test kills it.

import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { openOwnStack } from 'dlq-testing/fleet/own-stack.ts'
import { createTopicsNamed } from 'dlq-testing/kafka/create-topics.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { createTestKafka } from 'dlq-testing/kafka/test-kafka.ts'
import type { Stack } from 'dlq-testing/stack.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Outgoing } from '../publish/outgoing.ts'
import { CommitUnknownError, type SlotProducer } from '../publish/slot-producer.ts'
import { createTransactionalProducer } from '../publish/transactional-producer.ts'
import { judgeBatch, type Verdict } from './ledger.ts'

const kills = 25
/** A number at which some slots are always between a commit and its markers. */
const slots = 40
const publishedBetweenKills = 20
const topics = ['orders', 'payments', 'refunds', 'shipments']
const partitions = 3

const logs = useLogFolder()
let release: AsyncDisposableStack | undefined
let stack: Stack

beforeAll(async () => {
  await using opened = new AsyncDisposableStack()
  ;({ stack } = await openOwnStack(opened, { dataDir: `${logs.path}/stack` }))
  release = opened.move()
})

afterAll(() => release?.disposeAsync())

type Batch = { slot: number; batch: bigint; token: string; ids: string[]; verdict: Verdict; isFromLedger: boolean }

const batches: Batch[] = []
let isOver = false

/** Publishes batch after batch until `isOver`, and then continues until it has the verdict of its last one. */
async function publishForever(slot: number): Promise<void> {
  const producer = createTransactionalProducer({
    kafka: createTestKafka(stack.kafkaBrokers),
    log: createLog({ service: 'retrier', level: 'silent' }),
    ...{ slot, prefix: 'crash', ledgerTopic: 'crash-ledger' },
    transactionTimeoutMs: 10_000,
    passFaultPoint: () => {},
    noteUnanswered: async () => {},
  })
  let number = 0n
  let isConnected = false
  let unsure: Batch | null = null

  async function connect(): Promise<void> {
    const ledger = await producer.connect()
    if (unsure !== null) unsure.verdict = judgeBatch(unsure, ledger!)
    unsure = null
    number += 1n
    await producer.begin({ batchNumber: number, token: randomUUID() })
    isConnected = true
  }

  while (!isOver || !isConnected) {
    try {
      if (!isConnected) await connect()
      number += 1n
      const batch = await publish(producer, { slot, batch: number })
      if (batch.isFromLedger) unsure = batch
      isConnected = batch.verdict === 'published'
    } catch {
      // The broker is down, or starts.
      isConnected = false
      await sleep(100)
    }
  }
  await producer.close()
}

async function publish(producer: SlotProducer, { slot, batch: number }: Pick<Batch, 'slot' | 'batch'>): Promise<Batch> {
  const records = Array.from({ length: randomInt(1, 10) }, randomRecord)
  const token = randomUUID()
  const ids = records.map(({ id }) => id)
  const batch: Batch = { slot, batch: number, token, ids, verdict: 'unknown', isFromLedger: false }
  batches.push(batch)
  try {
    const { published } = await producer.publish({ batchNumber: number, token, records })
    batch.verdict = published.length === records.length ? 'published' : 'unpublished'
  } catch (error) {
    if (!(error instanceof CommitUnknownError)) throw error
    batch.isFromLedger = true
  }
  return batch
}

function randomRecord(): Outgoing {
  const id = randomUUID()
  return {
    ...{ id, topic: topics[randomInt(topics.length)]!, partition: randomInt(partitions) },
    ...{ key: null, value: Buffer.from(id), headers: [], timestamp: undefined },
    ...{ maxBatchBytes: 1_000_000, isDoubtful: false },
  }
}

test('the ledger’s verdict of every batch that a broker’s death cut off agrees with what consumers see', async () => {
  const kafka = createTestKafka(stack.kafkaBrokers)
  await createTopicsNamed(kafka, topics, partitions)

  const publishing = Promise.all(Array.from({ length: slots }, (_, slot) => publishForever(slot + 1)))
  const countPublished = () => batches.filter(({ verdict }) => verdict === 'published').length
  for (let kill = 0; kill < kills; kill += 1) {
    const enough = countPublished() + publishedBetweenKills
    while (countPublished() < enough) await sleep(20)
    await sleep(randomInt(300))
    process.kill(stack.kafka!.pid, 'SIGKILL')
    await stack.kafka!.restart()
  }
  isOver = true
  await publishing

  const seen = new Map<string, number>()
  for (const topic of topics) {
    for (const { value } of await readTopic(kafka, { topic, groupId: `reader-${topic}` })) {
      seen.set(String(value), (seen.get(String(value)) ?? 0) + 1)
    }
  }
  const counts = Map.groupBy(
    batches,
    ({ verdict, isFromLedger }) => `${verdict}${isFromLedger ? ' by the ledger' : ''}`,
  )
  console.log(`${kills} kills: ${[...counts].map(([verdict, { length }]) => `${length} ${verdict}`).join(', ')}`)
  const wrong = batches.filter(({ ids, verdict }) => {
    const times = verdict === 'published' ? 1 : 0
    return verdict === 'unknown' || ids.some((id) => (seen.get(id) ?? 0) !== times)
  })
  expect(wrong).toEqual([])
  expect(batches.some(({ isFromLedger }) => isFromLedger)).toBe(true)
})
