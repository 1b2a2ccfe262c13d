// Fetches original records from the shared broker, for dead letters that have only their coordinates.
import { randomBytes } from 'node:crypto'
import { eventually } from 'dlq-testing/eventually.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import kafkajs, { type Message, type Producer } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { placeKey, type RecordPlace } from '../../domain/record/record-place.ts'
import { createTopicReader, type TopicReader } from '../kafka/topic-reader.ts'
import { type FetchLimits, fetchOriginals } from './fetch-originals.ts'
import { registerCodecs } from './kafka-codecs.ts'

const { CompressionTypes } = kafkajs
const topics = useTopics()
let producer: Producer

beforeAll(async () => {
  registerCodecs()
  producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
})
afterAll(() => producer.disconnect())

const textsOf = (from: number, count: number) => Array.from({ length: count }, (_, i) => `value ${from + i}`)
const messagesOf = (from: number, count: number) => textsOf(from, count).map((value) => ({ value }))
/** Time enough for a busy broker. */
const patient = { timeoutMs: 60_000 }
const offsetsOf = (topic: string, ...offsets: (number | bigint)[]): RecordPlace[] =>
  offsets.map((offset) => ({ topic, partition: 0, offset: BigInt(offset) }))

/** The answers in the order of the coordinates, a found record as its value, and the number of fetches. */
async function fetchValues(wanted: RecordPlace[], limits?: Partial<FetchLimits>) {
  const fetchRecords = vi.fn<TopicReader['fetchRecords']>((place) => topics.reader.fetchRecords(place))
  const originals = await fetchOriginals({ fetchRecords }, wanted, { limits: { ...patient, ...limits } })
  expect([...originals.keys()].sort()).toEqual([...new Set(wanted.map(placeKey))].sort())
  const values = wanted.map((place) => {
    const original = originals.get(placeKey(place))
    return typeof original === 'object' ? String(original.value) : original
  })
  return { values, fetches: fetchRecords.mock.calls.length }
}

test('a record is returned byte for byte, with its headers in their order and its timestamp', async () => {
  const topic = await topics.createTopic('original')
  const headers: [string, Buffer | null][] = [
    ['b', Buffer.from([0xff, 0x00])],
    ['a', null],
    ['b', Buffer.alloc(0)],
  ]
  const key = randomBytes(16)
  const value = randomBytes(1000)
  await producer.send({ topic, messages: [{ key, value, headers, timestamp: '1700000000000' }, { value: null }] })
  const originals = await fetchOriginals(topics.reader, offsetsOf(topic, 0, 1), { limits: patient })
  expect(originals.get(`${topic}:0:0`)).toEqual({ key, value, headers, timestamp: 1_700_000_000_000n })
  expect(originals.get(`${topic}:0:1`)).toMatchObject({ key: null, value: null, headers: [] })
})

describe('a missing record is reported as gone', () => {
  test('records that were deleted, below and amid those that were not', async () => {
    const topic = await topics.createTopic('deleted')
    for (const from of [0, 5, 10]) await producer.send({ topic, messages: messagesOf(from, 5) })
    await topics.admin.fetchTopicOffsets(topic) // kafkajs finds no leader in metadata that it has not loaded.
    await topics.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '7' }] })
    const { values, fetches } = await fetchValues(offsetsOf(topic, 0, 4, 6, 7, 14))
    expect(values).toEqual(['gone', 'gone', 'gone', 'value 7', 'value 14'])
    expect(fetches).toBe(2)
  })

  test('offsets at the end of the log and behind it', async () => {
    const topic = await topics.createTopic('short')
    await producer.send({ topic, messages: messagesOf(0, 2) })
    expect((await fetchValues(offsetsOf(topic, 1, 2, 3, 10n ** 15n))).values).toEqual([
      'value 1',
      'gone',
      'gone',
      'gone',
    ])
    expect((await fetchValues(offsetsOf(topic, 99))).values).toEqual(['gone'])
  })

  test('topics and partitions that do not exist, and the request does not create the topic', async () => {
    const topic = await topics.createTopic('one-partition')
    const absent = topics.topicName('absent')
    const places = [...offsetsOf(absent, 0, 1), { topic, partition: 1, offset: 0n }, ...offsetsOf('not/a topic', 0)]
    expect((await fetchValues(places)).values).toEqual(['gone', 'gone', 'gone', 'gone'])
    expect(await topics.admin.listTopics()).not.toContain(absent)
  })

  test('a topic deleted after it was fetched from, which leaves the client usable', async () => {
    const topic = await topics.createTopic('deleted-topic')
    const other = await topics.createTopic('other')
    // A producer of its own: kafkajs's producers fail for good when one of their topics is deleted.
    const passing = topics.kafka.producer({ allowAutoTopicCreation: false })
    await passing.connect()
    for (const name of [topic, other]) await passing.send({ topic: name, messages: messagesOf(0, 1) })
    await passing.disconnect()
    expect((await fetchValues(offsetsOf(topic, 0))).values).toEqual(['value 0'])
    await topics.admin.deleteTopics({ topics: [topic] })
    // The broker still knows a deleted topic for a moment after its answer.
    await eventually(async () => {
      const { values } = await fetchValues([...offsetsOf(topic, 0), ...offsetsOf(other, 0)])
      expect(values).toEqual(['gone', 'value 0'])
    })
    expect(await topics.admin.fetchTopicOffsets(other)).toMatchObject([{ high: '1' }])
  })
})

