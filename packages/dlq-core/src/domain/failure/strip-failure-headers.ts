// The headers that a record must not carry back into its topic. Frameworks read their own counters
// from the record: with `retry_topic-attempts` or `delayed-retry-count` left on, its next failure goes
// straight to the DLQ without a retry (measured with Spring and SmallRye); and appended sets grow the
// record until it is too large. All other headers stay, in order, with duplicates and nulls.

import type { Header } from '../record/record.ts'
import type { Family } from './families/family.ts'
import { ownHeaders, republishHeaderNames } from './families/own.ts'
import { plainErrorHeader } from './families/plain-error.ts'

const prefixes = [
  'kafka_dlt-',
  'kafka_original-',
  'kafka_exception-',
  'kafka_key-exception-',
  'retry_topic-',
  '__connect.errors.',
  '__streams.errors.',
  '__dlq.errors.',
  'dead-letter-',
  'delayed-retry-',
  'deserialization-failure-',
] as const

// If a prefix would also match applications' headers (x-original-url, dlq-…), the names are listed.
const exactNames: ReadonlySet<string> = new Set([
  'kafka_deliveryAttempt',
  'springDeserializerExceptionKey',
  'springDeserializerExceptionValue',
  'x-original-topic',
  'x-original-partition',
  'x-original-offset',
  'x-original-timestamp',
  'x-original-timestamp-type',
  'x-exception-fqcn',
  'x-exception-message',
  'x-exception-stacktrace',
  ...Object.values(ownHeaders),
  ...Object.values(republishHeaderNames),
])

// Karafka's names are common words: they are its own only where the three coordinates stand together.
const karafkaSets: readonly ReadonlySet<string>[] = [
  new Set([
    'source_topic',
    'source_partition',
    'source_offset',
    'source_consumer_group',
    'source_attempts',
    'source_trace_id',
  ]),
  new Set([
    'original_topic',
    'original_partition',
    'original_offset',
    'original_consumer_group',
    'original_attempts',
    'original_key',
  ]),
]

/** Whether a header of this name is always removed. */
export function isFailureHeader(name: string): boolean {
  const before = toldNames.get(name)
  if (before !== undefined) return before
  const isOne = exactNames.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
  if (toldNames.size >= maxToldNames) toldNames.clear()
  if (name.length <= maxToldChars) toldNames.set(name, isOne)
  return isOne
}

/** Most records have the same names. */
const toldNames = new Map<string, boolean>()
const maxToldNames = 1000
/** Whoever writes a DLQ topic chooses the names, and so what is remembered. */
const maxToldChars = 128

/**
 * The headers, decoded or as they are stored, without those that describe a failure. The `error` header is removed
 * only if `family` is `plain-error`, that is, if the failure was read from it; otherwise it may be the application's.
 */
export function stripFailureHeaders<H extends readonly [name: string, value: unknown]>(
  headers: readonly H[],
  family: Family | null,
): H[] {
  const karafka = karafkaSetsIn(headers)
  return headers.filter(([name]) => {
    if (isFailureHeader(name) || karafka.some((set) => set.has(name))) return false
    return name !== plainErrorHeader || family !== 'plain-error'
  })
}

/** The others: those that describe a failure. */
export function failureHeadersOf<H extends readonly [name: string, value: unknown]>(
  headers: readonly H[],
  family: Family | null,
): H[] {
  const own = new Set(stripFailureHeaders(headers, family))
  return headers.filter((header) => !own.has(header))
}

export type Republishing = {
  /** The message's id, a UUID. */
  readonly messageId: string
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** The attempt's id, a UUID; a repeated attempt keeps its id. */
  readonly attemptId: string
  /** The group that failed, of the topic that the record is sent to; null where other groups should handle it too. */
  readonly forGroup?: { readonly topic: string; readonly group: string } | null
}

/** Our headers. They come behind the application's own. */
export function republishingHeaders({ messageId, attempt, attemptId, forGroup = null }: Republishing): Header[] {
  return [
    [republishHeaderNames.messageId, Buffer.from(messageId)],
    [republishHeaderNames.attempt, Buffer.from(String(attempt))],
    [republishHeaderNames.attemptId, Buffer.from(attemptId)],
    // The topic stands in it because headers travel: Kafka Streams copies them to its output topics.
    ...(forGroup === null
      ? []
      : [[republishHeaderNames.forGroup, Buffer.from(`${forGroup.topic}/${forGroup.group}`)] satisfies Header]),
  ]
}

/** The sets of Karafka's names of which the first three, the coordinates, are all present. */
function karafkaSetsIn(headers: readonly (readonly [name: string, value: unknown])[]): readonly ReadonlySet<string>[] {
  const isPresent = (wanted: string) => headers.some(([name]) => name === wanted)
  return karafkaSets.filter((set) => [...set].slice(0, 3).every(isPresent))
}
