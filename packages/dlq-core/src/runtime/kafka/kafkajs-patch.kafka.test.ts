// The promises of patches/kafkajs@2.2.4.patch and the codecs, against a real broker. The broker represents other
// clients: it validates kafkajs's requests, and rewrites batches with Java's codecs.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from 'dlq-testing/eventually.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import kafkajs, { type ConsumerConfig, type KafkaMessage, type Message, type Producer } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registerCodecs } from '../fetching/kafka-codecs.ts'

const { CompressionTypes } = kafkajs
const topics = useTopics()
let producer: Producer

beforeAll(async () => {
  registerCodecs()
  producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
})
afterAll(() => producer.disconnect())

type Until = { isLast: (message: KafkaMessage, count: number) => boolean } & Partial<ConsumerConfig>

/** The messages that a consumer gets from a topic with one partition, from its beginning to the one that `isLast`. */
async function consume(topic: string, { isLast, ...config }: Until): Promise<KafkaMessage[]> {
  const consumer = topics.kafka.consumer({ groupId: topics.groupName('patch'), maxWaitTimeInMs: 200, ...config })
  await consumer.connect()
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    const received: KafkaMessage[] = []
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => {
        // A young broker answers the first join with COORDINATOR_LOAD_IN_PROGRESS; kafkajs then starts again.
        if (!payload.restart) reject(payload.error)
      })
      const eachMessage = async ({ message }: { message: KafkaMessage }) => {
        received.push(message)
        if (isLast(message, received.length)) resolve()
      }
      consumer.run({ eachMessage }).catch(reject)
    })
    return received
  } finally {
    await consumer.disconnect()
  }
}

const consumeCount = (topic: string, expected: number) => consume(topic, { isLast: (_, count) => count === expected })

test('headers keep order, duplicates, nulls and every name from producer to consumer', async () => {
  const topic = await topics.createTopic('headers')
  const headers: [string, Buffer | null][] = [
    ['z', Buffer.from('1')],
    ['__proto__', Buffer.from('p')],
    ['42', null],
    ['z', null],
    ['', Buffer.alloc(0)],
    ['constructor', Buffer.from([0xff, 0x00])],
    ['z', Buffer.from('3')],
  ]
  const messages = [
    { value: 'pairs', headers },
    { value: 'object', headers: { a: null, b: ['x', null] } },
  ]
  await producer.send({ topic, messages: [...messages, { value: null }] })

  const [pairs, object, none] = await consumeCount(topic, 3)
  expect(pairs?.headerPairs).toEqual(headers)
  expect(object?.headerPairs).toEqual([
    ['a', null],
    ['b', Buffer.from('x')],
    ['b', null],
  ])
  expect(none).toMatchObject({ value: null, headers: {}, headerPairs: [] })
})

describe('timestamps', () => {
  test('a timestamp of the producer is kept, whatever it is', async () => {
    const config = { 'message.timestamp.after.max.ms': `${2n ** 63n - 1n}` }
    const topic = await topics.createTopic('create-time', { config })
    const timestamps = ['1700000000000', '-1', '0', '253402300799999', '999']
    await producer.send({ topic, messages: timestamps.map((timestamp) => ({ value: 'v', timestamp })) })
    const received = await consumeCount(topic, timestamps.length)
    expect(received.map(({ timestamp }) => timestamp)).toEqual(timestamps)
    expect(received.map(({ timestampType }) => timestampType)).toEqual(timestamps.map(() => 'create'))
  })

  test('a topic with log-append time gives every record of a batch the time of the broker', async () => {
    const topic = await topics.createTopic('append-time', { config: { 'message.timestamp.type': 'LogAppendTime' } })
    const messages = ['0', '1700000000000'].map((timestamp) => ({ value: 'v', timestamp }))
    const [sent] = await producer.send({ topic, messages })
    for (const received of await consumeCount(topic, 2)) {
      expect(received).toMatchObject({ timestamp: sent?.logAppendTime, timestampType: 'append' })
    }
  })
})

describe('a topic that is gone', () => {
  const send = (producer: Producer, topic: string) => producer.send({ topic, messages: [{ value: 'v' }] })

  test('does not fail messages to topics that are there, new ones and known ones', async () => {
    const one = topics.kafka.producer({ metadataMaxAge: 200, allowAutoTopicCreation: false, retry: { retries: 0 } })
    await one.connect()
    try {
      const [gone, known] = [await topics.createTopic('gone'), await topics.createTopic('known')]
      for (const topic of [gone, known]) await send(one, topic)
      await topics.admin.deleteTopics({ topics: [gone] })
      await eventually(async () => expect(await topics.admin.listTopics()).not.toContain(gone))
      const added = await topics.createTopic('added')
      expect(await send(one, added)).toMatchObject([{ errorCode: 0 }])

      await send(one, added)
      await topics.admin.deleteTopics({ topics: [added] })
      await eventually(async () => expect(await topics.admin.listTopics()).not.toContain(added))
      // The metadata is older than 200 ms, and read again.
      await sleep(250)
      expect(await send(one, known)).toMatchObject([{ errorCode: 0 }])
      await expect(send(one, gone)).rejects.toThrow('does not host this topic')
      expect(await send(one, known)).toMatchObject([{ errorCode: 0 }])
    } finally {
      await one.disconnect()
    }
  })
})

