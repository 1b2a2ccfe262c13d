// Creates a database of many millions of rows once, and keeps it until the migrations change. It is filled with the schema
// of an earlier version and then migrated, as an old database is. It copies first and creates indexes afterwards, because
// sorting an index at once costs a third of growing it row by row. It copies with "freeze" into partitions that the same
// transaction has emptied. So nothing is written to the WAL where wal_level is minimal, and no vacuum has to read all rows
// again.

import { setTimeout as sleep } from 'node:timers/promises'
import { encodeCopy } from 'dlq-core/queries/ingest/copy-format.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { withMaintenance } from 'dlq-testing/postgres/maintenance.ts'
import { migrateUp, migrationStatus } from '../../../../db/migrate.ts'
import { storeTopicsAndGroups } from '../api/api-rows.ts'
import { type BenchDatabase, type BenchRun, connectBench } from '../measure/bench-run.ts'
import { formatNumber } from '../measure/table.ts'
import { cluster, months, sizeColumns, sizeRow } from './size-rows.ts'
import { storingBeside } from './storing-beside.ts'

/** Partitions that are filled at once. */
const writers = 2
const rowsPerCopy = 20_000
/** The migrations of the version that `versions` is run against (commit 6c977d9). */
const earlierMigrations = 15

export type SizeDatabase = BenchDatabase & AsyncDisposable & { rows: number }

/** Returns a database of this many rows. Creates it unless a complete one exists. */
export async function openSizeDatabase(run: BenchRun, rows: number): Promise<SizeDatabase> {
  const url = new URL(run.stack.databaseUrl)
  url.pathname = `dlq_size_${rows}`
  const name = url.pathname.slice(1)
  if (await isComplete(run, { name, url: url.href }))
    run.print(`  ${formatNumber(rows)} rows: there since an earlier run`)
  else await makeDatabase(run, { name, url: url.href, rows })
  const sql = connectBench(url.href)
  return { url: url.href, sql, rows, [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) }
}

/** Whoever has changed much of it says so: it is made again. */
export async function spoilDatabase({ sql, url }: SizeDatabase): Promise<void> {
  await sql`comment on database ${sql(new URL(url).pathname.slice(1))} is null`
}

/** Written last. A database without it was interrupted, and is created again. */
const complete = 'filled by the size benchmark'

async function isComplete(run: BenchRun, { name, url }: { name: string; url: string }): Promise<boolean> {
  const said = await withMaintenance(
    run.stack.databaseUrl,
    (sql) => sql`select shobj_description(oid, 'pg_database') as comment from pg_database where datname = ${name}`,
  )
  if (said[0]?.comment !== complete) return false
  const migrations = await migrationStatus({ databaseUrl: url })
  return migrations.every(({ appliedAt, changed }) => appliedAt !== null && !changed)
}

async function makeDatabase(
  { stack, print }: BenchRun,
  { name, url, rows }: { name: string; url: string; rows: number },
): Promise<void> {
  await withMaintenance(stack.databaseUrl, async (sql) => {
    await sql`drop database if exists ${sql(name)} with (force)`
    await sql`create database ${sql(name)}`
  })
  await migrateUp({ databaseUrl: url, only: { set: 'dlq', count: earlierMigrations } })
  const sql = connectBench(url)
  try {
    const step = timer(print)
    const now = Date.now()
    await makePartitions(sql, now)
    const rebuild = await dropIndexes(sql)
    await fill(sql, { rows, now })
    step(`${formatNumber(rows)} rows copied`)
    for (const statement of rebuild) await withoutTimeout(sql, (sql) => sql.unsafe(statement))
    step('indexes built')
    await withoutTimeout(sql, (sql) => sql`analyze dlq.dlq_messages`)
    const log = (line: string) => print(`    ${line}`)
    const { seconds, longestMs } = await storingBeside(sql, { rows }, () => migrateUp({ databaseUrl: url, log }))
    print(
      `  migrated from version ${earlierMigrations} in ${formatNumber(seconds)} s; a message that was stored meanwhile waited ${formatNumber(longestMs)} ms at most`,
    )
    step('all migrations')
    await fillOtherTables(sql, rows)
    step('other tables')
    // As for a table that existed before its triggers.
    await sql`update dlq.dlq_summary_state set counted_at = null`
    await withoutTimeout(sql, async (sql) => {
      // A migration that has counted holds the lock for a second longer.
      for (let isCounted = false; !isCounted; await sleep(100)) {
        const [row] = await sql`select dlq.reconcile_summary() is not null as counted`
        isCounted = row!.counted
      }
      for (let more = true; more; ) {
        const [row] = await sql`select dlq.fold_summary() as folded`
        more = row!.folded > 0
      }
    })
    step('counted for the first time')
    await withoutTimeout(sql, (sql) => sql`analyze`)
    step('statistics')
    const [size] = await sql<{ bytes: number }[]>`select pg_database_size(current_database())::float8 as bytes`
    print(`  ${formatNumber(size!.bytes / 2 ** 30, 1)} GiB, ${formatNumber(size!.bytes / rows)} bytes a row`)
    await sql`checkpoint`
    await sql`comment on database ${sql(name)} is ${sql.unsafe(`'${complete}'`)}`
  } finally {
    await sql.end({ timeout: 5 })
  }
}

