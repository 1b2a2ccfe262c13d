// Batches of which compaction has left less than their offsets say, read from a real broker (patches/kafkajs@2.2.4.patch).
// Of each producer's last batch the broker keeps the header, and a fetch ends with a segment at the latest.
import { randomBytes } from 'node:crypto'
import { eventually } from 'dlq-testing/eventually.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import type { Message } from 'kafkajs'
import { beforeAll, expect, test } from 'vitest'

const topics = useTopics()
/** Two of them do not fit into a segment of 1 MiB, the smallest that Kafka allows. */
const largeBytes = 700_000
const [emptied, cut] = [0, 1]
let topic: string

/** In each partition: a large record, the batch, which is the last one of its segment, and what replaces its records. */
beforeAll(async () => {
  topic = await topics.createTopic('compacted', {
    partitions: 2,
    config: { 'cleanup.policy': 'compact', 'segment.bytes': String(1024 * 1024), 'max.compaction.lag.ms': '1000' },
  })
  const replaced = [plain('a'), plain('b')]
  for (const partition of [emptied, cut]) {
    const batch = partition === cut ? [plain('kept'), ...replaced] : replaced
    for (const messages of [[large('first')], batch, [large('second')], replaced, [large('third')]])
      await sendTo(partition, messages)
  }
  await eventually(async () => expect([await keysFrom(emptied, 1n), await keysFrom(cut, 1n)]).toEqual([[], ['kept']]))
})

const large = (key: string): Message => ({ key, value: randomBytes(largeBytes) })
const plain = (key: string): Message => ({ key, value: key })

/** One batch, which is the last of a producer that the broker remembers. */
async function sendTo(partition: number, messages: readonly Message[]): Promise<void> {
  const producer = topics.kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false })
  await producer.connect()
  await producer.send({ topic, messages: messages.map((message) => ({ ...message, partition })) })
  await producer.disconnect()
}

/** One batch. */
const fetchFrom = (partition: number, offset: bigint) =>
  topics.reader.fetchRecords({ topic, partition, offset, maxBytes: 1 })

async function keysFrom(partition: number, offset: bigint): Promise<string[]> {
  const fetched = await fetchFrom(partition, offset)
  return fetched.kind === 'records' ? fetched.messages.map(({ key }) => String(key)) : []
}

test.each([
  ['that is empty', emptied, 1n, 3n],
  ['whose last records are gone', cut, 2n, 4n],
])('a fetch of a batch %s goes on behind it', async (_, partition, from, nextOffset) => {
  expect(await fetchFrom(partition, from)).toMatchObject({ messages: [], nextOffset, isAborted: false })
})

test('a consumer reads on behind them', async () => {
  const consumer = topics.kafka.consumer({ groupId: topics.groupName('compacted'), maxWaitTimeInMs: 100 })
  const read: Record<number, string[]> = { [emptied]: [], [cut]: [] }
  await consumer.connect()
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await consumer.run({
      eachMessage: async ({ partition, message }) => void read[partition]!.push(String(message.key)),
    })
    await eventually(() =>
      expect(read).toEqual({
        [emptied]: ['first', 'second', 'a', 'b', 'third'],
        [cut]: ['first', 'kept', 'second', 'a', 'b', 'third'],
      }),
    )
  } finally {
    await consumer.disconnect()
  }
})
