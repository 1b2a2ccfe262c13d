// A dead letter that a program reports by HTTP, because it has no DLQ topic to write to.

import { createHash } from 'node:crypto'
import { fingerprint, overflowGroup } from 'dlq-core/error-fingerprint.ts'
import { encodeHeaders } from 'dlq-core/header-json.ts'
import { orderKey } from 'dlq-core/order-key.ts'
import { projectPayload } from 'dlq-core/payload-projection.ts'
import { admitGroups, createGroups, touchGroups } from 'dlq-core/queries/groups.ts'
import {
  claimIdempotencyKey,
  insertReport,
  noteIdempotentMessage,
  type ReportedMessage,
} from 'dlq-core/queries/message-report.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { Header } from 'dlq-core/record.ts'
import { nextRetryAt, type RetryPolicy } from 'dlq-core/retry-policy.ts'
import { textForPostgres } from 'dlq-core/text-for-postgres.ts'
import { ApiError } from './api-error.ts'

/** What a report says; absent is not known. */
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
  /** Null: only when somebody asks; undefined: as the policy says. */
  next_retry_at?: Date | null | undefined
  key: Buffer | null
  value: Buffer | null
  headers: readonly Header[]
}

// As the ingester cuts them.
const maxErrorMessageBytes = 64 * 1024
const maxStacktraceBytes = 1024 * 1024
const maxNameBytes = 512
const maxGroupsPerTopic = 1000
const touchEveryMs = 30_000

/** The row that a report becomes. `mayRetry`: nothing speaks against sending it to its topic by itself. */
export function toReportedMessage(
  report: Report,
  { policy, mayRetry, now, random }: { policy: RetryPolicy; mayRetry: boolean; now: Date; random: number },
): ReportedMessage {
  const { key, value, headers, next_retry_at: wanted } = report
  const short = (text: string | undefined) => (text === undefined ? null : textForPostgres(text, maxNameBytes))
  const stacktrace = report.error_stacktrace
  const byPolicy = mayRetry ? nextRetryAt(policy, 0, now, random) : null
  return {
    original_topic: report.original_topic,
    original_topic_source: 'caller',
    error_message: textForPostgres(report.error_message, maxErrorMessageBytes),
    error_class: short(report.error_class),
    error_stacktrace: stacktrace === undefined ? null : textForPostgres(stacktrace, maxStacktraceBytes),
    consumer_group: short(report.consumer_group),
    original_partition: report.original_partition ?? null,
    original_offset: report.original_offset ?? null,
    original_timestamp: report.original_timestamp?.toISOString() ?? null,
    max_retries: report.max_retries ?? policy.maxRetries,
    next_retry_at: wanted === undefined ? byPolicy : wanted,
    payload: policy.payload === 'derived' ? null : projectPayload(value),
    record_key: key,
    record_value: value,
    record_headers: encodeHeaders(headers),
    group_id: null,
    order_key: policy.ordering === 'per-key' ? orderKey(key) : null,
  }
}

/** The error group of a report. The bound on groups goes by its topic, as if that were a DLQ topic. */
export async function groupOfReport(sql: Sql, message: ReportedMessage): Promise<string> {
  const { error_class: errorClass, error_message: errorMessage, error_stacktrace: errorStacktrace } = message
  const group = fingerprint({ errorClass, errorMessage, errorStacktrace })
  await createGroups(sql, [overflowGroup, group])
  const groups = [{ dlq_topic: message.original_topic, group_id: group.id }]
  const [admitted] = await admitGroups(sql, { groups, maxPerTopic: maxGroupsPerTopic })
  const id = admitted?.group_id ?? overflowGroup.id
  await touchGroups(sql, { ids: [id], everyMs: touchEveryMs })
  return id
}

/**
 * Makes the message, once per key. Returns its id, and whether it was there already.
 *
 * @throws {ApiError} 409 where the key was used for another request
 */
export async function storeOnce(
  sql: Sql,
  message: ReportedMessage,
  { actor, key, request }: { actor: string; key: string | undefined; request: string },
): Promise<{ id: string; replayed: boolean }> {
  if (key === undefined) return { id: await insertReport(sql, message), replayed: false }
  const hash = createHash('sha256').update(request).digest()
  const before = await claimIdempotencyKey(sql, { actor, key, request: hash })
  if (before !== null) {
    if (before.request.equals(hash)) return { id: before.message_id, replayed: true }
    throw new ApiError('SYS_DLQ_CONFLICT', 'the Idempotency-Key was used for another request')
  }
  const id = await insertReport(sql, message)
  await noteIdempotentMessage(sql, { actor, key, messageId: id })
  return { id, replayed: false }
}