function timer(print: BenchRun['print']): (what: string) => void {
  let since = performance.now()
  return (what) => {
    print(`  ${what} in ${formatNumber((performance.now() - since) / 1000)} s`)
    since = performance.now()
  }
}

/** Runs `work` on one connection whose statements may take minutes. */
async function withoutTimeout(sql: Database, work: (sql: ReservedDatabase) => PromiseLike<unknown>): Promise<void> {
  const connection = await sql.reserve()
  try {
    await connection`set statement_timeout = 0`
    await connection`set maintenance_work_mem = '1GB'`
    await work(connection)
    await connection`reset all`
  } finally {
    connection.release()
  }
}

type ReservedDatabase = Awaited<ReturnType<Database['reserve']>>

/** A partition for each month of the database's life; the first partition holds only older rows. */
async function makePartitions(sql: Database, now: number): Promise<void> {
  const first = monthsBefore(now, months - 1)
  await sql`alter table dlq.dlq_messages detach partition dlq.dlq_messages_first`
  const [bound] = await sql<{ id: string }[]>`select dlq.uuid_floor(${new Date(first)}) as id`
  await sql.unsafe(
    `alter table dlq.dlq_messages attach partition dlq.dlq_messages_first for values from (minvalue) to ('${bound!.id}')`,
  )
  await sql`select dlq.create_message_partitions(${months}, ${new Date(first)})`
}

/** The start of the month (UTC) that lies this many months before. */
function monthsBefore(time: number, count: number): number {
  const date = new Date(time)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - count)
}

/** Drops the indexes of dlq_messages. Returns the statements that create them again. */
async function dropIndexes(sql: Database): Promise<string[]> {
  const indexes = await sql<{ name: string; is_primary: boolean; definition: string }[]>`
    select relname as name, indisprimary as is_primary, pg_get_indexdef(indexrelid) as definition
    from pg_index join pg_class c on c.oid = indexrelid where indrelid = 'dlq.dlq_messages'::regclass
    order by indisprimary desc, relname`
  for (const { name, is_primary } of indexes) {
    if (is_primary) await sql`alter table dlq.dlq_messages drop constraint ${sql(name)}`
    else await sql`drop index dlq.${sql(name)}`
  }
  return indexes.map(({ name, is_primary, definition }) =>
    is_primary
      ? `alter table dlq.dlq_messages add constraint ${name} primary key (id)`
      : definition.replace(' ON ONLY ', ' ON '),
  )
}

type Part = { partition: string; from: number; to: number }

/** Copies some partitions at a time, while this process generates the rows of the next ones. */
async function fill(sql: Database, { rows, now }: { rows: number; now: number }): Promise<void> {
  const start = monthsBefore(now, months - 1)
  const timeOf = (index: number) => start + Math.floor((index / rows) * (now - start))
  const indexAt = (time: number) => Math.min(rows, Math.ceil(((time - start) / (now - start)) * rows))
  const parts = Array.from({ length: months }, (_, month): Part => {
    const from = monthsBefore(now, months - 1 - month)
    const partition = `dlq_messages_${new Date(from).toISOString().slice(0, 7).replace('-', '_')}`
    return { partition, from: indexAt(from), to: indexAt(monthsBefore(now, months - 2 - month)) }
  })
  const write = async () => {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const { partition, from, to } = part
      await sql.begin(async (sql) => {
        // Without triggers, because their transition tables would hold every row. A full count follows.
        await sql`set local session_replication_role = replica`
        await sql`set local statement_timeout = 0`
        // Between two copies the transaction waits while this process generates rows of other partitions.
        await sql`set local idle_in_transaction_session_timeout = 0`
        await sql`truncate dlq.${sql(partition)}`
        for (let at = from; at < to; at += rowsPerCopy) {
          const copied = Array.from({ length: Math.min(rowsPerCopy, to - at) }, (_, n) =>
            sizeRow(at + n, { at: timeOf(at + n), now }),
          )
          const stream = await sql`
            copy dlq.${sql(partition)} (${sql(Object.keys(sizeColumns))}) from stdin (format binary, freeze)`.writable()
          stream.write(encodeCopy(sizeColumns, copied))
          await new Promise<void>((resolve, reject) => stream.once('error', reject).end(() => resolve()))
          await sql`select 1`
        }
      })
    }
  }
  await Promise.all(Array.from({ length: writers }, write))
}

async function fillOtherTables(sql: Database, rows: number): Promise<void> {
  await storeTopicsAndGroups(sql, { cluster, total: rows })
  // Only attempts of the last day, because those of older messages are in the archive.
  await withoutTimeout(
    sql,
    (sql) => sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, started_at, settled_at)
      select id, 1, dlq.attempt_id(id, 1), 'published', original_topic, original_partition, original_offset, created_at, created_at
      from dlq.dlq_messages where id >= dlq.uuid_floor(now() - interval '1 day') and status = 'RESOLVED'`,
  )
}
