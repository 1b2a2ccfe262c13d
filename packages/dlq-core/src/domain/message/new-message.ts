// From a record of a DLQ topic to a row of dlq_messages. What the table could not hold (a topic name
// that is none, a partition beyond int32) becomes null here; the raw headers keep it.

import type { MessageTopics } from './effective-policy.ts'
import { type FailureContext, unknownFailure } from './failure-context.ts'
import { encodeHeaders } from './header-json.ts'
import { deriveMessageId } from './message-id.ts'
import { orderKey } from './order-key.ts'
import { projectPayload } from './payload-projection.ts'
import { type Failure, readFailure } from './read-failure.ts'
import type { DeadLetterRecord } from './record.ts'
import { nextRetryAt, type RetryPolicy } from './retry-policy.ts'
import { isFailureHeader } from './strip-failure-headers.ts'
import { textForPostgres } from './text-for-postgres.ts'
import { type OriginalTopicSource, replayHazard, resolveOriginalTopic, type TopicMapping } from './topic-names.ts'

/** A row of dlq_messages that is not stored yet. Timestamps of records are ISO 8601 text. */
export type NewMessage = {
  id: string
  original_topic: string
  error_message: string
  max_retries: number
  /** JSON text that jsonb can hold. */
  payload: string | null
  dlq_cluster: string
  dlq_topic: string
  dlq_partition: number
  dlq_offset: bigint
  original_partition: number | null
  original_offset: bigint | null
  original_timestamp: string | null
  original_topic_source: OriginalTopicSource | null
  consumer_group: string | null
  record_key: Buffer | null
  record_value: Buffer | null
  record_headers: string
  record_timestamp: string | null
  record_timestamp_type: 'create' | 'append' | null
  /** Where the bytes come from: the dead letter, or the record that it only points to. */
  record_source: 'dlq' | 'origin'
  error_class: string | null
  error_stacktrace: string | null
  group_id: string | null
  next_retry_at: Date | null
  successor_of: string | null
  order_key: bigint | null
}

/** A dead letter, read: the row it becomes, unless it is a message of ours that failed again. */
export type DeadLetter = {
  message: NewMessage
  /** Set where we published the record that failed. */
  republished: { messageId: string; attempt: number } | null
}

export type ReadingSettings = {
  /** What goes for the dead letters of these topics. */
  policyFor: (topics: MessageTopics) => RetryPolicy
  mappings: readonly TopicMapping[]
  /** Globs of the topics that are DLQ topics; nothing is republished to one. */
  dlqPatterns: readonly string[]
}

const maxErrorMessageBytes = 64 * 1024
const maxStacktraceBytes = 1024 * 1024
const maxNameBytes = 512

/**
 * Reads a record. Never throws, whatever the record holds.
 *
 * @param random in [0, 1), for the jitter of the first retry
 */
export function readDeadLetter(
  record: DeadLetterRecord,
  { policyFor, mappings, dlqPatterns }: ReadingSettings,
  now: Date,
  random: number,
): DeadLetter {
  const { context, ours, family } =
    record.undecodable === undefined ? readFailure(record) : undecodableFailure(record.undecodable)
  const { topic, source } = resolveOriginalTopic(context, record.topic, mappings)
  const hazard = replayHazard(topic, { source, dlqPatterns, partition: context.originalPartition, family })
  const policy = policyFor({ originalTopic: topic, dlqTopic: record.topic })
  const stacktrace =
    context.errorStacktrace === null ? null : textForPostgres(context.errorStacktrace, maxStacktraceBytes)

  const message: NewMessage = {
    id: deriveMessageId(record),
    original_topic: topic,
    error_message: textForPostgres(
      `${context.errorMessage ?? 'unknown error'}${missingBytes(record)}`,
      maxErrorMessageBytes,
    ),
    max_retries: policy.maxRetries,
    payload: policy.payload === 'derived' ? null : projectPayload(record.value),
    dlq_cluster: record.cluster,
    dlq_topic: record.topic,
    dlq_partition: record.partition,
    dlq_offset: record.offset,
    ...originalCoordinates(context),
    original_topic_source: source,
    consumer_group: shortText(context.consumerGroup),
    record_key: record.key,
    record_value: record.value,
    record_headers: encodeHeaders(
      record.headers,
      stacktrace === null ? undefined : new Map([['error_stacktrace', stacktrace]]),
      // So a retry, which takes these off, never has to read the column.
      isFailureHeader,
    ),
    record_timestamp: record.timestamp === -1n ? null : toTimestamp(record.timestamp),
    record_timestamp_type: record.timestampType ?? null,
    record_source: record.original === 'fetched' ? 'origin' : 'dlq',
    error_class: shortText(context.errorClass),
    error_stacktrace: stacktrace,
    group_id: null,
    next_retry_at: hazard === null && hasBytes(record) ? nextRetryAt(policy, 0, now, random) : null,
    successor_of: null,
    order_key: policy.ordering === 'per-key' ? orderKey(record.key) : null,
  }
  const republished =
    ours.messageId !== null && ours.attempt !== null ? { messageId: ours.messageId, attempt: ours.attempt } : null
  return { message, republished }
}

function undecodableFailure(reason: string): Failure {
  return {
    family: null,
    families: [],
    ours: { messageId: null, attempt: null, attemptId: null },
    context: { ...unknownFailure, errorClass: 'UndecodableBatch', errorMessage: reason },
  }
}

/** Whether there is anything to republish: bytes that were not copied and could not be fetched must not go out as null. */
function hasBytes({ original, undecodable }: DeadLetterRecord): boolean {
  return undecodable === undefined && original !== 'gone' && original !== 'unreachable'
}

function missingBytes({ original }: DeadLetterRecord): string {
  if (original === 'gone') return ' (key and value were not copied to the DLQ topic, and the original record is gone)'
  if (original === 'unreachable')
    return ' (key and value were not copied to the DLQ topic, and the original record could not be read)'
  return ''
}

/** The same row without what PostgreSQL may refuse. The record's bytes and headers stay. */
export function reduceMessage(message: NewMessage, reason: string): NewMessage {
  return {
    ...message,
    error_message: `stored without payload, timestamps and error details, which PostgreSQL refused: ${reason}`,
    payload: null,
    original_timestamp: null,
    record_timestamp: null,
    consumer_group: null,
    error_class: null,
    next_retry_at: null,
  }
}

const maxInt32 = 2 ** 31 - 1
const maxInt64 = 2n ** 63n - 1n

function originalCoordinates({ originalPartition, originalOffset, originalTimestamp }: FailureContext) {
  return {
    original_partition:
      originalPartition !== null && originalPartition >= 0 && originalPartition <= maxInt32 ? originalPartition : null,
    original_offset:
      originalOffset !== null && originalOffset >= 0n && originalOffset <= maxInt64 ? originalOffset : null,
    original_timestamp: originalTimestamp === null ? null : toTimestamp(originalTimestamp),
  }
}

const yearOne = -62_135_596_800_000n
const endOfYear9999 = 253_402_300_799_999n

/** Milliseconds since the epoch as ISO 8601; null outside the years 1 to 9999. */
function toTimestamp(milliseconds: bigint): string | null {
  if (milliseconds < yearOne || milliseconds > endOfYear9999) return null
  return new Date(Number(milliseconds)).toISOString()
}

function shortText(text: string | null): string | null {
  return text === null ? null : textForPostgres(text, maxNameBytes)
}
