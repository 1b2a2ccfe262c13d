// A retry of dlq-manager reaches every consumer group of its topic. It carries `dlq-for-group: TOPIC/GROUP`, so that the
// groups which have handled the record before may leave it out. The topic stands in the header because headers travel:
// Kafka Streams copies them to its output topics, and there the header says nothing.

import type { ConsumedRecord, KafkaHeaders } from './dead-letter.ts'

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

/** The text of a header that stands there once; null where it is absent, null, or there several times. */
export function headerText(headers: KafkaHeaders | undefined, name: string): string | null {
  // Object.hasOwn: a header may be named like a member of every object.
  const value = headers !== undefined && Object.hasOwn(headers, name) ? headers[name] : null
  if (value === null || value === undefined) return null
  const [first, ...more] = Array.isArray(value) ? value : [value]
  return first === null || first === undefined || more.length > 0 ? null : String(first)
}
