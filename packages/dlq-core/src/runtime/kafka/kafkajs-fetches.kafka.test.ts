// What patches/kafkajs@2.2.4.patch promises of fetches, against a real broker: whose turn it is, and when the memory of
// an answer is given back.
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import type { Batch } from 'kafkajs'
import { expect, test } from 'vitest'

const topics = useTopics()
const valueBytes = 100_000

/** A topic whose partitions have `perPartition` records of 100 KB each. */
async function createFilled(name: string, { numPartitions, perPartition }: Record<string, number>): Promise<string> {
  const topic = await topics.createTopic(name, { partitions: numPartitions! })
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  for (let at = 0; at < perPartition!; at++)
    await producer.send({
      topic,
      messages: Array.from({ length: numPartitions! }, (_, partition) => ({
        partition,
        value: Buffer.alloc(valueBytes, 'x'),
      })),
    })
  await producer.disconnect()
  return topic
}

/** The batches of a topic, until `isOver`. */
async function fetchBatches(
  topic: string,
  { isOver, maxBytes }: { isOver: (batches: readonly Batch[]) => boolean; maxBytes: number },
): Promise<Batch[]> {
  const consumer = topics.kafka.consumer({
    groupId: topics.groupName('fetches'),
    maxWaitTimeInMs: 200,
    maxBytes,
    maxBytesPerPartition: maxBytes,
  })
  const batches: Batch[] = []
  await consumer.connect()
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => {
        if (!payload.restart) reject(payload.error)
      })
      const eachBatch = async ({ batch }: { batch: Batch }) => {
        batches.push(batch)
        if (isOver(batches)) resolve()
      }
      consumer.run({ eachBatch, autoCommit: false }).catch(reject)
    })
    return batches
  } finally {
    await consumer.disconnect()
  }
}

test('partitions take turns where each of them may fill an answer', async () => {
  const [numPartitions, perPartition] = [3, 6]
  const topic = await createFilled('turns', { numPartitions, perPartition })
  const count = numPartitions * perPartition
  const batches = await fetchBatches(topic, {
    // One record of 100 KB fills it.
    maxBytes: valueBytes,
    isOver: (batches) => batches.length === count,
  })
  const partitions = batches.map(({ partition }) => partition)
  for (let round = 0; round < perPartition; round++)
    expect(partitions.slice(round * numPartitions, (round + 1) * numPartitions).toSorted()).toEqual([0, 1, 2])
})

test('the memory of an answer is given back when all its batches are released', async () => {
  const topic = await createFilled('released', { numPartitions: 2, perPartition: 2 })
  const memoryOf = (batch: Batch) => batch.messages[0]!.value!.buffer
  const batches = await fetchBatches(topic, {
    maxBytes: 10 * valueBytes,
    isOver: (batches) => batches.length === 2,
  })
  const [first, second] = batches as [Batch, Batch]
  expect(memoryOf(first)).toBe(memoryOf(second))

  first.release()
  first.release()
  expect(second.messages[0]!.value).toHaveLength(valueBytes)
  const memory = memoryOf(second) as ArrayBuffer
  second.release()
  expect(memory.detached).toBe(true)
  expect(second.messages[0]!.value).toHaveLength(0)
})

test('the memory of small answers, which may be shared, stays', async () => {
  const topic = await topics.createTopic('small')
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  await producer.send({ topic, messages: [{ value: 'v' }] })
  await producer.disconnect()
  const [batch] = await fetchBatches(topic, { maxBytes: valueBytes, isOver: (batches) => batches.length === 1 })
  batch!.release()
  expect(batch!.messages[0]!.value).toEqual(Buffer.from('v'))
})
