// Turns a record of a DLQ topic into a row of dlq_messages. A value that the table cannot hold (an invalid
// topic name, a partition beyond int32) becomes null here; the raw headers keep it.

import { unknownFailure } from '../failure/failure-context.ts'
import { type FramedHeaders, frameHeaders } from '../failure/framed-headers.ts'
import type { KnownTrace, KnownTraces } from '../failure/known-traces.ts'
import type { Failure, OurHeaders } from '../failure/read-failure.ts'
import { type FailureWithTrace, readWithTraces } from '../failure/read-with-traces.ts'
import { storedFailure } from '../failure/stored-failure.ts'
import { isFailureHeader } from '../failure/strip-failure-headers.ts'
import {
  type OriginalTopicSource,
  replayHazard,
  resolveOriginalTopic,
  type TopicMapping,
} from '../failure/topic-names.ts'
import { scrubFailure } from '../masks/scrub-failure.ts'
import type { Copy } from '../origin/compare-origin.ts'
import { mayBeLost, storedOrigin } from '../origin/origin-state.ts'
import { type JsonText, storedHeaders } from '../record/header-json.ts'
import { deriveMessageId } from '../record/message-id.ts'
import { orderKey } from '../record/order-key.ts'
import { projectPayload } from '../record/payload-projection.ts'
import type { DeadLetterRecord } from '../record/record.ts'
import type { RecordPlace } from '../record/record-place.ts'
import type { PolicyOf } from '../retry/effective-policy.ts'
import { nextRetryAt, type RetryPolicy } from '../retry/retry-policy.ts'

/** A row of dlq_messages that is not stored yet. Timestamps of records are of the years 1 to 9999. */
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
  original_timestamp: Date | null
  original_topic_source: OriginalTopicSource | null
  consumer_group: string | null
  record_key: Buffer | null
  record_value: Buffer | null
  /** Null for an erased one. Whole, unless `frames_id` names their template (framed-headers.ts). */
  record_headers: JsonText | null
  record_timestamp: Date | null
  record_timestamp_type: 'create' | 'append' | null
  /** Where the bytes come from: the dead letter, or the original record that it only names. */
  record_source: 'dlq' | 'origin'
  error_class: string | null
  /** Whole, unless `frames_id` is set: then without the frames that it names (stack-frames.ts). */
  error_stacktrace: string | null
  frames_id: string | null
  group_id: string | null
  next_retry_at: Date | null
  successor_of: string | null
  order_key: bigint | null
  /** The message that the dead letter claimed to be, or whose record it failed on, where it is a row of its own. */
  related_to: string | null
  /** Its DLQ topic has not been allowed to send to its original topic. */
  held_by_route: boolean
  /** The size of a value that is too large to be stored; `record_value` is then null. */
  unstored_value_bytes: bigint | null
  /** The row of dlq_schemas that its value was, or waits to be, decoded with. */
  value_schema: number | null
  /** See stored-decoding.ts. */
  decode_state: number | null
  /** See origin-state.ts. */
  origin_state: number | null
  /** Something was taken out of what the failure says, for good. */
  is_scrubbed: true | null
}

/** What a dead letter says about itself: that it is this attempt of this message. Whoever writes a DLQ topic may say so. */
export type Claim = { messageId: string; attempt: number; attemptId: string | null }

/** A dead letter and its new row, unless it is a re-failure of a message that we republished. */
export type DeadLetter = {
  message: NewMessage
  /** Set where the record that failed says that we published it, or stands where we published one. */
  republished: Claim | null
  /** The payload is to be stored later. */
  isPayloadDeferred: boolean
  /** Its original is to be compared with it before it is stored. */
  originWanted: OriginWanted | null
  /** Its `record_headers` as they are stored where their template is stored; null: only whole. */
  framedHeaders: FramedHeaders | null
  /** Its stack trace, where the frames in it are known. */
  trace: KnownTrace | null
}

/** The trace that was recognised, as long as the message has it: whoever empties or replaces it need not know. */
export function recognisedTrace({ message, trace }: Pick<DeadLetter, 'message' | 'trace'>): KnownTrace | null {
  return trace !== null && message.error_stacktrace === trace.whole ? trace : null
}

