// Adds a span to the trace of every published message that carries one. The record keeps the traceparent that
// it came with (infra/docs/decisions/026-traces-without-touching-records.md).

import { type Tracing, traceRecords } from 'dlq-core/runtime/tracing.ts'
import type { Part, PublishResult } from './slot-producer.ts'

/** Runs `publish` within the spans. */
export async function tracePublishing(
  tracing: Tracing,
  { records, batchNumber }: Part,
  publish: () => Promise<PublishResult>,
): Promise<PublishResult> {
  const spans = traceRecords(tracing, records, ({ id, topic, partition }) => ({
    name: `send ${topic}`,
    kind: 'producer',
    attributes: {
      'messaging.system': 'kafka',
      'messaging.operation.type': 'send',
      'messaging.destination.name': topic,
      'messaging.destination.partition.id': String(partition),
      'dlq.message_id': id,
      'dlq.batch': Number(batchNumber),
    },
  }))
  try {
    const result = await publish()
    if (spans.size === 0) return result
    const offsets = new Map(result.published.map(({ id, offset }) => [id, offset]))
    const refusals = new Map(result.refused.map(({ id, reason }) => [id, reason]))
    for (const [{ id }, span] of spans) {
      const offset = offsets.get(id)
      if (offset != null) span.set({ 'messaging.kafka.offset': Number(offset) })
      span.end(offsets.has(id) ? undefined : (refusals.get(id) ?? 'not sent; it will be tried again'))
    }
    return result
  } catch (error) {
    for (const span of spans.values()) span.end((error as Error).message)
    throw error
  }
}
