// A span for every dead letter of a batch that carries a trace, in that trace.

import { deriveMessageId } from 'dlq-core/message-id.ts'
import { type Tracing, traceRecords } from 'dlq-core/runtime/tracing.ts'
import type { Batch, StoreOutcome } from './store-batch.ts'

type TraceDeps = { tracing: Tracing; groupId: string }

/** Runs `store` within the spans. */
export async function traceBatch(
  { tracing, groupId }: TraceDeps,
  { topic, partition, records }: Batch,
  store: () => Promise<StoreOutcome>,
): Promise<StoreOutcome> {
  const spans = traceRecords(tracing, records, (record) => ({
    name: `process ${topic}`,
    kind: 'consumer',
    attributes: {
      'messaging.system': 'kafka',
      'messaging.operation.type': 'process',
      'messaging.destination.name': topic,
      'messaging.destination.partition.id': String(partition),
      'messaging.consumer.group.name': groupId,
      'messaging.kafka.offset': Number(record.offset),
      'dlq.message_id': deriveMessageId(record),
    },
  }))
  try {
    const outcome = await store()
    for (const span of spans.values()) span.end(outcome.kind === 'stored' ? undefined : outcome.kind)
    return outcome
  } catch (error) {
    for (const span of spans.values()) span.end((error as Error).message)
    throw error
  }
}
