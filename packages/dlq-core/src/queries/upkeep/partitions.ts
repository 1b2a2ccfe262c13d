// Creates partitions of dlq_messages and of the archive ahead of time, and drops empty months of dlq_messages.
// archived-quarters.ts drops quarters of the archive.

import type { Sql } from '../sql.ts'

/** Creates the missing months of dlq_messages and quarters of the archive. Returns how many partitions it created. */
export async function makePartitionsAhead(
  sql: Sql,
  { months, now }: { months: number; now: Date },
): Promise<{ months: number; quarters: number }> {
  const quarters = Math.ceil(months / 3)
  const [row] = await sql<[{ months: number; quarters: number }]>`
    select dlq.create_message_partitions(${months}::int, ${now}) as months,
           dlq.create_archive_partitions(${quarters}::int, ${now}) as quarters`
  return row
}

export type PartitionLead = { dlq_messages: number; dlq_messages_archive: number }

/** For how many whole months after that of `now` partitions exist without a gap. −1 where this month has none. */
export async function readPartitionLead(sql: Sql, now: Date): Promise<PartitionLead> {
  const [row] = await sql<[PartitionLead]>`
    with ahead as (
      select n, date_trunc('month', ${now}::timestamptz, 'UTC') at time zone 'UTC' + n * interval '1 month' as month
      from generate_series(0, 24) n
    ),
    named as (
      select n, 'dlq_messages_' || to_char(month, 'YYYY_MM') as messages,
             'dlq_messages_archive_' || to_char(month, 'YYYY"q"Q') as archive
      from ahead
    ),
    made as (
      -- Without the number at the end, which a partition has beside a detached table of its name.
      select substring(relname from '^dlq_messages_(?:[0-9]{4}_[0-9]{2}|archive_[0-9]{4}q[0-9])') as relname
      from pg_class where relnamespace = 'dlq'::regnamespace and relispartition
        and relname ~ '^dlq_messages_(archive_)?[0-9]'
    )
    select
      coalesce(min(n) filter (where messages not in (select relname from made)), 25)::int - 1 as dlq_messages,
      coalesce(min(n) filter (where archive not in (select relname from made)), 25)::int - 1 as dlq_messages_archive
    from named`
  return row
}

export type OldMonth = { name: string; is_empty: boolean; is_vacuumed: boolean }

/** The months of dlq_messages that ended by `before`, and whether they still have rows. */
export async function listOldMonths(sql: Sql, before: Date): Promise<OldMonth[]> {
  const months = await sql<{ name: string; is_vacuumed: boolean }[]>`
    select relname as name, pg_relation_size(c.oid) <= 1048576 as is_vacuumed
    from pg_inherits join pg_class c on c.oid = inhrelid
    where inhparent = 'dlq.dlq_messages'::regclass and relname ~ '^dlq_messages_[0-9]{4}_[0-9]{2}(_[0-9]+)?$'
      and to_date(substring(relname from '[0-9]{4}_[0-9]{2}'), 'YYYY_MM') + interval '1 month' <= ${before}::timestamptz at time zone 'UTC'
    order by relname`
  const found: OldMonth[] = []
  for (const { name, is_vacuumed } of months) {
    // Along the primary key, because it skips deleted rows without reading them.
    const rows = await sql`select from ${sql(`dlq.${name}`)} order by id limit 1`
    found.push({ name, is_vacuumed, is_empty: rows.length === 0 })
  }
  return found
}

/** Vacuums a month that was emptied, because it cannot be dropped before its pages are freed. */
export async function vacuumMonth(sql: Sql, name: string): Promise<void> {
  await sql`vacuum (truncate) ${sql(`dlq.${name}`)}`
}

/** Drops the month if it is empty. @throws 55P03 where it does not get the lock at once */
export async function dropEmptyMonth(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql<{ dropped: boolean }[]>`
    select dlq.drop_empty_month(${`dlq.${name}`}::regclass) as dropped`
  return row!.dropped
}
