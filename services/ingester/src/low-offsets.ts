// Where each partition's log begins now.

import type { Kafka } from 'kafkajs'

/** Partition → first offset that is still retained. */
export async function lowOffsets(kafka: Kafka, topic: string): Promise<Map<number, bigint>> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    const offsets = await admin.fetchTopicOffsets(topic)
    return new Map(offsets.map(({ partition, low }) => [partition, BigInt(low)]))
  } finally {
    await admin.disconnect()
  }
}
