// Drops whole quarters of dlq_messages_archive and dlq_attempts_archive. The other tables that name messages have no
// quarters, so the messages that they name are deleted before the quarter is dropped.

import { smallestId } from '../../domain/record/message-id.ts'
import { deleteMessages } from '../change/delete-messages.ts'
import type { Sql } from '../sql.ts'

/** A quarter of the archive: the last part of its partitions' names, and its end. */
export type ArchivedQuarter = { name: string; until: Date }

/** The oldest quarter that ended by `before`; null where there is none. */
export async function oldestArchivedQuarter(sql: Sql, before: Date): Promise<ArchivedQuarter | null> {
  const [row] = await sql<ArchivedQuarter[]>`
    select substring(relname from 'dlq_messages_archive_(.*)') as name, until
    from pg_inherits join pg_class on pg_class.oid = inhrelid
    cross join lateral (
      -- A time: the plan may ask the other tables' partitions too, whose bounds are ids.
      select substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \\(''(\\d{4,}-\\d\\d-\\d\\d .+)''\\)')::timestamptz as until
    ) bound
    where inhparent = 'dlq.dlq_messages_archive'::regclass and until <= ${before}
    order by until limit 1`
  return row ?? null
}

/** The columns of a row's primary key, as text. */
type Place = readonly [first: string, second: string]

/**
 * The tables that name messages, each with the primary key along which it is read. They are far smaller than the
 * archive, so these are read and the archive is not.
 */
const namingTables = [
  {
    from: [smallestId, '0'] as Place,
    rowsAfter: (sql: Sql, [id, number]: Place) => sql`
      select message_id, message_id::text as first, number::text as second from dlq.dlq_message_edits
      where (message_id, number) > (${id}::text::uuid, ${number}::text::int)
      order by message_id, number`,
  },
  {
    from: [smallestId, ''] as Place,
    rowsAfter: (sql: Sql, [id]: Place) => sql`
      select message_id, message_id::text as first, '' as second from dlq.dlq_message_origins
      where message_id > ${id}::text::uuid
      order by message_id`,
  },
  {
    from: [smallestId, ''] as Place,
    rowsAfter: (sql: Sql, [id]: Place) => sql`
      select message_id, message_id::text as first, '' as second from dlq.dlq_staleness
      where message_id > ${id}::text::uuid
      order by message_id`,
  },
  {
    from: [smallestId, smallestId] as Place,
    rowsAfter: (sql: Sql, [runId, id]: Place) => sql`
      select message_id, run_id::text as first, message_id::text as second from dlq.dlq_run_skipped
      where (run_id, message_id) > (${runId}::text::uuid, ${id}::text::uuid)
      order by run_id, message_id`,
  },
  {
    from: ['', ''] as Place,
    rowsAfter: (sql: Sql, [actor, key]: Place) => sql`
      select message_id, actor as first, key as second from dlq.dlq_idempotency_keys
      where (actor, key) > (${actor}, ${key})
      order by actor, key`,
  },
]

/**
 * Deletes the quarter's messages that other tables name, in batches of at most `batchSize`, each its own transaction.
 * Only attempts name the rest of the quarter, and they are dropped with it. Returns how many it deleted.
 */
export async function deleteNamedOfQuarter(
  sql: Sql,
  { quarter, batchSize, signal }: { quarter: ArchivedQuarter; batchSize: number; signal: AbortSignal },
): Promise<number> {
  let deleted = 0
  for (const { from, rowsAfter } of namingTables) {
    for (let place: Place | null = from; place !== null; ) {
      signal.throwIfAborted()
      // "limit 1" keeps it a look-up per row: for a join PostgreSQL might read the whole quarter.
      const rows: { id: string; first: string; second: string; is_of_quarter: boolean }[] = await sql`
        select message_id as id, first, second, archived.id is not null as is_of_quarter
        from (${rowsAfter(sql, place)} limit ${batchSize}) named
        left join lateral (
          select m.id from ${sql(`dlq.dlq_messages_archive_${quarter.name}`)} m where m.id = named.message_id limit 1
        ) archived on true`
      const ids = rows.filter(({ is_of_quarter }) => is_of_quarter).map(({ id }) => id)
      deleted += await deleteMessages(sql, { ids: [...new Set(ids)], archived: true })
      const last = rows.at(-1)
      place = last && rows.length === batchSize ? [last.first, last.second] : null
    }
  }
  return deleted
}

/** Drops the oldest quarter that ended by `before`; null where there is none. @throws 55P03 where somebody reads it */
export async function dropArchivedQuarter(sql: Sql, before: Date): Promise<string | null> {
  const [row] = await sql<{ dropped: string | null }[]>`select dlq.drop_archived_quarter(${before}) as dropped`
  return row!.dropped
}
