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
  const found = new Map(await fetch(book.messageIds()))
  const made = new Set<string>()
  for (const { message, republished } of letters) {
    const named = messages.get(republished.messageId)!
    const root = book.rootOf(named)
    const group = withoutRetrySuffix(message.consumer_group!)
    const known = book.find(root, group)
    const attempt = deriveAttemptId(republished.messageId, republished.attempt)
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
    messageIds: () => [...byGroup.values()].map(({ message_id }) => message_id),
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
