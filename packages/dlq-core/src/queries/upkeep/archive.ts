// dlq_messages_archive and dlq_attempts_archive: moving messages there and back. They are read by message-search.ts.

import type { Sql } from './sql.ts'

/** Where a walk through the settled messages of a topic stands: the last one seen. `at` is text, to the microsecond. */
export type SettledCursor = { readonly at: string; readonly id: string }

export type SettledMessage = SettledCursor & { dlq_topic: string | null; since: Date }

/** The first original topic after `after` that has RESOLVED or DEAD messages; null at the end. */
export async function nextSettledTopic(sql: Sql, after: string | null): Promise<string | null> {
  const [row] = await sql<{ original_topic: string }[]>`
    select original_topic from dlq.dlq_messages
    where status in ('RESOLVED', 'DEAD') and original_topic > ${after ?? ''}
    order by original_topic limit 1`
  return row?.original_topic ?? null
}

/** RESOLVED and DEAD messages of the topic that nobody touched since `before`, the longest untouched first. */
export async function listSettled(
  sql: Sql,
  { topic, before, after, limit }: { topic: string; before: Date; after: SettledCursor | null; limit: number },
): Promise<SettledMessage[]> {
  // "::text" first: as a timestamp the driver would cut the cursor off at its milliseconds.
  return sql<SettledMessage[]>`
    select id, updated_at::text as at, updated_at as since, dlq_topic
    from dlq.dlq_messages
    where original_topic = ${topic} and status in ('RESOLVED', 'DEAD') and updated_at < ${before}
      and (updated_at, id) > (${after?.at ?? '-infinity'}::text::timestamptz, ${after?.id ?? smallestId}::uuid)
    order by updated_at, id
    limit ${limit}`
}

const smallestId = '00000000-0000-0000-0000-000000000000'

/**
 * Moves those of the messages into the archive, with their attempts, that are RESOLVED or DEAD and untouched since `before`
 * (unless given, whenever they were touched). What somebody holds locked stays. Returns how many were moved.
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

/**
 * Moves archived messages back, with their attempts; from now on they count as touched. What is retried from the archive
 * is restored first. Returns the ids of those that were there.
 */
export async function restoreArchived(sql: Sql, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await sql<{ id: string }[]>`
    select id from dlq.restore_messages(${sql.array([...ids])}::uuid[]) as restored (id)`
  return rows.map(({ id }) => id)
}
