// Dead letters that are messages of ours, failed again: their rows are reopened, not doubled. This is
// what ends retry loops: the budget is spent on one row, however often it comes back.

import type { MessageTopics } from 'dlq-core/effective-policy.ts'
import { nextState } from 'dlq-core/message.ts'
import { deriveAttemptId } from 'dlq-core/message-id.ts'
import type { DeadLetter, NewMessage } from 'dlq-core/new-message.ts'
import { restoreArchived } from 'dlq-core/queries/archive.ts'
import {
  countFailures,
  type LockedMessage,
  lockMessages,
  type ReopenedMessage,
  recordFailedAgain,
  reopenMessages,
} from 'dlq-core/queries/message-reopen.ts'
import type { RetryPolicy } from 'dlq-core/retry-policy.ts'
import type { Transaction } from 'dlq-core/runtime/database.ts'

type Republished = DeadLetter & { republished: NonNullable<DeadLetter['republished']> }
type Deciding = { policyFor: (topics: MessageTopics) => RetryPolicy; now: Date; random: () => number }

/**
 * Reopens the messages that the letters are re-failures of. `orphans` are those whose message is
 * deleted: rows to insert that say whose successors they are.
 */
export async function reopenRepublished(
  sql: Transaction,
  letters: readonly DeadLetter[],
  deciding: Deciding,
): Promise<{ reopened: number; orphans: NewMessage[] }> {
  const waiting = letters.filter((letter): letter is Republished => letter.republished !== null)
  if (waiting.length === 0) return { reopened: 0, orphans: [] }
  const messages = await lockOrRestore(sql, [...new Set(waiting.map(({ republished }) => republished.messageId))])

  const orphans: NewMessage[] = []
  let reopened = 0
  // A message may have failed several times within one batch. Each round takes its next failure.
  for (let rest: Republished[] = waiting; rest.length > 0; ) {
    const round = new Map<string, Republished>()
    const later: Republished[] = []
    for (const letter of rest) {
      const { messageId } = letter.republished
      if (!messages.has(messageId)) orphans.push({ ...letter.message, successor_of: messageId })
      else if (round.has(messageId)) later.push(letter)
      else round.set(messageId, letter)
    }
    reopened += await reopenRound(sql, round, messages, deciding)
    rest = later
  }
  return { reopened, orphans }
}

/** Locks the messages; archived ones come back from the archive. Deleted ones are missing from the result. */
async function lockOrRestore(sql: Transaction, ids: readonly string[]): Promise<Map<string, LockedMessage>> {
  const messages = new Map((await lockMessages(sql, ids)).map((message) => [message.id, message]))
  const missing = ids.filter((id) => !messages.has(id))
  if (missing.length === 0) return messages
  await restoreArchived(sql, missing)
  // Not only those restored here: another ingester may just have restored the same ones.
  for (const message of await lockMessages(sql, missing)) messages.set(message.id, message)
  return messages
}

async function reopenRound(
  sql: Transaction,
  round: ReadonlyMap<string, Republished>,
  messages: Map<string, LockedMessage>,
  { policyFor, now, random }: Deciding,
): Promise<number> {
  if (round.size === 0) return 0
  const news = await recordFailedAgain(
    sql,
    [...round].map(([id, { message, republished }]) => ({
      message_id: id,
      number: republished.attempt,
      attempt_id: deriveAttemptId(id, republished.attempt),
      cluster: message.dlq_cluster,
      topic: message.dlq_topic,
      partition: message.dlq_partition,
      offset: message.dlq_offset,
      error_class: message.error_class,
      error_message: message.error_message,
      error_changed: hasOtherError(message, messages.get(id)!),
    })),
  )
  const changed: ReopenedMessage[] = []
  const counted: string[] = []
  for (const id of news) {
    const { message, republished } = round.get(id)!
    const before = messages.get(id)!
    const after = nextState(
      before,
      { type: 'failed_again', attempt: republished.attempt },
      {
        policy: policyFor({ originalTopic: before.original_topic, dlqTopic: before.dlq_topic }),
        now,
        random: random(),
      },
    )
    if (after === null) {
      counted.push(id)
      continue
    }
    const { error_class, error_message, error_stacktrace, group_id, consumer_group } = message
    messages.set(id, { ...before, ...after, error_class, error_message })
    changed.push({
      id,
      status: after.status,
      retry_count: after.retryCount,
      next_retry_at: after.nextRetryAt,
      error_class,
      error_message,
      error_stacktrace,
      group_id,
      consumer_group,
    })
  }
  await reopenMessages(sql, changed)
  await countFailures(sql, counted)
  return changed.length
}

/** By class where both are known; messages differ by ids and times even for the same error. */
function hasOtherError(now: NewMessage, before: LockedMessage): boolean {
  if (now.error_class !== null && before.error_class !== null) return now.error_class !== before.error_class
  return now.error_message !== before.error_message
}