export type OriginWanted = {
  copy: Copy
  /** Null where the dead letter does not say for certain where it failed. */
  place: RecordPlace | null
  record: RetryPolicy['record']
  mayBeLost: boolean
  /** What was found where it should stand, without success; null where nobody has looked yet. */
  found: 'gone' | 'unreachable' | null
}

export type ReadingSettings = {
  policyOf: PolicyOf
  mappings: readonly TopicMapping[]
  /** Globs of the topics that are DLQ topics; nothing is republished to one. */
  dlqPatterns: readonly string[]
  /** The ingester is behind: payloads of policies that say `auto` are stored later. */
  isBehind?: boolean
  /** Absent: every stack trace is read whole. */
  traces?: KnownTraces
}

/**
 * Reads a record. Never throws, whatever the record holds.
 *
 * @param random in [0, 1), for the jitter of the first retry
 */
export function readDeadLetter(
  record: DeadLetterRecord,
  { policyOf, mappings, dlqPatterns, isBehind = false, traces }: ReadingSettings,
  now: Date,
  random: number,
): DeadLetter {
  const { context, ours, family, known } =
    record.undecodable === undefined ? readWithTraces(record, traces) : undecodableFailure(record.undecodable)
  const { topic, source } = resolveOriginalTopic(context, record.topic, mappings)
  const hazard = replayHazard(topic, { source, dlqPatterns, partition: context.originalPartition, family })
  const policy = policyOf({ original_topic: topic, dlq_topic: record.topic })
  // An application that claims by SQL reads the column.
  const mayDefer = policy.payload === 'auto' && policy.delivery !== 'pull'
  const isPayloadDeferred = isBehind && mayDefer && record.value !== null
  const said =
    policy.scrub.length === 0
      ? null
      : scrubFailure({ context, headers: record.headers }, { names: policy.scrub, family })
  const { errorMessage, errorClass, errorStacktrace, consumerGroup } = said?.context ?? context
  // What was scrubbed is another trace.
  const trace = said === null ? known : null
  const failure = storedFailure({
    errorClass,
    errorMessage: `${errorMessage ?? 'unknown error'}${missingBytes(record)}`,
    errorStacktrace: trace === null ? errorStacktrace : null,
    consumerGroup,
  })
  // A known one is storable as it is (known-traces.ts).
  const stacktrace = trace === null ? failure.error_stacktrace : trace.whole
  const takeHeaders = () =>
    storedHeaders(
      said?.headers ?? record.headers,
      stacktrace === null ? undefined : new Map([['error_stacktrace', stacktrace]]),
      // A retry removes these headers, so it never reads the column.
      isFailureHeader,
      trace && { value: trace.bytes, column: 'error_stacktrace' },
    )

  // One literal. Spreading objects into it takes ten times as long, and leaves several times the garbage.
  const message: NewMessage = {
    id: deriveMessageId(record),
    original_topic: topic,
    error_message: failure.error_message,
    max_retries: policy.maxRetries,
    payload: policy.payload === 'derived' || isPayloadDeferred ? null : projectPayload(record.value),
    dlq_cluster: record.cluster,
    dlq_topic: record.topic,
    dlq_partition: record.partition,
    dlq_offset: record.offset,
    original_partition: storedPartition(context.originalPartition),
    original_offset: storedOffset(context.originalOffset),
    original_timestamp: context.originalTimestamp === null ? null : toDate(context.originalTimestamp),
    original_topic_source: source,
    consumer_group: failure.consumer_group,
    record_key: record.key,
    record_value: record.value,
    // Written when it is needed: most rows have a template instead.
    record_headers: () => JSON.stringify(takeHeaders()),
    record_timestamp: record.timestamp === -1n ? null : toDate(record.timestamp),
    record_timestamp_type: record.timestampType ?? null,
    record_source: record.original === 'fetched' ? 'origin' : 'dlq',
    error_class: failure.error_class,
    error_stacktrace: stacktrace,
    frames_id: null,
    group_id: null,
    next_retry_at: hazard === null && hasBytes(record) ? nextRetryAt(policy, 0, now, random) : null,
    successor_of: null,
    order_key: policy.ordering === 'per-key' ? orderKey(record.key) : null,
    related_to: null,
    held_by_route: false,
    unstored_value_bytes: record.unstoredValueBytes === undefined ? null : BigInt(record.unstoredValueBytes),
    value_schema: null,
    decode_state: null,
    // The value is a whole batch as Kafka has it: that is sent only by force.
    origin_state: record.undecodable === undefined ? null : unread,
    is_scrubbed: said?.isScrubbed ? true : null,
  }
  const originWanted = wantedOrigin(record, message, { family, context, record: policy.record })
  const framedHeaders = frameHeaders(takeHeaders(), message)
  return { message, republished: claimOf(ours), isPayloadDeferred, originWanted, framedHeaders, trace }
}

