// Everything stored about one message, as JSON: the specification's fields first, then the others.

import { notAllowed } from 'dlq-core/domain/failure/topic-routes.ts'
import { originStateOf, originStates } from 'dlq-core/domain/origin/origin-state.ts'
import { parseExact } from 'dlq-core/domain/record/exact-json.ts'
import { readHeaders } from 'dlq-core/domain/record/header-json.ts'
import type { EffectivePolicy } from 'dlq-core/domain/retry/effective-policy.ts'
import { targetOf } from 'dlq-core/domain/retry/fill-target.ts'
import type { MessageDetail } from 'dlq-core/queries/reading/message-detail.ts'
import type { Attempt } from 'dlq-core/queries/retry/attempts.ts'
import type { KnownStaleness } from 'dlq-core/queries/staleness/answers.ts'
import type { NewerDeadLetter } from 'dlq-core/queries/staleness/newer-dead-letters.ts'
import * as v from 'valibot'
import { effectivePolicyJson, effectivePolicySchema, exampleEffectivePolicy } from '../fleet/policy-json.ts'
import { hiddenEntries, type Shown } from '../masks/shown.ts'
import { type DecodingJson, decodingSchema } from '../payloads/decoding-json.ts'
import { attemptJson, attemptSchema, exampleAttempt } from './attempt-json.ts'
import { count, exampleMessage, messageEntries, messageJson } from './message-json.ts'
import { readable, readableHeaders } from './readable-record.ts'
import { stalenessJson, stalenessSchema, staleWords, unguarded } from './staleness-json.ts'
import { timestamp, timestampText } from './timestamp.ts'
import { heldUpBy, whyNotRetryable } from './why-not-retried.ts'

const text = v.nullable(v.string())
const time = v.nullable(timestampText)
const encoding = v.pipe(
  v.picklist(['text', 'number', 'base64']),
  v.description('How the value is written here; the bytes themselves are not changed.'),
)

export const detailSchema = v.pipe(
  v.strictObject({
    ...messageEntries,
    ...hiddenEntries,
    retryable: v.boolean(),
    not_retryable_because: text,
    held_up_by: v.array(v.string()),
    next_retry_at: time,
    dlq: v.nullable(v.strictObject({ cluster: text, topic: v.string(), partition: v.nullable(count), offset: text })),
    original: v.strictObject({
      topic: v.string(),
      topic_source: v.nullable(v.picklist(['header', 'mapping', 'guessed', 'caller'])),
      partition: v.nullable(count),
      offset: text,
      timestamp: time,
    }),
    target_topic: v.pipe(text, v.description('The topic to which the edited message is sent instead.')),
    consumer_group: text,
    error_class: text,
    error_stacktrace: text,
    group_id: text,
    key: v.nullable(v.strictObject({ value: text, encoding })),
    headers: v.pipe(
      v.nullable(
        v.array(
          v.strictObject({
            ...{ name: v.string(), value: text, encoding },
            base64: v.exactOptional(v.pipe(v.string(), v.description('The bytes of a number, to write them again.'))),
          }),
        ),
      ),
      v.description(
        'In the order of the record. Null for a message without a record, and where SQL has written what are no headers.',
      ),
    ),
    value_bytes: v.nullable(count),
    record_timestamp: time,
    record_timestamp_type: v.nullable(v.picklist(['create', 'append'])),
    record_source: v.picklist(['dlq', 'origin']),
    origin_state: v.pipe(
      v.nullable(v.picklist(originStates)),
      v.description(
        'How the copy on the DLQ topic compares with the record that failed, where somebody has compared. value_lost: the copy has no value, and the original has one. wanted: it could not be read, and is looked for again.',
      ),
    ),
    is_scrubbed: v.pipe(
      v.boolean(),
      v.description(
        'The policy’s `scrub` took something out of the error message, the stack trace or the failure’s headers before they were stored. It is not kept anywhere here.',
      ),
    ),
    failure_count: count,
    first_failed_at: v.pipe(timestampText, v.description('When its dead letter was written.')),
    last_failed_at: v.pipe(timestampText, v.description('The same, until it fails again; then when that was stored.')),
    run_id: text,
    successor_of: text,
    related_to: v.pipe(
      text,
      v.description(
        'The message whose record failed here, or which the dead letter claimed to be without being believed.',
      ),
    ),
    edits: v.pipe(count, v.description('The number of edits.')),
    archived_at: time,
    erased_at: v.pipe(
      time,
      v.description('Since when its contents are erased; then nothing of it can be sent or changed.'),
    ),
    staleness: stalenessSchema,
    attempts: v.array(attemptSchema),
    policy: effectivePolicySchema,
    decoding: decodingSchema,
    decoded_key: v.pipe(
      v.unknown(),
      v.description('The record key as JSON, where it was decoded with a schema. Otherwise null.'),
    ),
  }),
  v.title('MessageDetail'),
)

