// What some records of a topic say of themselves, before anybody ingests it. No key and no value is among it.

import { readFailure } from '../failure/read-failure.ts'
import { type OriginalTopicSource, resolveOriginalTopic, type TopicMapping } from '../failure/topic-names.ts'
import type { DeadLetterRecord } from '../record/record.ts'

export type SampledRecord = {
  partition: number
  offset: string
  /** ISO 8601; null where the record has none that a date can hold. */
  timestamp: string | null
  key_bytes: number | null
  value_bytes: number | null
  family: string | null
  original_topic: string
  original_topic_source: OriginalTopicSource
  original_partition: number | null
  original_offset: string | null
  consumer_group: string | null
  error_class: string | null
  error_message: string | null
  header_names: string[]
}

/** `readable`: Kafka gave all that was asked of it. */
export type Sample = { readable: boolean; oldest: SampledRecord[]; newest: SampledRecord[] }

const maxText = 500
const maxHeaders = 50

/** Never throws, whatever the record holds. */
export function sampleRecord(record: DeadLetterRecord, mappings: readonly TopicMapping[]): SampledRecord {
  const { family, context } = readFailure(record)
  const { topic, source } = resolveOriginalTopic(context, record.topic, mappings)
  return {
    ...{ partition: record.partition, offset: String(record.offset), timestamp: isoTime(record.timestamp) },
    ...{ key_bytes: record.key?.length ?? null, value_bytes: record.value?.length ?? null, family },
    ...{ original_topic: topic, original_topic_source: source, original_partition: context.originalPartition },
    original_offset: context.originalOffset === null ? null : String(context.originalOffset),
    consumer_group: shortened(context.consumerGroup),
    error_class: shortened(context.errorClass),
    error_message: shortened(context.errorMessage),
    header_names: [...new Set(record.headers.map(([name]) => shortened(name) ?? ''))].slice(0, maxHeaders),
  }
}

/** JSON in PostgreSQL holds neither NUL nor half a surrogate pair. */
function shortened(text: string | null): string | null {
  return text === null ? null : text.replaceAll('\0', '\u2400').slice(0, maxText).toWellFormed()
}

/** From 1970 to the year 9999, which is the last that ISO 8601 writes without a sign. */
function isoTime(milliseconds: bigint): string | null {
  if (milliseconds < 0n || milliseconds > 253_402_300_799_999n) return null
  return new Date(Number(milliseconds)).toISOString()
}
