// For development without Kafka (`retry.without_kafka: resolve`): every record counts as published, and none is sent.

import type { SlotProducer } from './slot-producer.ts'
import type { TargetTopic, TargetTopics } from './target-topics.ts'

export const pretendingProducer: SlotProducer = {
  connect: async () => null,
  begin: async () => {},
  publish: async ({ records }) => ({
    published: records.map(({ id, topic, partition }) => ({ id, topic, partition, offset: null })),
    refused: [],
    released: [],
    splitInto: [],
    refusing: [],
    fault: null,
  }),
  close: async () => {},
}

/** Every topic exists, with one partition. */
export const pretendingTargets: TargetTopics = {
  find: async (topics) => new Map(topics.map((topic) => [topic, { kind: 'found', target: pretendingTarget(topic) }])),
  forget: () => {},
  close: async () => {},
}

function pretendingTarget(topic: string): TargetTopic {
  return {
    topic,
    partitionFor: ({ partition }) => partition ?? 0,
    timestampFor: () => undefined,
    check: () => ({ kind: 'fits' }),
    maxBatchBytes: Number.POSITIVE_INFINITY,
  }
}