describe('transactions', () => {
  const send = async (topic: string, from: number, end: 'commit' | 'abort' | 'open') => {
    const transactional = topics.kafka.producer({
      transactionalId: topics.groupName('tx'),
      maxInFlightRequests: 1,
      idempotent: true,
      retry: { initialRetryTime: 20, maxRetryTime: 500, retries: 100 },
    })
    await transactional.connect()
    const transaction = await transactional.transaction()
    await transaction.send({ topic, messages: messagesOf(from, 2) })
    if (end !== 'open') await transaction[end]()
    return { transaction, disconnect: () => transactional.disconnect() }
  }

  test('a record of an aborted transaction is gone, also where nothing follows it', async () => {
    const topic = await topics.createTopic('aborted')
    await (await send(topic, 0, 'commit')).disconnect() // Offsets 0 and 1, the marker is 2.
    await (await send(topic, 3, 'abort')).disconnect()
    expect((await fetchValues(offsetsOf(topic, 1, 3, 4))).values).toEqual(['value 1', 'gone', 'gone'])
    expect((await fetchValues(offsetsOf(topic, 4))).values).toEqual(['gone'])
    expect((await fetchValues(offsetsOf(topic, 2))).values).toEqual(['gone'])
  })

  test('a record of a transaction that has not ended is unreachable until it is committed', async () => {
    const topic = await topics.createTopic('open')
    await producer.send({ topic, messages: messagesOf(0, 1) })
    const { transaction, disconnect } = await send(topic, 1, 'open')
    expect((await fetchValues(offsetsOf(topic, 0, 1, 2))).values).toEqual(['value 0', 'unreachable', 'unreachable'])
    await transaction.commit()
    await eventually(async () => expect((await fetchValues(offsetsOf(topic, 2))).values).toEqual(['value 2']))
    await disconnect()
  })
})

test.each(['GZIP', 'Snappy', 'LZ4', 'ZSTD'] as const)('records amid a %s batch are found', async (name) => {
  const topic = await topics.createTopic('compressed', { config: { 'compression.type': 'producer' } })
  for (const from of [0, 100])
    await producer.send({ topic, compression: CompressionTypes[name], messages: messagesOf(from, 100) })
  const { values, fetches } = await fetchValues(offsetsOf(topic, 57, 99, 100, 142))
  expect(values).toEqual(['value 57', 'value 99', 'value 100', 'value 142'])
  expect(fetches).toBe(1)
})

test('a record in a batch that cannot be decoded is unreachable, the records around it are found', async () => {
  const topic = await topics.createTopic('undecodable', { config: { 'compression.type': 'producer' } })
  const send = (messages: Message[]) => producer.send({ topic, compression: CompressionTypes.GZIP, messages })
  await send(messagesOf(0, 2))
  await send([{ value: Buffer.alloc(100_000) }, { value: 'beside it' }])
  await send(messagesOf(4, 2))
  registerCodecs({ maxBatchBytes: 10_000 })
  const { values } = await fetchValues(offsetsOf(topic, 1, 2, 3, 4)).finally(() => registerCodecs())
  expect(values).toEqual(['value 1', 'unreachable', 'unreachable', 'value 4'])
})

