// An index of a partitioned table is built while others write, and a build that was interrupted goes on.
import { type TestDatabase, useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { migrateDown, migrateUp, migrationStatus } from './migrate.ts'

const database = useDatabase({ empty: true })
const decodeIndex = 'dlq.idx_dlq_messages_decode_waiting'

/** Takes back all migrations from this one, which builds an index. */
async function without(migration: string, { url }: TestDatabase): Promise<void> {
  await migrateUp({ databaseUrl: url })
  await takeBack(migration, { url })
}

/** Takes back all migrations from this one; those behind it, where `itself` is false. */
async function takeBack(migration: string, { url, itself = true }: { url: string; itself?: boolean }): Promise<void> {
  const names = (await migrationStatus({ databaseUrl: url })).filter(({ set }) => set === 'dlq').map(({ name }) => name)
  const count = names.length - names.indexOf(migration) - (itself ? 0 : 1)
  if (count > 0) await migrateDown({ databaseUrl: url, set: 'dlq', count })
}

/** Whether the index is valid, and of how many partitions it has one. */
async function readIndex(index = decodeIndex) {
  const [row] = await database.sql<{ valid: boolean; attached: number; partitions: number }[]>`
    select (select indisvalid from pg_index where indexrelid = ${index}::regclass) as valid,
           (select count(*)::int from pg_inherits i join pg_index x on x.indexrelid = i.inhrelid
            where inhparent = ${index}::regclass and x.indisvalid) as attached,
           (select count(*)::int from pg_inherits where inhparent = 'dlq.dlq_messages'::regclass) as partitions`
  return row!
}

describe('a new index', () => {
  beforeEach(() => without('037_index_messages_to_decode', database))

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
})

describe('an index that takes the place of another one', () => {
  beforeEach(() => without('051_fewer_indexes', database))

  /** The definitions of the indexes on a partition, by their names. */
  async function indexesOf(partition: string): Promise<Record<string, string>> {
    const rows = await database.sql<{ name: string; definition: string }[]>`
      select indexname as name, substring(indexdef from 'USING btree (.*)') as definition from pg_indexes
      where schemaname = 'dlq' and tablename = ${partition} and indexdef ~ 'btree \\((original_topic, |dlq_topic, |)status, id'
      order by indexname`
    return Object.fromEntries(rows.map(({ name, definition }) => [name, definition]))
  }

  /** Of the first month that has none. Returns its name. */
  async function makePartition(): Promise<string> {
    const names = async () => (await database.sql`select name from dlq.message_partitions()`).map(({ name }) => name)
    const before = await names()
    // There are two that are of no month, and one of this month.
    await database.sql`select dlq.create_message_partitions(${before.length - 2})`
    const made = (await names()).filter((name) => !before.includes(name))
    expect(made).toHaveLength(1)
    return made[0]
  }

  const former = {
    dlq_messages_last_original_topic_status_id_idx: '(original_topic, status, id)',
    dlq_messages_last_dlq_topic_status_id_idx: '(dlq_topic, status, id)',
    dlq_messages_last_status_id_idx: '(status, id)',
  }
  const now = {
    dlq_messages_last_original_topic_status_id_idx: '(original_topic, status, id) WITH (deduplicate_items=off)',
    dlq_messages_last_status_id_idx: `(status, id) WHERE ((status)::text = 'DEAD'::text)`,
  }

  test('has its name and those of its partitions, and the former one comes back', async () => {
    expect(await indexesOf('dlq_messages_last')).toEqual(former)
    await migrateUp({ databaseUrl: database.url })
    expect(await indexesOf('dlq_messages_last')).toEqual(now)
    const { valid, attached, partitions } = await readIndex('dlq.idx_dlq_messages_status')
    expect({ valid, attached }).toEqual({ valid: true, attached: partitions })
    // A partition that is made later has the same.
    const later = await makePartition()
    expect(Object.values(await indexesOf(later))).toEqual(Object.values(now))

    await takeBack('051_fewer_indexes', { url: database.url })
    expect(await indexesOf('dlq_messages_last')).toEqual(former)
  })

  test('is there once, whatever statement was the last one that was run', async () => {
    const { sql } = database
    await migrateUp({ databaseUrl: database.url })
    await takeBack('051_fewer_indexes', { url: database.url, itself: false })
    const oids = await sql`select oid from pg_class where relname ~ '_(first|last|\\d\\d)_status_id_idx$' order by 1`
    // As if the migration had been interrupted before it was noted.
    await sql`delete from migrations.dlq where name = '051_fewer_indexes'`
    await migrateUp({ databaseUrl: database.url })
    expect(
      await sql`select oid from pg_class where relname ~ '_(first|last|\\d\\d)_status_id_idx$' order by 1`,
    ).toEqual(oids)
    expect(await indexesOf('dlq_messages_last')).toEqual(now)
  })

  test('is built on where the build was interrupted, and has the partitions that were made meanwhile', async () => {
    const { sql } = database
    const definition = sql`(status, id) where status = 'DEAD'`
    await sql`create index idx_dlq_messages_status_new on only dlq.dlq_messages ${definition}`
    await sql`create index dlq_messages_first_status_id_new on dlq.dlq_messages_first ${definition}`
    await sql`alter index dlq.idx_dlq_messages_status_new attach partition dlq.dlq_messages_first_status_id_new`
    const later = await makePartition()
    const [before] = await sql`select 'dlq.dlq_messages_first_status_id_new'::regclass::oid as oid`

    await migrateUp({ databaseUrl: database.url })
    expect(await indexesOf('dlq_messages_last')).toEqual(now)
    expect(Object.values(await indexesOf(later))).toEqual(Object.values(now))
    const [after] = await sql`select 'dlq.dlq_messages_first_status_id_idx'::regclass::oid as oid`
    expect(after).toEqual(before)
  })

  test.each([
    ['split', makePartition],
    [
      'dropped',
      () => database.sql`
        select dlq.drop_empty_month(('dlq.' || name)::regclass)
        from dlq.message_partitions() where name ~ '[0-9]$' order by name desc limit 1`,
    ],
  ])('is built although a partition is %s meanwhile', async (_, change) => {
    const { sql, url } = database
    await using old = await sql.reserve().then((sql) => ({ sql, [Symbol.asyncDispose]: async () => sql.release() }))
    await old.sql`begin isolation level repeatable read`
    await old.sql`select from dlq.dlq_topics`
    const migrating = migrateUp({ databaseUrl: url })
    await expect
      .poll(
        async () =>
          (
            await sql`
              select from pg_stat_activity
              where datname = current_database() and query like 'create index concurrently%' and wait_event = 'virtualxid'`
          ).length,
        { timeout: 60_000, interval: 50 },
      )
      .toBe(1)
    await change()
    await old.sql`commit`
    expect(await migrating).toContain('dlq/051_fewer_indexes')
    const { valid, attached, partitions } = await readIndex('dlq.idx_dlq_messages_status')
    expect({ valid, attached }).toEqual({ valid: true, attached: partitions })
    expect(await indexesOf('dlq_messages_last')).toEqual(now)
    expect(await sql`select from pg_class where relname ~ '_new$' and relkind = 'i'`).toHaveLength(0)
  })
})
