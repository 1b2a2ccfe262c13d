// A dead letter of a record that we republished is a message that failed again: its row is reopened, not doubled. This
// ends retry loops: one row's budget is spent, however often the message fails again. A dead letter that only claims to
// be a message (judge-claim.ts) is a message of its own, and changes nothing of the one that it names.

import type { Route } from 'dlq-core/domain/failure/topic-routes.ts'
import type { DeadLetter, NewMessage } from 'dlq-core/domain/message/new-message.ts'
import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { type MessageEvent, nextState, type RetryState } from 'dlq-core/domain/retry/message-state.ts'
import {
  type ClaimedAttempt,
  countFailures,
  findAttempts,
  type LockedMessage,
  lockMessages,
  type ReopenedMessage,
  readArchived,
  recordFailedAgain,
  reopenMessages,
} from 'dlq-core/queries/ingest/message-reopen.ts'
import { findSiblings, type Sibling } from 'dlq-core/queries/ingest/siblings.ts'
import { giveOrderKeys } from 'dlq-core/queries/retry/order-keys.ts'
import { restoreArchived } from 'dlq-core/queries/upkeep/archive.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'
import type { RouteRegister, RouteTest } from '../registers/route-register.ts'
import { judgeClaim, type RepublishedLetter, type Verdict } from './judge-claim.ts'
import { hasFailed, reopenSiblings } from './reopen-siblings.ts'

export type ReopenDeps = {
  policyOf: PolicyOf
  routes: RouteRegister
  now: Date
  random: () => number
  /** What failed below this offset is sent only when somebody asks. */
  manualBelow: bigint | null
}
type Deciding = Omit<ReopenDeps, 'routes'> & { isOpen: RouteTest }

/**
 * Reopens the messages that failed again. `added` are rows to insert: letters of deleted messages, which say whose
 * successor they are, of other consumer groups, and letters that are not believed.
 */
export async function reopenRepublished(
  sql: Transaction,
  letters: readonly DeadLetter[],
  { routes, ...deps }: ReopenDeps,
): Promise<{ reopened: number; added: NewMessage[] }> {
  const claims = letters.filter((letter): letter is RepublishedLetter => letter.republished !== null)
  if (claims.length === 0) return { reopened: 0, added: [] }
  const { messages, archived, attempts, siblings } = await readClaimed(sql, claims)
  const named = (id: string) => messages.get(id) ?? archived.get(id)
  const isOpen = await routes.testOf(sql, routesOf(claims, [...messages.values(), ...archived.values()]))
  const deciding: Deciding = { ...deps, isOpen }

  const added: NewMessage[] = []
  const believed: Record<Exclude<Verdict, 'stranger'>, RepublishedLetter[]> = { 're-failure': [], sibling: [] }
  for (const letter of claims) {
    const { message, republished: claim } = letter
    const claimed = named(claim.messageId)
    if (claimed === undefined) {
      added.push({ ...message, successor_of: claim.messageId })
      continue
    }
    const { redirectTopic } = deps.policyOf(claimed)
    const attempt = attempts.get(`${claim.messageId} ${claim.attempt}`)
    const verdict = judgeClaim(message, claim, { message: claimed, attempt, redirectTopic, isOpen })
    if (verdict === 'stranger') {
      added.push({ ...message, related_to: claim.messageId })
      continue
    }
    const isCounted = () => (verdict === 'sibling' ? hasFailed(siblings, letter) : attempt?.has_failed === true)
    // Read again, after a reset of positions: what is archived stays there.
    if (!archived.has(claim.messageId) || !isCounted()) believed[verdict].push(letter)
  }
  const fetch = (ids: readonly string[]) => lockOrRestore(sql, messages, ids)
  await fetch([...believed['re-failure'], ...believed.sibling].map(({ republished }) => republished.messageId))
  const isThere = (letter: RepublishedLetter) => {
    const { messageId } = letter.republished
    // The archive may have been purged since it was read.
    if (!messages.has(messageId)) added.push({ ...letter.message, successor_of: messageId })
    return messages.has(messageId)
  }
  const reopened = await reopenAll(sql, believed['re-failure'].filter(isThere), { messages, deciding })
  const beside = await reopenSiblings(sql, believed.sibling.filter(isThere), { messages, fetch, isOpen })
  const reopenedBeside = await reopenBeside(sql, beside.failed, { messages, deciding })
  return { reopened: reopened + reopenedBeside, added: [...added, ...beside.added] }
}

type Claimed = {
  /** Locked; siblings of the named messages are among them. */
  messages: Map<string, LockedMessage>
  archived: ReadonlyMap<string, LockedMessage>
  attempts: ReadonlyMap<string, ClaimedAttempt>
  siblings: readonly Sibling[]
}

/** What the letters name, as far as it exists. Archived messages stay where they are. */
async function readClaimed(sql: Transaction, claims: readonly RepublishedLetter[]): Promise<Claimed> {
  const ids = [...new Set(claims.map(({ republished }) => republished.messageId))]
  // Locked together with them, because everybody locks messages in the order of their ids.
  const siblings = await findSiblings(sql, ids)
  const wanted = [...new Set([...ids, ...siblings.map(({ message_id }) => message_id)])]
  const messages = byId(await lockMessages(sql, wanted))
  const missing = wanted.filter((id) => !messages.has(id))
  const archived = byId(await readArchived(sql, missing))
  const attempts = await findAttempts(
    sql,
    claims.map(({ republished: { messageId, attempt } }) => ({ message_id: messageId, number: attempt })),
  )
  return {
    ...{ messages, archived, siblings },
    attempts: new Map(attempts.map((attempt) => [`${attempt.message_id} ${attempt.number}`, attempt])),
  }
}