export const exampleDetail = {
  ...exampleMessage,
  retryable: true,
  not_retryable_because: null,
  held_up_by: [],
  next_retry_at: '2026-02-20T10:35:00.000+00:00',
  dlq: { cluster: 'bqzHLZgsR8ahKlMZHYcfLg', topic: 'orders.dlq.v1', partition: 0, offset: '4711' },
  original: {
    topic: 'orders.events.v1',
    topic_source: 'header',
    partition: 3,
    offset: '90210',
    timestamp: '2026-02-20T10:29:58.000+00:00',
  },
  target_topic: null,
  consumer_group: 'billing',
  error_class: 'com.example.OutOfStockException',
  error_stacktrace:
    'com.example.OutOfStockException: processing failed\n\tat com.example.Billing.take(Billing.java:17)',
  group_id: '1c9e5a3c-6d7e-8f00-a1b2-c3d4e5f60718',
  key: { value: 'customer-7', encoding: 'text' },
  headers: [{ name: 'kafka_dlt-original-offset', value: '90210', encoding: 'number', base64: 'AAAAAAABYGI=' }],
  value_bytes: 18,
  record_timestamp: '2026-02-20T10:30:00.000+00:00',
  record_timestamp_type: 'create',
  record_source: 'dlq',
  origin_state: null,
  is_scrubbed: false,
  failure_count: 1,
  first_failed_at: '2026-02-20T10:30:00.000+00:00',
  last_failed_at: '2026-02-20T10:30:00.000+00:00',
  run_id: null,
  successor_of: null,
  related_to: null,
  edits: 0,
  archived_at: null,
  erased_at: null,
  staleness: stalenessJson([], { status: 'PENDING', consumer_group: null }, unguarded),
  attempts: [exampleAttempt],
  policy: exampleEffectivePolicy,
  decoding: null,
  decoded_key: null,
}

/** `shown`: what is shown in place of the stored payload, where the value was read anew. `key` is JSON text. */
export type DecodedMessage = {
  shown: { payload: string | null; unprojected_value: null } | null
  key: string | null
  decoding: DecodingJson
}

/** `decoded_key` is JSON text. */
export type DecodedDetail = MessageDetail & { decoded_key: string | null; decoding: DecodingJson }

export function withDecoded(message: MessageDetail, { shown, key, decoding }: DecodedMessage): DecodedDetail {
  return { ...message, ...shown, decoded_key: key, decoding }
}

export function detailJson(
  message: Shown<DecodedDetail>,
  {
    attempts,
    policy,
    newer,
    staleness,
  }: {
    attempts: readonly Shown<Attempt>[]
    policy: EffectivePolicy
    newer: readonly NewerDeadLetter[]
    staleness: KnownStaleness | null
  },
): string {
  const m = message
  const target = targetOf(m, policy.policy)
  const headers = m.record_headers && readHeaders(m.record_headers, { error_stacktrace: m.error_stacktrace })
  const facts = {
    status: m.status,
    retryCount: m.retry_count,
    maxRetries: m.max_retries,
    nextRetryAt: m.next_retry_at,
    retryRequested: m.retry_requested,
    archived: m.archived_at !== null,
    groupPaused: m.group_paused,
    topicsPaused: m.paused_topics,
    routeClosed:
      m.held_by_route && m.dlq_topic !== null
        ? notAllowed({ dlq_topic: m.dlq_topic, original_topic: m.original_topic })
        : null,
    unstoredValueBytes: m.unstored_value_bytes,
    headersUnreadable: m.record_headers !== null && headers === null,
    origin: originStateOf(m.origin_state),
    stale: target === m.original_topic ? staleWords({ policy: policy.policy.staleness, known: staleness }) : null,
    unheld: m.is_unheld,
    topicUncertain: m.dlq_topic !== null && (m.original_topic_source ?? 'guessed') === 'guessed',
    lastRefusal:
      attempts.find(({ number, outcome }) => number === m.retry_count && outcome === 'failed')?.error ?? null,
    topicHeld: m.held_topics.find(({ topic }) => topic === target) ?? null,
  }
  const notRetryable = whyNotRetryable(facts)
  const time = (date: Date | null) => date && timestamp(date)
  const offset = (offset: bigint | null) => (offset === null ? null : String(offset))
  return messageJson(m, {
    retryable: notRetryable === null,
    not_retryable_because: notRetryable,
    held_up_by: heldUpBy(facts, policy.policy),
    next_retry_at: time(m.next_retry_at),
    dlq: m.dlq_topic && {
      cluster: m.dlq_cluster,
      topic: m.dlq_topic,
      partition: m.dlq_partition,
      offset: offset(m.dlq_offset),
    },
    original: {
      topic: m.original_topic,
      topic_source: m.original_topic_source,
      partition: m.original_partition,
      offset: offset(m.original_offset),
      timestamp: time(m.original_timestamp),
    },
    target_topic: m.target_topic,
    consumer_group: m.consumer_group,
    error_class: m.error_class,
    error_stacktrace: m.error_stacktrace,
    group_id: m.group_id,
    key: m.record_key && readable(m.record_key),
    headers: headers && readableHeaders(headers),
    value_bytes: m.value_bytes,
    record_timestamp: time(m.record_timestamp),
    record_timestamp_type: m.record_timestamp_type,
    record_source: m.record_source,
    origin_state: facts.origin?.state ?? null,
    is_scrubbed: m.is_scrubbed ?? false,
    failure_count: m.failure_count,
    first_failed_at: timestamp(m.first_failed_at),
    last_failed_at: timestamp(m.last_failed_at),
    run_id: m.run_id,
    successor_of: m.successor_of,
    related_to: m.related_to,
    edits: m.edits,
    archived_at: time(m.archived_at),
    erased_at: time(m.erased_at),
    staleness: stalenessJson(newer, m, { policy: policy.policy.staleness, known: staleness }),
    attempts: attempts.map(attemptJson),
    policy: effectivePolicyJson(policy),
    decoding: m.decoding,
    // Its numbers keep their digits when they are written.
    decoded_key: m.decoded_key === null ? null : parseExact(m.decoded_key),
  })
}
