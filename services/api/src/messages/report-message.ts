// A dead letter that an application reports by HTTP, because it has no DLQ topic to write to.

import { failureOf, storedFailure } from 'dlq-core/domain/failure/stored-failure.ts'
import { fingerprint } from 'dlq-core/domain/grouping/error-fingerprint.ts'
import { scrubFailure } from 'dlq-core/domain/masks/scrub-failure.ts'
import { maxEncodedBytes } from 'dlq-core/domain/payload/payload-bounds.ts'
import { encodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import { orderKey } from 'dlq-core/domain/record/order-key.ts'
import { projectPayload } from 'dlq-core/domain/record/payload-projection.ts'
import type { Header } from 'dlq-core/domain/record/record.ts'
import { nextRetryAt, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { admitGroups, touchGroups } from 'dlq-core/queries/groups/admit-groups.ts'
import type { ReportedMessage } from 'dlq-core/queries/ingest/message-report.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { decodeProjected } from 'dlq-core/runtime/schemas/decode-projected.ts'
import { type PayloadReader, readableValue } from 'dlq-core/runtime/schemas/payload-reader.ts'

/** The fields of a report; absent fields are unknown. */
export type Report = {
  original_topic: string
  error_message: string
  error_class?: string | undefined
  error_stacktrace?: string | undefined
  consumer_group?: string | undefined
  original_partition?: number | undefined
  original_offset?: bigint | undefined
  original_timestamp?: Date | undefined
  max_retries?: number | undefined
  /** Null: only when somebody asks. Undefined: as the policy says. */
  next_retry_at?: Date | null | undefined
  key: Buffer | null
  value: Buffer | null
  headers: readonly Header[]
}

/** The row for a report. `mayRetry`: whether automatic retries may send it to its topic. */
export function toReportedMessage(
  report: Report,
  { policy, mayRetry, now, random }: { policy: RetryPolicy; mayRetry: boolean; now: Date; random: number },
): ReportedMessage {
  const { key, value, headers, next_retry_at: wanted } = report
  const reported = {
    errorMessage: report.error_message,
    errorClass: report.error_class ?? null,
    errorStacktrace: report.error_stacktrace ?? null,
  }
  const { scrub } = policy
  const scrubbed =
    scrub.length === 0 ? null : scrubFailure({ context: reported, headers }, { names: scrub, family: null })
  const said = scrubbed?.context ?? reported
  const byPolicy = mayRetry ? nextRetryAt(policy, 0, now, random) : null
  return {
    original_topic: report.original_topic,
    original_topic_source: 'caller',
    ...storedFailure({
      errorMessage: said.errorMessage ?? report.error_message,
      errorClass: said.errorClass,
      errorStacktrace: said.errorStacktrace,
      consumerGroup: report.consumer_group ?? null,
    }),
    original_partition: report.original_partition ?? null,
    original_offset: report.original_offset ?? null,
    original_timestamp: report.original_timestamp ?? null,
    max_retries: report.max_retries ?? policy.maxRetries,
    next_retry_at: wanted === undefined ? byPolicy : wanted,
    payload: policy.payload === 'derived' ? null : projectPayload(value),
    record_key: key,
    record_value: value,
    record_headers: encodeHeaders(scrubbed?.headers ?? headers),
    group_id: null,
    order_key: policy.ordering === 'per-key' ? orderKey(key) : null,
    unstored_value_bytes: null,
    value_schema: null,
    decode_state: null,
    origin_state: null,
    is_scrubbed: scrubbed?.isScrubbed ? true : null,
  }
}

/** Decodes the value of a report where it is not plain JSON, as an ingester does. */
export async function decodeReport(
  message: ReportedMessage,
  { payloads, policy, sql }: { payloads: PayloadReader | null; policy: RetryPolicy; sql: Sql },
): Promise<void> {
  if (payloads === null || policy.payload === 'derived') return
  const { original_topic, payload, record_value } = message
  const value = readableValue(message, record_value, { original_topic, dlq_topic: null })
  const readable = { ...value, part: 'value' as const }
  const decoded = await decodeProjected(payloads, [{ readable, payload }], { maxBytes: maxEncodedBytes, sql })
  Object.assign(message, decoded.get(0))
}

/** The error group of a report. Its original topic counts it, as if that were a DLQ topic. */
export async function groupOfReport(sql: Sql, message: ReportedMessage): Promise<string> {
  const topic = message.original_topic
  const [id] = await admitGroups(sql, [{ topic, group: fingerprint(failureOf(message)) }])
  await touchGroups(sql, [{ topic, group_id: id! }])
  return id!
}
