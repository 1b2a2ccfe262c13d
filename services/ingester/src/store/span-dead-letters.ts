// Adds a span to the trace of every dead letter that carries one.

import { deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import { type Tracing, traceRecords } from 'dlq-core/runtime/tracing.ts'
import type { Batch, StoreOutcome } from './store-batch.ts'

type SpanDeps = { tracing: Tracing; groupId: string }

/** Runs `store` within the spans. */
export async function spanDeadLetters(
  { tracing, groupId }: SpanDeps,
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