const unread = storedOrigin({ state: 'unreachable', isHeld: true })

/** Null where nothing is to be compared, which is so for nearly all. */
function wantedOrigin(
  dead: DeadLetterRecord,
  message: NewMessage,
  { family, context, record }: Pick<Failure, 'family' | 'context'> & Pick<OriginWanted, 'record'>,
): OriginWanted | null {
  const isLost = mayBeLost(family, dead)
  if (record === 'dlq' && !isLost) return null
  if (!isWhole(dead) || dead.original === 'fetched') return null
  const { key, value, headers, original } = dead
  // What the DLQ topic may not have read is asked for again: it may be allowed by then.
  const found = original === 'not-allowed' ? 'unreachable' : (original ?? null)
  const timestamp = dead.timestamp === -1n ? null : dead.timestamp
  const copy = { key, value, headers, family, timestamp, originalTimestamp: context.originalTimestamp }
  return { copy, place: originPlace(message), record, mayBeLost: isLost, found }
}

/** Where the original stands; null where that is not certain. */
export function originPlace({
  original_topic: topic,
  original_topic_source: source,
  original_partition: partition,
  original_offset: offset,
}: Pick<NewMessage, 'original_topic' | 'original_partition' | 'original_offset'> & {
  original_topic_source: string | null
}): RecordPlace | null {
  if (source !== 'header' && source !== 'mapping') return null
  return partition === null || offset === null ? null : { topic, partition, offset }
}

/** What our own headers claim; null where they do not name an attempt. */
export function claimOf({ messageId, attempt, attemptId }: OurHeaders): Claim | null {
  return messageId !== null && attempt !== null ? { messageId, attempt, attemptId } : null
}

/** The error class of a batch that could not be decoded: the value is the batch as Kafka has it. */
export const undecodableClass = 'UndecodableBatch'

function undecodableFailure(reason: string): FailureWithTrace {
  return {
    known: null,
    family: null,
    families: [],
    ours: { messageId: null, attempt: null, attemptId: null },
    context: { ...unknownFailure, errorClass: undecodableClass, errorMessage: reason },
  }
}

/** Whether the bytes are known: bytes that could not be fetched or stored must not be republished as null. */
function hasBytes(record: DeadLetterRecord): boolean {
  return isWhole(record) && (record.original === undefined || record.original === 'fetched')
}

/** Whether the value is that of one record, and all of it. */
function isWhole({ undecodable, unstoredValueBytes }: DeadLetterRecord): boolean {
  return undecodable === undefined && unstoredValueBytes === undefined
}

function missingBytes({ original, undecodable, unstoredValueBytes }: DeadLetterRecord): string {
  if (unstoredValueBytes !== undefined && undecodable === undefined)
    return ` (its value of ${unstoredValueBytes} bytes is too large to be stored)`
  if (original === 'gone') return ' (key and value were not copied to the DLQ topic, and the original record is gone)'
  if (original === 'unreachable')
    return ' (key and value were not copied to the DLQ topic, and the original record could not be read)'
  if (original === 'not-allowed')
    return ' (key and value were not copied to the DLQ topic, which has not been allowed to speak for the original topic)'
  return ''
}

/** The reduced row: without the values that PostgreSQL may refuse. The record's bytes and headers stay. */
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

function storedPartition(partition: number | null): number | null {
  return partition !== null && partition >= 0 && partition <= maxInt32 ? partition : null
}

function storedOffset(offset: bigint | null): bigint | null {
  return offset !== null && offset >= 0n && offset <= maxInt64 ? offset : null
}

const yearOne = -62_135_596_800_000n
const endOfYear9999 = 253_402_300_799_999n

/** Of milliseconds since the epoch; null outside the years 1 to 9999. */
function toDate(milliseconds: bigint): Date | null {
  return milliseconds < yearOne || milliseconds > endOfYear9999 ? null : new Date(Number(milliseconds))
}
