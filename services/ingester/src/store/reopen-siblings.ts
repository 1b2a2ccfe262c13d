// Every consumer group reads what is republished for one of them. A group that fails on it gets a message of its own, a
// sibling, which is found again by its root and its group: so there are at most as many messages as groups.

import { withoutRetrySuffix } from 'dlq-core/domain/failure/topic-names.ts'
import type { NewMessage } from 'dlq-core/domain/message/new-message.ts'
import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import type { LockedMessage } from 'dlq-core/queries/ingest/message-reopen.ts'
import { findSiblings, type Sibling, saveSiblings } from 'dlq-core/queries/ingest/siblings.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { RouteTest } from '../registers/route-register.ts'
import { mayJoin, type RepublishedLetter } from './judge-claim.ts'

export type SiblingFailures = {
  /** Failures of siblings that are there already, in the order of the letters. */
  failed: { id: string; message: NewMessage }[]
  /** Rows to insert. */
  added: NewMessage[]
}

/**
 * Finds the sibling of each letter, or makes one. `fetch` locks messages that are not locked yet, and returns those that
 * exist. The messages that the letters name must be locked.
 */
export async function reopenSiblings(
  sql: Sql,
  letters: readonly RepublishedLetter[],
  {
    messages,
    fetch,
    isOpen,
  }: {
    messages: ReadonlyMap<string, LockedMessage>
    fetch: (ids: readonly string[]) => Promise<ReadonlyMap<string, LockedMessage>>
    isOpen: RouteTest
  },
): Promise<SiblingFailures> {
  const outcome: SiblingFailures = { failed: [], added: [] }
  if (letters.length === 0) return outcome
  const book = createBook(
    await findSiblings(sql, [...new Set(letters.map(({ republished }) => republished.messageId))]),
  )
  const failures = letters.map((letter) => {
    const root = book.rootOf(messages.get(letter.republished.messageId)!)
    return { message: letter.message, root, ...failureOf(letter) }
  })
  // Only those that have failed come back from the archive.
  const failed = failures.flatMap(({ root, group, attempt }) => {
    const known = book.find(root, group)
    return known && !known.failed_attempts.includes(attempt) ? [known.message_id] : []
  })
  const found = new Map(await fetch(failed))
  const made = new Set<string>()
  for (const { message, root, group, attempt } of failures) {
    const known = book.find(root, group)
    if (known?.failed_attempts.includes(attempt)) continue
    const sibling = known && found.get(known.message_id)
    if (sibling && !mayJoin(message, sibling, isOpen)) outcome.added.push({ ...message, related_to: root })
    else if (sibling) outcome.failed.push({ id: sibling.id, message })
    // A sibling that this batch makes is not stored yet, and so cannot be counted once more.
    else if (!known || !made.has(known.message_id)) {
      outcome.added.push({ ...message, related_to: root })
      made.add(message.id)
      book.note({ root_id: root, consumer_group: group, message_id: message.id, failed_attempts: [attempt] })
      continue
    }
    if (!sibling || mayJoin(message, sibling, isOpen))
      book.note({ ...known!, failed_attempts: [...known!.failed_attempts, attempt] })
  }
  await saveSiblings(sql, book.changed())
  return outcome
}

/** Whose failure it is, and on which attempt. */
function failureOf({ message, republished }: RepublishedLetter): { group: string; attempt: string } {
  return {
    group: withoutRetrySuffix(message.consumer_group!),
    attempt: deriveAttemptId(republished.messageId, republished.attempt),
  }
}

/** Whether one of the siblings has counted the failure. */
export function hasFailed(siblings: readonly Sibling[], letter: RepublishedLetter): boolean {
  const { group, attempt } = failureOf(letter)
  return siblings.some((sibling) => sibling.consumer_group === group && sibling.failed_attempts.includes(attempt))
}

/** The siblings as the letters find and change them. */
function createBook(siblings: readonly Sibling[]) {
  const byGroup = new Map(siblings.map((sibling) => [keyOf(sibling.root_id, sibling.consumer_group), sibling]))
  const roots = new Map(siblings.map(({ message_id, root_id }) => [message_id, root_id]))
  const changed = new Set<string>()
  const note = (sibling: Sibling) => {
    const key = keyOf(sibling.root_id, sibling.consumer_group)
    byGroup.set(key, sibling)
    changed.add(key)
  }
  return {
    note,
    find: (root: string, group: string) => byGroup.get(keyOf(root, group)),
    /** The root of the message's siblings; the message itself where it had none so far. */
    rootOf({ id, consumer_group }: LockedMessage): string {
      const root = roots.get(id)
      if (root !== undefined) return root
      roots.set(id, id)
      note({ root_id: id, consumer_group: withoutRetrySuffix(consumer_group!), message_id: id, failed_attempts: [] })
      return id
    },
    changed: () => [...changed].map((key) => byGroup.get(key)!),
  }
}

function keyOf(rootId: string, group: string): string {
  return `${rootId} ${group}`
}
