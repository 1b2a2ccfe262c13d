// Where each partition's log begins and ends now.

import type { Kafka } from 'kafkajs'

/** Partition → the first offset that is still retained, and the one after the last. */
export async function logBounds(kafka: Kafka, topic: string): Promise<Map<number, { low: bigint; high: bigint }>> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    const offsets = await admin.fetchTopicOffsets(topic)
    return new Map(offsets.map(({ partition, low, high }) => [partition, { low: BigInt(low), high: BigInt(high) }]))
  } finally {
    await admin.disconnect()
  }
}
