// For development without Kafka (`retry.without_kafka: resolve`): every record counts as published,
// none is sent.

import type { SlotProducer } from './slot-producer.ts'
import type { TargetTopics } from './target-topics.ts'

export const pretendingProducer: SlotProducer = {
  connect: async () => null,
  begin: async () => {},
  publish: async ({ records }) => ({
    published: records.map(({ id, topic, partition }) => ({ id, topic, partition, offset: null })),
    refused: [],
    released: [],
    again: [],
    fault: null,
  }),
  close: async () => {},
}

/** Every topic is there, with one partition. */
export const pretendingTargets: TargetTopics = {
  find: async (topic) => ({
    kind: 'found',
    target: { topic, partitionFor: ({ partition }) => partition ?? 0, timestampFor: () => undefined },
  }),
  forget: () => {},
  close: async () => {},
}
