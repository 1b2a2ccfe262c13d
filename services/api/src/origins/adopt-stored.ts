// Puts the original that was found in the place of the copy, because somebody asks for it.

import { readFailure } from 'dlq-core/domain/failure/read-failure.ts'
import { replayHazard } from 'dlq-core/domain/failure/topic-names.ts'
import { storedOrigin } from 'dlq-core/domain/origin/origin-state.ts'
import { readHeaders } from 'dlq-core/domain/record/header-json.ts'
import { nextRetryAt } from 'dlq-core/domain/retry/retry-policy.ts'
import { type HeldMessage, readContent } from 'dlq-core/queries/change/message-change.ts'
import { findOrigin, writeOriginState } from 'dlq-core/queries/origin/origins.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { adoptOrigin } from 'dlq-core/runtime/fetching/origin-rows.ts'
import { ApiError } from '../http/api-error.ts'
import type { ApiDeps } from '../http/define-route.ts'
import { type Asked, auditMessage, requireEditable } from '../messages/change-message.ts'

/**
 * The message is locked. It is retried by its policy again where it waited for its original.
 * @throws {ApiError} 409 where there is no original to adopt, or where it is not proved and nobody forces it
 */
export async function adoptStored(
  sql: Sql,
  message: HeldMessage,
  {
    asked,
    force,
    now,
    policies,
    payloads,
  }: { asked: Asked; force: boolean } & Pick<ApiDeps, 'now' | 'policies' | 'payloads'>,
): Promise<void> {
  const { id } = message
  requireEditable(message)
  const origin = await findOrigin(sql, id)
  if (origin === null)
    throw new ApiError('SYS_DLQ_CONFLICT', `message ${id} has not been compared: POST …/origin first`)
  if (origin.record_headers === null)
    throw new ApiError('SYS_DLQ_CONFLICT', `the original of message ${id} is ${origin.state} and cannot be adopted`)
  if (origin.state === 'unproved' && !(force && asked.reason?.trim()))
    throw new ApiError(
      'SYS_DLQ_CONFLICT',
      `nothing proves that this is the record that failed as message ${id}: adopt it with force and a reason`,
    )
  const content = await readContent(sql, id)
  const headers = readHeaders(content.record_headers ?? '[]', { error_stacktrace: content.error_stacktrace }) ?? []
  const { family } = readFailure({
    ...{ topic: message.dlq_topic ?? '', timestamp: -1n, headers, value: content.record_value },
  })
  const policy = policies.policyOf(message)
  const hazard = replayHazard(message.original_topic, { source: 'header', partition: null, dlqPatterns: [], family })
  const nextAt = hazard === null ? nextRetryAt(policy, 0, now(), Math.random()) : null
  const stored = storedOrigin({ state: 'same', isHeld: false })
  await writeOriginState(sql, { id, stored, nextRetryAt: nextAt })
  const fields = await adoptOrigin(
    sql,
    {
      // The edit is the system's: the bytes are Kafka's, and nobody's. The audit says who wanted them.
      ...{ id, actor: 'system', request_id: asked.by.request_id, reason: asked.reason ?? 'record: origin' },
      ...{ origin, family },
    },
    { policy, project: payloads?.projectFor(message) },
  )
  const after = { record: 'origin', state: origin.state, fields }
  await auditMessage(sql, message, { action: 'message.adopt_origin', asked, after })
}
