// Everything that a topic holds now, read by a consumer group of its own.
import type { EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs'

export type TopicRecord = KafkaMessage & { partition: number }

const defaultTimeoutMs = 120_000

/**
 * Reads committed records from the beginning to the ends that the partitions have at the call;
 * within a partition in order of offsets. What a transaction has written that is still open is waited for:
 * Kafka answers a commit a moment before its records can be read. Throws after `timeoutMs`.
 */
export async function readTopic(
  kafka: Kafka,
  { topic, groupId, timeoutMs = defaultTimeoutMs }: { topic: string; groupId: string; timeoutMs?: number },
): Promise<TopicRecord[]> {
  const ends = await endOffsets(kafka, topic)
  // A consumer that has to join again, which a busy machine may cause, is given some records a second time.
  const records = new Map<string, TopicRecord>()
  if (ends.size === 0) return []
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 })
  await consumer.connect()
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        const left = [...ends].map(([partition, end]) => `partition ${partition} to its end ${end}`).join(', ')
        reject(new Error(`${topic} was not read within ${timeoutMs} ms: ${left}; a transaction may be open`))
      }, timeoutMs)
      const eachBatch = async ({ batch }: EachBatchPayload) => {
        for (const message of batch.messages)
          records.set(`${batch.partition}:${message.offset}`, { ...message, partition: batch.partition })
      }
      // The event also tells of batches that hold nothing but control records or aborted ones.
      consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => {
        if (BigInt(payload.lastOffset) + 1n >= (ends.get(payload.partition) ?? 0n)) ends.delete(payload.partition)
        if (ends.size > 0) return
        clearTimeout(timer)
        resolve()
      })
      consumer.on(consumer.events.CRASH, ({ payload }) => {
        // A young broker answers the first join with COORDINATOR_LOAD_IN_PROGRESS; kafkajs then starts again.
        if (!payload.restart) reject(payload.error)
      })
      consumer.run({ eachBatch }).catch(reject)
    })
  } finally {
    await consumer.disconnect()
  }
  return [...records.values()]
}

/** Partition → the offset after its last record, committed or not, for the partitions that are not empty. */
async function endOffsets(kafka: Kafka, topic: string): Promise<Map<number, bigint>> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    await admin.fetchTopicOffsets(topic) // kafkajs finds no leader in metadata that it has not loaded.
    const bounds = await admin.fetchLogBounds({ topics: [topic] })
    const filled = bounds.filter(({ low, high }) => BigInt(high) > BigInt(low))
    return new Map(filled.map(({ partition, high }) => [partition, BigInt(high)]))
  } finally {
    await admin.disconnect()
  }
}
