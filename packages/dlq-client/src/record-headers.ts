// The headers of a republished record, as kafkajs and its forks hand them over.

import type { KafkaHeaders } from './dead-letter.ts'

/** The text of a header that stands there once; null where it is absent, null, or there several times. */
export function headerText(headers: KafkaHeaders | undefined, name: string): string | null {
  // Object.hasOwn: a header may be named like a member of every object.
  const value = headers !== undefined && Object.hasOwn(headers, name) ? headers[name] : null
  if (value === null || value === undefined) return null
  const [first, ...more] = Array.isArray(value) ? value : [value]
  return first === null || first === undefined || more.length > 0 ? null : String(first)
}
