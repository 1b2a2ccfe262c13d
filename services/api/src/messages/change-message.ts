// One change of one message, with its audit entry, in one transaction. A second client finds another ETag, or a state
// that no longer allows the change.

import { type MessageEvent, nextState, type RetryState } from 'dlq-core/domain/retry/message-state.ts'
import { type AuditEntry, writeAudit } from 'dlq-core/queries/change/audit.ts'
import { type HeldMessage, holdMessage, tagOfArchived, writeState } from 'dlq-core/queries/change/message-change.ts'
import { releaseUnheldNow } from 'dlq-core/queries/retry/expired-leases.ts'
import { giveOrderKeys } from 'dlq-core/queries/retry/order-keys.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import { restoreArchived } from 'dlq-core/queries/upkeep/archive.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { requireTag } from '../answers/entity-tag.ts'
import { ApiError, notFound } from '../http/api-error.ts'
import type { ApiDeps, Call } from '../http/define-route.ts'
import { valueIsNotStored } from './why-not-retried.ts'

export type Asked = {
  id: string
  scope: TopicScope
  by: Call['by']
  /** The header's text. Undefined: the message may have any ETag. */
  ifMatch: string | undefined
  reason: string | null
}

/**
 * Locks the message, also an archived one. A RETRYING message that nobody holds is PENDING, or DEAD, from now on: else
 * nobody could change it before the retriers' sweep. @throws {ApiError} 404 where the scope hides it, 412 where its ETag is another, 409 where it was erased */
export async function holdAsSeen(
  sql: Sql,
  { id, scope, ifMatch, evenErased = false }: Pick<Asked, 'id' | 'scope' | 'ifMatch'> & { evenErased?: boolean },
): Promise<HeldMessage> {
  const message = (await holdMessage(sql, { id, scope })) ?? (await holdRestored(sql, { id, scope }))
  if (!message) throw notFound(id)
  requireTag(ifMatch, message.etag, 'the message')
  if (message.erased_at !== null && !evenErased)
    throw new ApiError('SYS_DLQ_CONFLICT', `message ${id} was erased: nothing of it is left to change or send`)
  return message.is_unheld ? { ...message, ...(await releaseUnheldNow(sql, id)), is_unheld: false } : message
}

/**
 * An archived message is restored first. If the change is refused, the rollback archives it again. Its ETag is that of the
 * archive, which clients have read.
 */
async function holdRestored(sql: Sql, of: Pick<Asked, 'id' | 'scope'>): Promise<HeldMessage | null> {
  // Only what the scope shows: else a message of others would be locked and moved for a request that finds nothing.
  const etag = await tagOfArchived(sql, of)
  if (etag === null) return null
  const restored = await restoreArchived(sql, [of.id])
  const message = await holdMessage(sql, of)
  // Somebody else may have restored it meanwhile, and changed it.
  return message && restored.length > 0 ? { ...message, etag } : message
}

/** Undoes a transaction that only looked. */
class Looked<Found> extends Error {
  readonly found: Found
  constructor(found: Found) {
    super('rolled back')
    this.found = found
  }
}

/** What `look` finds of the message as `holdAsSeen` gives it. Changes nothing, and locks nothing once it is done. */
export async function lookAt<Found>(
  sql: Database,
  asked: Parameters<typeof holdAsSeen>[1],
  look: (sql: Sql, message: HeldMessage) => Promise<Found>,
): Promise<Found> {
  try {
    return await sql.begin(async (sql) => {
      throw new Looked(await look(sql, await holdAsSeen(sql, asked)))
    })
  } catch (error) {
    if (error instanceof Looked) return error.found as Found
    throw error
  }
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
  const policy = policies.policyOf(message)
  const { status, retry_count, max_retries, next_retry_at } = message
  const before = { status, retry_count, max_retries, next_retry_at }
  const after = nextState(before, { type: event }, { policy, now, random: Math.random() })
  if (after === null) throw notPossible(event, message)
  const requested = event === 'retry_requested' || event === 'retry_forced'
  if (requested && message.unstored_value_bytes !== null)
    throw new ApiError('SYS_DLQ_CONFLICT', valueIsNotStored(message.unstored_value_bytes))
  const stored = { ...after, next_retry_at: await writeState(sql, { ...after, id: message.id, requested }) }
  // One that was RESOLVED or DEAD may wait again, and later messages of its key wait for it.
  if (after.status === 'PENDING' && policy.ordering === 'per-key') await giveOrderKeys(sql, [message.id])
  await auditMessage(sql, message, { action, asked, before: stateJson(before), after: stateJson(stored) })
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

function stateJson({ status, max_retries, next_retry_at }: RetryState) {
  return { status, max_retries, next_retry_at }
}

function notPossible(event: StateEvent, message: HeldMessage): ApiError {
  const { id, status, retry_count: retryCount, max_retries: maxRetries } = message
  if (event === 'retry_requested' || event === 'retry_forced') {
    // The wording is the specification's.
    return new ApiError(
      'SYS_DLQ_CONFLICT',
      `message is not retryable: status=${status}, retry_count=${retryCount}/${maxRetries}`,
    )
  }
  if (status === 'RETRYING') return beingRetried(id)
  const verb = event === 'revived' ? 'revived: only DEAD messages are' : 'marked DEAD: only PENDING messages are'
  return new ApiError('SYS_DLQ_CONFLICT', `message ${id} is ${status} and cannot be ${verb}`)
}

/** @throws {ApiError} 409 where it was sent */
export function requireEditable({ id, status }: Pick<HeldMessage, 'id' | 'status'>): void {
  if (status === 'RESOLVED')
    throw new ApiError('SYS_DLQ_CONFLICT', `message ${id} is RESOLVED: what was sent cannot be edited`)
}

export function beingRetried(id: string): ApiError {
  return new ApiError('SYS_DLQ_CONFLICT', `message ${id} is being retried; change it when that is settled`)
}
