// Deletes messages, with every row of schema dlq that names them. All code that deletes messages calls this; only
// dlq_audit keeps their ids. A table that gets a column for the id of a message gets its line here.

import { idsAsFew, type Sql } from '../sql.ts'

/**
 * Deletes messages with their history: from dlq_messages, or from the archive where `archived`. Returns how many.
 *
 * An earlier statement of the same transaction must have locked messages of dlq_messages. Only then does this one see
 * every row that others wrote about them. Archived messages need no lock, because no code writes about them.
 */
export async function deleteMessages(
  sql: Sql,
  { ids, archived }: { ids: readonly string[]; archived: boolean },
): Promise<number> {
  if (ids.length === 0) return 0
  const sorted = ids.toSorted()
  const messages = sql(archived ? 'dlq.dlq_messages_archive' : 'dlq.dlq_messages')
  const attempts = sql(archived ? 'dlq.dlq_attempts_archive' : 'dlq.dlq_attempts')
  // As an array, because for a join PostgreSQL may read a whole table.
  const gone = sql`any(array(select id from deleted))`
  const [row] = await sql<[{ deleted: number }]>`
    with deleted as (
      delete from ${messages}
      where id = any(${idsAsFew(sql, sorted)})
        -- The range of ids excludes the other partitions.
        and id between ${sorted[0]!} and ${sorted.at(-1)!}
      returning id, created_at, group_id
    ),
    attempts as (
      delete from ${attempts} where message_id = ${gone}
    ),
    edits as (
      delete from dlq.dlq_message_edits where message_id = ${gone}
    ),
    origins as (
      delete from dlq.dlq_message_origins where message_id = ${gone}
    ),
    staleness as (
      delete from dlq.dlq_staleness where message_id = ${gone}
    ),
    siblings as (
      delete from dlq.dlq_siblings where message_id = ${gone}
    ),
    idempotency_keys as (
      -- The table has no index on message_id. The transaction of a key stores its message, so both have the same time.
      delete from dlq.dlq_idempotency_keys
      where created_at = any(array(select created_at from deleted)) and message_id = ${gone}
    ),
    skipped as (
      -- Along the primary key, run by run. A run never skips a message that arrived after its cutoff.
      delete from dlq.dlq_run_skipped s
      using deleted, dlq.dlq_runs r
      where r.cutoff >= deleted.created_at and s.run_id = r.id and s.message_id = deleted.id
    ),
    groups as (
      -- The archive has no index by group: empty-groups.ts looks whether anything of them is left.
      update dlq.dlq_groups g set purged_at = now()
      from (select id from dlq.dlq_groups
            where ${archived} and id = any(array(select group_id from deleted)) and purged_at is null order by id for update) purged
      where g.id = purged.id
    ),
    probes as (
      delete from dlq.dlq_group_probes where message_id = ${gone}
    ),
    single_probes as (
      -- Written by a retrier of the version before. The probe ended without a result, so the next one is due. A review that holds the group's row sees that itself.
      update dlq.dlq_group_pauses p set probe_id = null, probe_attempt = null
      from (select original_topic, group_id from dlq.dlq_group_pauses where probe_id = ${gone} for update skip locked) probing
      where p.original_topic = probing.original_topic and p.group_id = probing.group_id
    )
    select count(*)::int as deleted from deleted`
  return row.deleted
}
