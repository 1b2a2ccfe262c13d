// Everything that a topic holds now, read by a consumer group of its own.
import type { EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs'

export type TopicRecord = KafkaMessage & { partition: number }

const defaultTimeoutMs = 60_000

/**
 * Reads committed records from the beginning to the ends that the partitions have at the call;
 * within a partition in order of offsets. Throws after `timeoutMs`.
 */
export async function readTopic(
  kafka: Kafka,
  { topic, groupId, timeoutMs = defaultTimeoutMs }: { topic: string; groupId: string; timeoutMs?: number },
): Promise<TopicRecord[]> {
  const ends = await endOffsets(kafka, topic)
  const records: TopicRecord[] = []
  if (ends.size === 0) return records
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 })
  await consumer.connect()
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${topic} was not read within ${timeoutMs} ms`)), timeoutMs)
      const eachBatch = async ({ batch }: EachBatchPayload) => {
        for (const message of batch.messages) records.push({ ...message, partition: batch.partition })
      }
      // The event also tells of batches that hold nothing but control records or aborted ones.
      consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => {
        if (BigInt(payload.lastOffset) + 1n >= (ends.get(payload.partition) ?? 0n)) ends.delete(payload.partition)
        if (ends.size > 0) return
        clearTimeout(timer)
        resolve()
      })
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
      consumer.run({ eachBatch }).catch(reject)
    })
  } finally {
    await consumer.disconnect()
  }
  return records
}

/** Partition → the offset after its last record, for the partitions that are not empty. */
async function endOffsets(kafka: Kafka, topic: string): Promise<Map<number, bigint>> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    const offsets = await admin.fetchTopicOffsets(topic)
    const filled = offsets.filter(({ low, high }) => BigInt(high) > BigInt(low))
    return new Map(filled.map(({ partition, high }) => [partition, BigInt(high)]))
  } finally {
    await admin.disconnect()
  }
}