describe('an explicit partition', () => {
  test('that does not exist fails the whole send, and no record is written', async () => {
    const topic = await topics.createTopic('partitions', { partitions: 2 })
    for (const partition of [2, -1]) {
      const messages = [
        { value: 'fine', partition: 0 },
        { value: 'lost', partition },
      ]
      await expect(producer.send({ topic, messages })).rejects.toMatchObject({
        name: 'KafkaJSNonRetriableError',
        message: `Partition ${partition} of topic "${topic}" does not exist`,
        topic,
        partition,
      })
    }
    expect((await topics.admin.fetchTopicOffsets(topic)).map(({ high }) => high)).toEqual(['0', '0'])
  })

  test('that is newer than the producer’s metadata is found', async () => {
    const topic = await topics.createTopic('partitions')
    await producer.send({ topic, messages: [{ value: 'v', partition: 0 }] })
    await topics.admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] })
    // The broker itself needs a moment before it knows its new partition.
    await eventually(async () =>
      expect(await producer.send({ topic, messages: [{ value: 'v', partition: 1 }] })).toMatchObject([
        { partition: 1, errorCode: 0 },
      ]),
    )
  })
})

describe.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)('%s', (name) => {
  const types = { gzip: 'GZIP', snappy: 'Snappy', lz4: 'LZ4', zstd: 'ZSTD' } as const
  // Larger than the blocks of each format, compressible and not.
  const values = [randomBytes(50_000), Buffer.alloc(300_000, 'dead letter '), Buffer.alloc(0), randomBytes(200_000)]
  const send = (topic: string, compression = CompressionTypes.None) =>
    producer.send({ topic, compression, messages: values.map((value) => ({ value })) })

  test.each([
    ['what Java compressed is read', name, CompressionTypes.None],
    ['what we compress is read by Java', 'uncompressed', CompressionTypes[types[name]]],
    ['what we compress is read by us', 'producer', CompressionTypes[types[name]]],
  ])('%s', async (_title, onBroker, compression) => {
    const topic = await topics.createTopic(name, { config: { 'compression.type': onBroker } })
    await send(topic, compression)
    const received = await consumeCount(topic, values.length)
    expect(received.map(({ value }) => value)).toEqual(values)
  })
})

test('of 200 committed and 200 aborted transactions, interleaved, exactly the committed records are delivered', async () => {
  const topic = await topics.createTopic('transactions')
  const key = Buffer.alloc(4) // The key that an abort marker has.
  const rounds = 50
  const send = (to: Pick<Producer, 'send'>, value: string) => to.send({ topic, messages: [{ key, value }] })

  const runProducer = async (name: string, phase: number): Promise<string[]> => {
    const committed: string[] = []
    const transactional = topics.kafka.producer({
      transactionalId: topics.groupName(name),
      idempotent: true,
      maxInFlightRequests: 1,
      retry: { initialRetryTime: 5, multiplier: 1.5, maxRetryTime: 200, retries: 300 },
    })
    await transactional.connect()
    for (let round = 0; round < rounds; round++) {
      const values = Array.from(
        { length: 1 + ((round + phase) % 4) },
        (_, i): Message['value'] => `${name} ${round} ${i}`,
      )
      const transaction = await transactional.transaction()
      for (const value of values) await send(transaction, String(value))
      if ((round >> 1) % 2 === phase % 2) {
        await transaction.commit()
        committed.push(...values.map(String))
      } else {
        await transaction.abort()
      }
    }
    await transactional.disconnect()
    return committed
  }

  const names = Array.from({ length: 8 }, (_, i) => `producer-${i}`)
  const committed = (await Promise.all(names.map(runProducer))).flat()
  await send(producer, 'last')

  // Small fetches, so that many of them begin inside transactions.
  for (const maxBytesPerPartition of [1_500, 1_048_576]) {
    const isLast = ({ value }: KafkaMessage) => String(value) === 'last'
    const received = await consume(topic, { isLast, maxBytesPerPartition })
    expect(received.map(({ value }) => String(value)).sort()).toEqual([...committed, 'last'].sort())
  }
})
