// One change of one message, with its audit entry, in one transaction. Whoever comes second finds
// another ETag, or a state that allows the change no more.

import { type MessageEvent, nextState } from 'dlq-core/message.ts'
import { restoreArchived } from 'dlq-core/queries/archive.ts'
import { type AuditEntry, writeAudit } from 'dlq-core/queries/audit.ts'
import { type HeldMessage, holdMessage, writeState } from 'dlq-core/queries/message-change.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import { ApiError, notFound } from './api-error.ts'
import type { ApiDeps, Call } from './define-route.ts'

export type Asked = {
  id: string
  scope: TopicScope
  by: Call['by']
  /** As the header says it; undefined: whatever the message is now. */
  ifMatch: string | undefined
  reason: string | null
}

/** Locks the message, wherever it is. @throws {ApiError} 404 where it is not to be seen, 412 where it is not as the asker saw it */
export async function holdAsSeen(
  sql: Sql,
  { id, scope, ifMatch }: Pick<Asked, 'id' | 'scope' | 'ifMatch'>,
): Promise<HeldMessage> {
  let message = await holdMessage(sql, { id, scope })
  // What is archived comes back first. Where the change is refused, the transaction takes that back too.
  if (!message && (await restoreArchived(sql, [id])).length > 0) message = await holdMessage(sql, { id, scope })
  if (!message) throw notFound(id)
  if (ifMatch !== undefined && !matches(ifMatch, message.etag))
    throw new ApiError('SYS_DLQ_PRECONDITION_FAILED', 'the message has changed since it was read; read it again')
  return message
}

/** If-Match (RFC 9110, section 13.1.1): any, or one of a list of strong tags. */
function matches(ifMatch: string, etag: string): boolean {
  return ifMatch.trim() === '*' || ifMatch.split(',').some((tag) => tag.trim() === etag)
}

type StateEvent = Extract<MessageEvent['type'], 'retry_requested' | 'retry_forced' | 'marked_dead' | 'revived'>

/** Changes a held message's state. @throws {ApiError} 409 where the event cannot happen in its state */
export async function changeState(
  sql: Sql,
  message: HeldMessage,
  {
    event,
    action,
    asked,
    policies,
    now,
  }: { event: StateEvent; action: string; asked: Asked; policies: ApiDeps['policies']; now: Date },
): Promise<void> {
  const { policy } = policies.policyFor({ originalTopic: message.original_topic, dlqTopic: message.dlq_topic })
  const before = {
    status: message.status,
    retryCount: message.retryCount,
    maxRetries: message.maxRetries,
    nextRetryAt: message.nextRetryAt,
  }
  const after = nextState(before, { type: event }, { policy, now, random: Math.random() })
  if (after === null) throw notPossible(event, message)
  const requested = event === 'retry_requested' || event === 'retry_forced'
  await writeState(sql, { ...after, id: message.id, requested })
  await auditMessage(sql, message, { action, asked, before: stateJson(before), after: stateJson(after) })
}

export async function auditMessage(
  sql: Sql,
  { id, original_topic, dlq_topic }: Pick<HeldMessage, 'id' | 'original_topic' | 'dlq_topic'>,
  {
    action,
    asked: { by, reason },
    before = null,
    after = null,
  }: { action: string; asked: Pick<Asked, 'by' | 'reason'> } & Pick<AuditEntry, 'before' | 'after'>,
): Promise<void> {
  await writeAudit(sql, {
    ...by,
    action,
    target_type: 'message',
    target_id: id,
    original_topic,
    dlq_topic,
    reason,
    before,
    after,
  })
}

function stateJson({ status, maxRetries, nextRetryAt }: Pick<HeldMessage, 'status' | 'maxRetries' | 'nextRetryAt'>) {
  return { status, max_retries: maxRetries, next_retry_at: nextRetryAt }
}

function notPossible(event: StateEvent, message: HeldMessage): ApiError {
  const { id, status, retryCount, maxRetries } = message
  if (event === 'retry_requested' || event === 'retry_forced') {
    // The specification's words.
    return new ApiError(
      'SYS_DLQ_CONFLICT',
      `message is not retryable: status=${status}, retry_count=${retryCount}/${maxRetries}`,
    )
  }
  if (status === 'RETRYING') return beingRetried(id)
  const verb = event === 'revived' ? 'revived: only DEAD messages are' : 'marked DEAD: only PENDING messages are'
  return new ApiError('SYS_DLQ_CONFLICT', `message ${id} is ${status} and cannot be ${verb}`)
}

export function beingRetried(id: string): ApiError {
  return new ApiError('SYS_DLQ_CONFLICT', `message ${id} is being retried; change it when that is settled`)
}
