// An index of a partitioned table is built while others write, and a build that was interrupted goes on.
import { type TestDatabase, useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { migrateDown, migrateUp, migrationStatus } from './migrate.ts'

const database = useDatabase({ empty: true })
const index = 'dlq.idx_dlq_messages_decode_waiting'

/** Takes back all migrations from the one that builds the index. */
async function withoutIndex({ url }: TestDatabase): Promise<void> {
  await migrateUp({ databaseUrl: url })
  const names = (await migrationStatus({ databaseUrl: url })).filter(({ set }) => set === 'dlq').map(({ name }) => name)
  const count = names.length - names.indexOf('037_index_messages_to_decode')
  await migrateDown({ databaseUrl: url, set: 'dlq', count })
}

/** Whether the index is valid, and of how many partitions it has one. */
async function readIndex() {
  const [row] = await database.sql<{ valid: boolean; attached: number; partitions: number }[]>`
    select (select indisvalid from pg_index where indexrelid = ${index}::regclass) as valid,
           (select count(*)::int from pg_inherits i join pg_index x on x.indexrelid = i.inhrelid
            where inhparent = ${index}::regclass and x.indisvalid) as attached,
           (select count(*)::int from pg_inherits where inhparent = 'dlq.dlq_messages'::regclass) as partitions`
  return row!
}

beforeEach(() => withoutIndex(database))

test('messages are stored while the index is built', async () => {
  await using old = await database.sql
    .reserve()
    .then((sql) => ({ sql, [Symbol.asyncDispose]: async () => sql.release() }))
  // The build has to wait for the end of a transaction that sees the rows as they were.
  await old.sql`begin isolation level repeatable read`
  await old.sql`select from dlq.dlq_topics`
  const migrating = migrateUp({ databaseUrl: database.url })
  await expect
    .poll(
      async () =>
        (
          await database.sql`
            select from pg_stat_activity
            where datname = current_database() and query like 'create index concurrently%' and wait_event = 'virtualxid'`
        ).length,
      { timeout: 60_000, interval: 50 },
    )
    .toBe(1)
  await database.sql.begin(async (sql) => {
    await sql`set local lock_timeout = '10s'`
    await sql`insert into dlq.dlq_messages (original_topic, error_message) values ('orders', 'failed')`
  })
  await old.sql`commit`
  await migrating

  const { valid, attached, partitions } = await readIndex()
  expect(valid).toBe(true)
  expect(partitions).toBeGreaterThan(4)
  expect(attached).toBe(partitions)
})

test('a build that was interrupted goes on with the partitions that are left', async () => {
  const { sql } = database
  const condition = sql`(value_schema, id) where decode_state = 2`
  await sql`create index idx_dlq_messages_decode_waiting on only dlq.dlq_messages ${condition}`
  await sql`create index dlq_messages_first_value_schema_id_idx on dlq.dlq_messages_first ${condition}`
  await sql`alter index dlq.idx_dlq_messages_decode_waiting attach partition dlq.dlq_messages_first_value_schema_id_idx`
  // What a concurrent build leaves when it is cancelled.
  await sql`create index dlq_messages_last_value_schema_id_idx on dlq.dlq_messages_last ${condition}`
  await sql`
    update pg_index set indisvalid = false where indexrelid = 'dlq.dlq_messages_last_value_schema_id_idx'::regclass`
  expect(await readIndex()).toMatchObject({ valid: false, attached: 1 })

  await migrateUp({ databaseUrl: database.url })
  const { valid, attached, partitions } = await readIndex()
  expect(valid).toBe(true)
  expect(attached).toBe(partitions)
})
