// A consumer passes a batch that it cannot decode, on a real broker. Kafka refuses such a batch from a producer, because
// it decompresses each batch. But a log's bytes can be damaged later, and a valid batch may unpack to more than we
// allow.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { startKafka } from 'dlq-testing/kafka/kafka.ts'
import { createTestKafka } from 'dlq-testing/kafka/test-kafka.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import kafkajs, { type Kafka, type KafkaMessage, type Message } from 'kafkajs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { registerCodecs } from '../fetching/kafka-codecs.ts'

const { CompressionCodecs, CompressionTypes } = kafkajs
const attributesAt = 21
const topics = useTopics()
const reaper = createReaper()
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dlq-undecodable-'))
})
afterAll(async () => {
  await reaper.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => registerCodecs())

async function send(kafka: Kafka, topic: string, batches: Message[][]): Promise<void> {
  const producer = kafka.producer({ allowAutoTopicCreation: false, retry: { retries: 0 } })
  await producer.connect()
  try {
    for (const messages of batches) await producer.send({ topic, messages, compression: CompressionTypes.GZIP })
  } finally {
    await producer.disconnect()
  }
}

type Reading = { groupId: string; last: string; by: 'batch' | 'message' }

/** The messages that a consumer gets up to the offset `last`, and the offset that its group has then committed. */
async function consume(kafka: Kafka, topic: string, { groupId, last, by }: Reading) {
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 })
  await consumer.connect()
  const received: KafkaMessage[] = []
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => {
        if (!payload.restart) reject(payload.error)
      })
      const take = (message: KafkaMessage) => {
        received.push(message)
        if (message.offset === last) resolve()
      }
      const running =
        by === 'batch'
          ? consumer.run({ eachBatch: async ({ batch }) => batch.messages.forEach(take) })
          : consumer.run({ eachMessage: async ({ message }) => take(message) })
      running.catch(reject)
    })
  } finally {
    await consumer.disconnect()
  }
  const admin = kafka.admin()
  await admin.connect()
  const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] })
  await admin.disconnect()
  return { received, committed: committed?.partitions[0]?.offset }
}

test('the broker refuses a batch that is flagged as compressed and is not', async () => {
  const topic = await topics.createTopic('refused')
  CompressionCodecs[CompressionTypes.GZIP] = () => ({
    compress: async () => Buffer.from('garbage'),
    decompress: async (bytes: Buffer) => bytes,
  })
  await expect(send(topics.kafka, topic, [[{ value: 'v' }]])).rejects.toMatchObject({
    message: expect.stringMatching(/unexpected error|corrupt/i),
  })
  expect(await topics.admin.fetchTopicOffsets(topic)).toMatchObject([{ high: '0' }])
})

test.each(['batch', 'message'] as const)(
  'by %s, a batch that unpacks to too much is one message, and the consumer goes on behind it',
  async (by) => {
    const topic = await topics.createTopic('bomb', { config: { 'compression.type': 'producer' } })
    const bomb = [{ value: Buffer.alloc(500_000) }, { value: 'in it' }, { value: 'too' }]
    await send(topics.kafka, topic, [[{ value: 'before' }], bomb, [{ value: 'after' }]])
    registerCodecs({ maxBatchBytes: 100_000 })
    const { received, committed } = await consume(topics.kafka, topic, {
      groupId: topics.groupName('undecodable'),
      last: '4',
      by,
    })
    expect(received.map(({ offset }) => offset)).toEqual(['0', '3', '4'])
    expect(received[1]?.undecodable).toMatchObject({
      reason: expect.stringContaining('at most 100000 bytes'),
      firstOffset: '1',
      lastOffset: '3',
    })
    expect(committed).toBe('5')
  },
)

test('batches whose bytes went bad on the broker’s disk are passed: damaged data, an unknown compression type', async () => {
  const dataDir = join(folder, 'kafka')
  const topic = 'damaged'
  const first = await startKafka({ dataDir, reaper })
  const kafka = createTestKafka(first.brokers)
  const admin = kafka.admin()
  await admin.connect()
  const configEntries = [{ name: 'compression.type', value: 'producer' }]
  await createTopics(admin, [{ topic, numPartitions: 1, configEntries }])
  await admin.disconnect()
  await send(kafka, topic, [
    [{ value: 'before' }],
    [{ value: 'damaged' }, { value: 'beside it' }],
    [{ value: 'of the future' }],
    [{ value: 'after' }],
  ])
  await first.stop()

  const segment = join(dataDir, 'log', `${topic}-0`, '00000000000000000000.log')
  const bytes = readFileSync(segment)
  const [, damaged = 0, future = 0] = batchStarts(bytes)
  bytes.fill(0xee, damaged + 70, damaged + 75)
  bytes.writeInt16BE(7, future + attributesAt)
  writeFileSync(segment, bytes)

  const second = await startKafka({ dataDir, reaper, port: first.port })
  const { received, committed } = await consume(kafka, topic, { groupId: 'reader', last: '4', by: 'batch' })
  expect(received.map(({ offset, undecodable }) => [offset, undecodable?.firstOffset])).toEqual([
    ['0', undefined],
    ['2', '1'],
    ['3', '3'],
    ['4', undefined],
  ])
  expect(received[1]?.value).toEqual(bytes.subarray(damaged, future))
  expect(received[2]?.undecodable?.reason).toBe('Unknown compression type 7')
  expect(committed).toBe('5')
  await second.stop()
})

/** Where the batches of a segment begin: each has its length, without the first 12 bytes, at byte 8. */
function batchStarts(segment: Buffer): number[] {
  const starts: number[] = []
  for (let at = 0; at + 12 <= segment.length; at += 12 + segment.readInt32BE(at + 8)) starts.push(at)
  return starts
}
