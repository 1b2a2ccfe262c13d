// dlq_messages_archive and dlq_attempts_archive: moves messages there and back. message-search.ts reads them.

import { storedOrigin } from '../../domain/origin/origin-state.ts'
import { smallestId } from '../../domain/record/message-id.ts'
import { looseIndexScan } from '../loose-index-scan.ts'
import { isClosed } from '../routes/closed-routes.ts'
import { idsAsFew, type Sql } from '../sql.ts'
import { sqlWords, toQuery } from '../sql-text.ts'

/** The last message that a walk through a topic's settled messages has read. `at` is text, with microseconds. */
export type SettledCursor = { readonly at: string; readonly id: string }

export type ArchivableMessage = SettledCursor & { dlq_topic: string | null; since: Date }

const settled = looseIndexScan({ where: sqlWords(`m.status in ('RESOLVED', 'DEAD')`) })

/** The original topics that have RESOLVED or DEAD messages. */
export async function listSettledTopics(sql: Sql): Promise<string[]> {
  const rows = await sql<{ original_topic: string }[]>`select original_topic from (${toQuery(sql, settled)}) settled`
  return rows.map(({ original_topic }) => original_topic)
}

/** RESOLVED and DEAD messages of the topic that were not changed since `before`, those changed longest ago first. */
export async function listSettled(
  sql: Sql,
  { topic, before, after, limit }: { topic: string; before: Date; after: SettledCursor | null; limit: number },
): Promise<ArchivableMessage[]> {
  // "::text" first, because the driver would cut a timestamp off after the milliseconds.
  return sql<ArchivableMessage[]>`
    select id, updated_at::text as at, updated_at as since, dlq_topic
    from dlq.dlq_messages
    where original_topic = ${topic} and status in ('RESOLVED', 'DEAD') and updated_at < ${before}
      and (updated_at, id) > (${after?.at ?? '-infinity'}::text::timestamptz, ${after?.id ?? smallestId}::uuid)
    order by updated_at, id
    limit ${limit}`
}

/**
 * Moves messages into the archive with their attempts, if they are RESOLVED or DEAD and were not changed since `before`
 * (if it is given). Locked messages stay. Returns how many it moved.
 */
export async function archiveMessages(
  sql: Sql,
  { ids, before = null, now }: { ids: readonly string[]; before?: Date | null; now: Date },
): Promise<number> {
  if (ids.length === 0) return 0
  const [row] = await sql<{ archived: number }[]>`
    select dlq.archive_messages(
      ${sql.array([...ids])}::uuid[], coalesce(${before}::timestamptz, 'infinity'), ${now}) as archived`
  return row!.archived
}

const wanted = storedOrigin({ state: 'wanted', isHeld: true })

/**
 * Moves archived messages back with their attempts, and counts that as a change of them. Every retry of an archived
 * message restores it first. They follow the state that their routes have now, and originals that could not be read are
 * looked for again. Returns the ids that were in the archive.
 */
export async function restoreArchived(sql: Sql, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await sql<{ id: string }[]>`
    select id from dlq.restore_messages(${sql.array([...ids])}::uuid[]) as restored (id)`
  const restored = rows.map(({ id }) => id)
  // Nobody walks through the archive when somebody decides about a route.
  await sql`
    update dlq.dlq_messages m set held_by_route = not m.held_by_route
    where m.id = any(${idsAsFew(sql, restored)}) and m.held_by_route <> ${isClosed(sql, 'm')}`
  // Nor does anybody look for their originals there.
  await sql`
    update dlq.dlq_message_origins o set next_try_at = now() from dlq.dlq_messages m
    where o.message_id = any(${idsAsFew(sql, restored)}) and o.next_try_at is null
      and m.id = any(${idsAsFew(sql, restored)}) and m.id = o.message_id and m.origin_state = ${wanted}`
  return restored
}
