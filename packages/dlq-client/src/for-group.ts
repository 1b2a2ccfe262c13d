// A retry of dlq-manager reaches every consumer group of its topic. It carries `dlq-for-group: TOPIC/GROUP`, so that the
// groups which have handled the record before may leave it out. The topic stands in the header because headers travel:
// Kafka Streams copies them to its output topics, and there the header says nothing.

import type { ConsumedRecord, KafkaHeaders } from './dead-letter.ts'
import { headerText } from './record-headers.ts'

export const forGroupHeader = 'dlq-for-group'

/**
 * Whether a group should handle the record: false only where its header names this topic and another group. A header
 * that is malformed, or there twice, excludes nobody.
 */
export function isForGroup(topic: string, message: { headers?: KafkaHeaders | undefined }, group: string): boolean {
  const value = headerText(message.headers, forGroupHeader)
  if (value === null) return true
  const slash = value.indexOf('/')
  return slash <= 0 || slash === value.length - 1 || value.slice(0, slash) !== topic || value.slice(slash + 1) === group
}

/** For `eachMessage`: calls the handler for the records that are for this group, and leaves the others out. */
export function forGroup<
  Payload extends Pick<ConsumedRecord, 'topic'> & { message: { headers?: KafkaHeaders | undefined } },
>(group: string, handle: (payload: Payload) => Promise<void>): (payload: Payload) => Promise<void> {
  return async (payload) => {
    if (isForGroup(payload.topic, payload.message, group)) await handle(payload)
  }
}