/** Adds those of the messages that are not locked yet, after restoring archived ones. */
async function lockOrRestore(
  sql: Transaction,
  messages: Map<string, LockedMessage>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LockedMessage>> {
  const missing = [...new Set(ids)].filter((id) => !messages.has(id))
  if (missing.length === 0) return messages
  await restoreArchived(sql, missing)
  // Locks all missing ones, because another ingester may just have restored some of them.
  for (const message of await lockMessages(sql, missing)) messages.set(message.id, message)
  return messages
}

/** From the letters' DLQ topics to the messages' original topics, and of the messages themselves. */
function routesOf(claims: readonly RepublishedLetter[], messages: readonly LockedMessage[]): Route[] {
  const dlqTopics = [...new Set(claims.map(({ message }) => message.dlq_topic))]
  const originals = [...new Set(messages.map(({ original_topic }) => original_topic))]
  return [
    ...dlqTopics.flatMap((dlq_topic) => originals.map((original_topic) => ({ dlq_topic, original_topic }))),
    ...messages.flatMap(({ dlq_topic, original_topic }) => (dlq_topic === null ? [] : { dlq_topic, original_topic })),
  ]
}

type Reopening = { messages: Map<string, LockedMessage>; deciding: Deciding }

async function reopenAll(
  sql: Transaction,
  letters: readonly RepublishedLetter[],
  { messages, deciding }: Reopening,
): Promise<number> {
  let reopened = 0
  for (const round of roundsOf(letters, ({ republished }) => republished.messageId))
    reopened += await reopenRound(sql, round, { messages, deciding })
  return reopened
}

/** A message may have failed several times within one batch. Each round takes its next failure. */
function* roundsOf<Failure>(failures: readonly Failure[], idOf: (failure: Failure) => string) {
  for (let rest = failures; rest.length > 0; ) {
    const round = new Map<string, Failure>()
    rest = rest.filter((failure) => {
      const id = idOf(failure)
      const isLater = round.has(id)
      if (!isLater) round.set(id, failure)
      return isLater
    })
    yield round
  }
}

async function reopenRound(
  sql: Transaction,
  round: ReadonlyMap<string, RepublishedLetter>,
  { messages, deciding }: Reopening,
): Promise<number> {
  const isErased = (id: string) => messages.get(id)!.erased_at !== null
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
      error_class: isErased(id) ? null : message.error_class,
      error_message: isErased(id) ? null : message.error_message,
      error_changed: hasOtherError(message, messages.get(id)!),
      group_id: message.group_id,
    })),
  )
  const changed: ReopenedMessage[] = []
  const counted: string[] = []
  for (const id of news) {
    const { message, republished } = round.get(id)!
    const after = reopen(messages, { id, message, deciding }, { type: 'failed_again', attempt: republished.attempt })
    if (after === null) counted.push(id)
    else changed.push(after)
  }
  await writeReopened(sql, { changed, counted }, { messages, deciding })
  return changed.length
}

/** Reopens siblings that failed while another message's attempt was made. */
async function reopenBeside(
  sql: Transaction,
  failed: readonly { id: string; message: NewMessage }[],
  { messages, deciding }: Reopening,
): Promise<number> {
  let reopened = 0
  for (const round of roundsOf(failed, ({ id }) => id)) {
    const changed: ReopenedMessage[] = []
    const counted: string[] = []
    for (const [id, { message }] of round) {
      const after = reopen(messages, { id, message, deciding }, { type: 'failed_beside' })
      if (after === null) counted.push(id)
      else changed.push(after)
    }
    await writeReopened(sql, { changed, counted }, { messages, deciding })
    reopened += changed.length
  }
  return reopened
}

async function writeReopened(
  sql: Transaction,
  { changed, counted }: { changed: readonly ReopenedMessage[]; counted: readonly string[] },
  { messages, deciding: { policyOf } }: Reopening,
): Promise<void> {
  await reopenMessages(sql, changed)
  await countFailures(sql, counted)
  const isOrdered = ({ id }: ReopenedMessage) => policyOf(messages.get(id)!).ordering === 'per-key'
  const ordered = changed.filter(isOrdered).map(({ id }) => id)
  await giveOrderKeys(sql, ordered)
}

type Failing = { id: string; message: NewMessage; deciding: Deciding }

/** The message after its failure; null where its state does not change. */
function reopen(
  messages: Map<string, LockedMessage>,
  { id, message, deciding: { policyOf, isOpen, now, random, manualBelow } }: Failing,
  event: MessageEvent,
): ReopenedMessage | null {
  const before = messages.get(id)!
  const after = nextState(before, event, { policy: policyOf(before), now, random: random() })
  if (after === null || before.erased_at !== null) return null
  const { dlq_topic, original_topic } = before
  const isHeld = dlq_topic !== null && !isOpen({ dlq_topic, original_topic })
  const isManual = isHeld || (manualBelow !== null && message.dlq_offset < manualBelow)
  const state: RetryState = isManual ? { ...after, next_retry_at: null } : after
  const { error_class, error_message, error_stacktrace, group_id, consumer_group, is_scrubbed } = message
  messages.set(id, { ...before, ...state, error_class, error_message })
  const { status, retry_count, next_retry_at } = state
  const failure = { error_class, error_message, error_stacktrace, group_id, consumer_group, is_scrubbed }
  return { id, status, retry_count, next_retry_at, held_by_route: isHeld, ...failure }
}

/** Compares the classes where both are known: texts differ by ids and times even for the same error. */
function hasOtherError(now: NewMessage, before: LockedMessage): boolean {
  if (now.error_class !== null && before.error_class !== null) return now.error_class !== before.error_class
  return now.error_message !== before.error_message
}

function byId(messages: readonly LockedMessage[]): Map<string, LockedMessage> {
  return new Map(messages.map((message) => [message.id, message]))
}