describe('bounds', () => {
  test('300 neighbouring offsets take few fetches, whatever their order', async () => {
    const topic = await topics.createTopic('neighbours')
    for (let from = 0; from < 400; from += 40) await producer.send({ topic, messages: messagesOf(from, 40) })
    const wanted = Array.from({ length: 300 }, (_, i) => (i * 7) % 300)
    const { values, fetches } = await fetchValues(offsetsOf(topic, ...wanted, 5, 5))
    expect(values).toEqual([...wanted, 5, 5].map((offset) => `value ${offset}`))
    expect(fetches).toBeLessThanOrEqual(3)
  })

  test('a record larger than a fetch is found', async () => {
    const topic = await topics.createTopic('large', { config: { 'max.message.bytes': '4000000' } })
    const value = randomBytes(3_000_000)
    await producer.send({ topic, messages: [{ value }] })
    await producer.send({ topic, messages: messagesOf(1, 1) })
    for (const offsets of [[0], [0, 1]]) {
      const originals = await fetchOriginals(topics.reader, offsetsOf(topic, ...offsets), { limits: patient })
      const original = originals.get(`${topic}:0:0`)
      expect(typeof original === 'object' && original.value?.equals(value)).toBe(true)
    }
  })

  test('a record beyond the allowed bytes is unreachable, and one that still fits is found', async () => {
    const topic = await topics.createTopic('bytes')
    await producer.send({ topic, messages: ['1', '2'.repeat(2000), '3'].map((value) => ({ value })) })
    expect((await fetchValues(offsetsOf(topic, 0, 1, 2), { maxBytes: 1000 })).values).toEqual(['1', 'unreachable', '3'])
  })

  test('a record beyond the allowed fetches is unreachable', async () => {
    const topic = await topics.createTopic('far-apart', { partitions: 3 })
    const messages = [0, 1, 2].map((partition) => ({ value: `in ${partition}`, partition }))
    await producer.send({ topic, messages })
    const wanted = [0, 1, 2].map((partition) => ({ topic, partition, offset: 0n }))
    const { values, fetches } = await fetchValues(wanted, { maxFetches: 2 })
    expect(fetches).toBe(2)
    expect(values.filter((value) => value === 'unreachable')).toHaveLength(1)
  })

  test('a broker that does not answer costs the allowed time and no more, and cannot change the answer later', async () => {
    const held = Promise.withResolvers<void>()
    const topic = await topics.createTopic('slow')
    await producer.send({ topic, messages: messagesOf(0, 1) })
    const warn = vi.fn()
    const fetchRecords: TopicReader['fetchRecords'] = async (place) => {
      await held.promise
      return topics.reader.fetchRecords(place)
    }
    const originals = await fetchOriginals({ fetchRecords }, offsetsOf(topic, 0), {
      log: { warn },
      limits: { timeoutMs: 50 },
    })
    held.resolve()
    await topics.reader.fetchRecords({ topic, partition: 0, offset: 0n, maxBytes: 1 })
    expect([...originals.values()]).toEqual(['unreachable'])
    expect(warn).toHaveBeenCalledWith({ wanted: 1, timeoutMs: 50 }, 'originals_timed_out')
  })

  test('a cluster that is down makes everything unreachable, and says so once per partition', async () => {
    const kafka = new kafkajs.Kafka({
      brokers: ['127.0.0.1:1'],
      retry: { retries: 0 },
      logLevel: kafkajs.logLevel.NOTHING,
    })
    const warn = vi.fn()
    const originals = await fetchOriginals(createTopicReader(kafka), offsetsOf('orders', 1, 2), { log: { warn } })
    expect([...originals.values()]).toEqual(['unreachable', 'unreachable'])
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ topic: 'orders', partition: 0, error: expect.any(Error) }),
      'originals_unreachable',
    )
  })
})
