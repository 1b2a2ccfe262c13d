// Whether a dead letter that names a message of ours may speak for it. Whoever writes a DLQ topic chooses the headers
// and the coordinates, and frameworks carry headers into other topics: so the database must know the attempt, and the
// dead letter must come from where this message's failures come from.

import { areOtherGroups, isSameFlow, type Route } from 'dlq-core/domain/failure/topic-routes.ts'
import type { Claim, DeadLetter, NewMessage } from 'dlq-core/domain/message/new-message.ts'
import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import { targetOf } from 'dlq-core/domain/retry/fill-target.ts'
import type { LockedMessage } from 'dlq-core/queries/ingest/message-reopen.ts'

/** A dead letter that names a message of ours. */
export type RepublishedLetter = DeadLetter & { republished: Claim }

export type ClaimedMessage = Pick<
  LockedMessage,
  'status' | 'retry_count' | 'original_topic' | 'dlq_cluster' | 'dlq_topic' | 'consumer_group' | 'target_topic'
>

export type Evidence = {
  message: ClaimedMessage
  /** Undefined where the attempt is not recorded; its target topic is null where that is not known. */
  attempt: { target_topic: string | null } | undefined
  /** Where the message's policy sends it instead. */
  redirectTopic: string | null
  isOpen: (route: Route) => boolean
}

/**
 * `re-failure`: the message failed again. `sibling`: another consumer group failed on the message's record.
 * `stranger`: neither can be believed; the dead letter is a message of its own.
 */
export type Verdict = 're-failure' | 'sibling' | 'stranger'

export function judgeClaim(letter: NewMessage, claim: Claim, evidence: Evidence): Verdict {
  const { message, isOpen } = evidence
  if (!wasMade(claim, evidence) || !isFromTarget(letter, claim, evidence)) return 'stranger'
  const isOwn = isFromDlqTopicOf(letter, message)
  const isRouted = isOpen({ dlq_topic: letter.dlq_topic, original_topic: message.original_topic })
  if (!isOwn && !isRouted) return 'stranger'
  if (areOtherGroups(letter.consumer_group, message.consumer_group)) return 'sibling'
  // A message that was reported has no DLQ topic: the first one with a route that brings it back will do.
  if (isOwn || message.dlq_topic === null) return 're-failure'
  return letter.consumer_group !== null && message.consumer_group !== null ? 're-failure' : 'stranger'
}

/** Whether the dead letter may speak for a sibling, which has the same consumer group. */
export function mayJoin(letter: NewMessage, sibling: ClaimedMessage, isOpen: Evidence['isOpen']): boolean {
  const route = { dlq_topic: letter.dlq_topic, original_topic: sibling.original_topic }
  return isFromDlqTopicOf(letter, sibling) || isOpen(route)
}

function isFromDlqTopicOf({ dlq_cluster, dlq_topic }: NewMessage, message: ClaimedMessage): boolean {
  return dlq_topic === message.dlq_topic && dlq_cluster === message.dlq_cluster
}

/** Whether the attempt is recorded, or is the one under way. */
function wasMade({ messageId, attempt: number, attemptId }: Claim, { message, attempt }: Evidence): boolean {
  if (attemptId !== null && attemptId !== deriveAttemptId(messageId, number)) return false
  return attempt !== undefined || isUnderWay(number, message)
}

function isUnderWay(number: number, { status, retry_count }: ClaimedMessage): boolean {
  return status === 'RETRYING' && retry_count === number
}

/** Whether the record that failed stood where the attempt was sent, or in a retry topic of that. */
function isFromTarget(
  { original_topic: origin, original_topic_source: source }: NewMessage,
  claim: Claim,
  { message, attempt, redirectTopic }: Evidence,
): boolean {
  // Only a header says where this record failed.
  if (source !== 'header') return true
  const recorded = attempt?.target_topic ?? null
  const planned = [targetOf(message, { redirectTopic })]
  if (message.target_topic === null) planned.push(message.original_topic)
  const targets = recorded === null || isUnderWay(claim.attempt, message) ? [recorded, ...planned] : [recorded]
  return targets.some((target) => target !== null && isSameFlow(origin, target))
}
