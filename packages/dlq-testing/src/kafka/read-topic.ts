// Reads all records that a topic holds now, by a new consumer group.
import { createTopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs'

export type TopicRecord = KafkaMessage & { partition: number }

const defaultTimeoutMs = 120_000

/**
 * Reads committed records from the beginning to the ends that the partitions have at the call;
 * within a partition in order of offsets. Waits for open transactions, because Kafka answers a commit a moment before
 * its records can be read. Throws after `timeoutMs`.
 */
export async function readTopic(
  kafka: Kafka,
  { topic, groupId, timeoutMs = defaultTimeoutMs }: { topic: string; groupId: string; timeoutMs?: number },
): Promise<TopicRecord[]> {
  const ends = await endOffsets(kafka, topic)
  // A consumer that has to join again, as on a busy machine, gets some records a second time.
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
      // The event also reports batches that hold only control records or aborted ones.
      consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => {
        if (BigInt(payload.lastOffset) + 1n >= (ends.get(payload.partition) ?? 0n)) ends.delete(payload.partition)
        if (ends.size > 0) return
        clearTimeout(timer)
        resolve()
      })
      consumer.on(consumer.events.CRASH, ({ payload }) => {
        // A new broker answers the first join with COORDINATOR_LOAD_IN_PROGRESS; kafkajs then starts again.
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
  const reader = createTopicReader(kafka)
  try {
    const bounds = await reader.fetchLogBounds([topic])
    const filled = bounds.filter(({ log_start_offset, log_end_offset }) => log_end_offset > log_start_offset)
    return new Map(filled.map(({ partition, log_end_offset }) => [partition, log_end_offset]))
  } finally {
    await reader.disconnect()
  }
}
