// The reader's answers, against the shared broker. fetch-originals.kafka.test.ts tests how the ingester uses them.
import { eventually } from 'dlq-testing/eventually.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import kafkajs from 'kafkajs'
import { expect, onTestFinished, test } from 'vitest'
import { createTopicReader } from './topic-reader.ts'

const topics = useTopics()

/** A reader without any request so far, and so without a connection. */
function freshReader() {
  const reader = createTopicReader(topics.kafka)
  onTestFinished(() => reader.disconnect())
  return reader
}

async function produce(topic: string, partition: number, values: string[]): Promise<void> {
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  await producer.send({ topic, messages: values.map((value) => ({ value, partition })) })
  await producer.disconnect()
}

const valuesOf = (messages: readonly { value: Buffer | null }[]) => messages.map(({ value }) => String(value))

async function deleteRecords(topic: string, offset: string): Promise<void> {
  await topics.admin.fetchTopicOffsets(topic) // kafkajs finds no leader in metadata that it has not loaded.
  await topics.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset }] })
}

test('the first request of a reader may be for the log bounds of several topics', async () => {
  const cut = await topics.createTopic('cut', { partitions: 2 })
  const empty = await topics.createTopic('empty')
  await produce(cut, 0, ['a', 'b', 'c'])
  await produce(cut, 1, ['d'])
  await deleteRecords(cut, '2')
  const bounds = await freshReader().fetchLogBounds([cut, empty])
  expect(bounds.toSorted((a, b) => a.topic.localeCompare(b.topic) || a.partition - b.partition)).toEqual([
    { topic: cut, partition: 0, log_start_offset: 2n, log_end_offset: 3n },
    { topic: cut, partition: 1, log_start_offset: 0n, log_end_offset: 1n },
    { topic: empty, partition: 0, log_start_offset: 0n, log_end_offset: 0n },
  ])
})

test('a leader tells where the records of its epoch end, and those of the last one before; not of one that it does not know', async () => {
  const topic = await topics.createTopic('epochs')
  await produce(topic, 0, ['a', 'b', 'c'])
  const reader = freshReader()
  const endOf = (epoch: number) => reader.fetchEpochEnd({ topic, partition: 0, epoch })
  expect(await endOf(0)).toEqual({ epoch: 0, offset: 3n })
  expect(await endOf(7)).toBeNull()
  expect(await reader.fetchEpochEnd({ topic, partition: 9, epoch: 0 })).toBeNull()
  await expect(reader.fetchEpochEnd({ topic: `${topic}-gone`, partition: 0, epoch: 0 })).rejects.toThrow(
    /does not host this topic-partition/,
  )
})

test('a log ends after the records of an open transaction, which a fetch does not return', async () => {
  const topic = await topics.createTopic('open')
  await produce(topic, 0, ['committed'])
  const producer = topics.kafka.producer({ transactionalId: topic, idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  onTestFinished(() => producer.disconnect())
  const transaction = await producer.transaction()
  await transaction.send({ topic, messages: [{ value: 'open' }] })
  const reader = freshReader()
  expect(await reader.fetchLogBounds([topic])).toEqual([
    { topic, partition: 0, log_start_offset: 0n, log_end_offset: 2n },
  ])
  expect(await reader.fetchRecords({ topic, partition: 0, offset: 1n, maxBytes: 1 })).toEqual({
    ...{ kind: 'records', messages: [], nextOffset: 1n, highWatermark: 2n, isAborted: false },
  })
  await transaction.abort()
  // The record that was aborted is passed over, and the marker after it.
  await eventually(async () =>
    expect(await reader.fetchRecords({ topic, partition: 0, offset: 1n, maxBytes: 10_000 })).toMatchObject({
      ...{ kind: 'records', messages: [], nextOffset: 3n, isAborted: true },
    }),
  )
  // The marker itself.
  expect(await reader.fetchRecords({ topic, partition: 0, offset: 2n, maxBytes: 10_000 })).toMatchObject({
    isAborted: false,
  })
})

test('a fetch tells records, deleted offsets, offsets that are not there yet and missing partitions apart', async () => {
  const topic = await topics.createTopic('told-apart')
  await produce(topic, 0, ['a', 'b'])
  await produce(topic, 0, ['c'])
  await deleteRecords(topic, '1')
  const reader = freshReader()
  const fetch = (partition: number, offset: bigint) => reader.fetchRecords({ topic, partition, offset, maxBytes: 1 })
  const fetched = await fetch(0, 1n)
  // One batch, without the record before the offset.
  expect(fetched.kind === 'records' && valuesOf(fetched.messages)).toEqual(['b'])
  expect(fetched).toMatchObject({ nextOffset: 2n, highWatermark: 3n, isAborted: false })
  expect(await fetch(0, 3n)).toMatchObject({ kind: 'records', messages: [], nextOffset: 3n })
  expect(await fetch(0, 0n)).toEqual({ kind: 'out-of-range', lowOffset: 1n })
  expect(await fetch(0, 4n)).toEqual({ kind: 'out-of-range', lowOffset: 1n })
  expect(await fetch(1, 0n)).toEqual({ kind: 'no-partition' })
})

test('a topic that is deleted is refused by its name, and leaves the reader usable for others', async () => {
  const [deleted, kept] = [await topics.createTopic('deleted'), await topics.createTopic('kept')]
  await produce(kept, 0, ['still here'])
  const reader = freshReader()
  await reader.fetchLogBounds([deleted, kept])
  await topics.admin.deleteTopics({ topics: [deleted] })
  await eventually(() => expect(reader.fetchLogBounds([deleted, kept])).rejects.toThrow(kafkajs.KafkaJSProtocolError))
  expect(await reader.fetchRecords({ topic: deleted, partition: 0, offset: 0n, maxBytes: 1 })).toEqual({
    kind: 'no-partition',
  })
  expect(await reader.fetchLogBounds([kept])).toMatchObject([{ topic: kept, log_end_offset: 1n }])
})

test('a topic that is created again under its name has another id; a missing topic has none', async () => {
  const [topic, other] = [await topics.createTopic('again'), await topics.createTopic('other')]
  const missing = topics.topicName('missing')
  const reader = freshReader()
  const before = await reader.fetchTopicIds([topic, missing, other])
  expect([...before.keys()].toSorted()).toEqual([topic, other].toSorted())
  for (const id of before.values()) expect(id).toMatch(/^[\w-]{22}$/)

  await topics.admin.deleteTopics({ topics: [topic] })
  await eventually(async () => expect(await reader.fetchTopicIds([topic])).toEqual(new Map()))
  await createTopics(topics.admin, [{ topic, numPartitions: 1 }])
  const after = await reader.fetchTopicIds([topic, other])
  expect(after.get(topic)).toMatch(/^[\w-]{22}$/)
  expect(after.get(topic)).not.toBe(before.get(topic))
  expect(after.get(other)).toBe(before.get(other))
})

test('an empty list of topics asks for none of them, not for all', async () => {
  const reader = freshReader()
  expect(await reader.fetchLogBounds([])).toEqual([])
  expect(await reader.fetchTopicIds([])).toEqual(new Map())
})
