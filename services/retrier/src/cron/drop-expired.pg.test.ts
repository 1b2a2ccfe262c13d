import { archiveMessages, restoreArchived } from 'dlq-core/queries/upkeep/archive.ts'
import { dropArchivedQuarter } from 'dlq-core/queries/upkeep/archived-quarters.ts'
import { makePartitionsAhead, readPartitionLead } from 'dlq-core/queries/upkeep/partitions.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { Registry } from 'prom-client'
import { beforeEach, expect, test } from 'vitest'
import { dropExpired } from './drop-expired.ts'
import { createUpkeepMetrics, createUpkeepWatch } from './watch-upkeep.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const { signal } = new AbortController()
const dayMs = 86_400_000

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_messages_archive', 'dlq.dlq_attempts_archive')
  await resetMonths()
})

/** Only the present months have partitions then. The overflow partition begins in 2038: any month before can be made. */
async function resetMonths(): Promise<void> {
  const months = await database.sql`
    select name from dlq.message_partitions() where name not in ('dlq_messages_first', 'dlq_messages_last')`
  for (const { name } of months) await database.sql`drop table ${database.sql(`dlq.${name}`)}`
  await database.sql`select dlq.create_message_partitions()`
  await database.sql`select dlq.create_message_partitions(0, '2038-01-01')`
}

const drop = (now: string, retentionDays = 365) =>
  dropExpired({ sql: service.sql, archiveRetentionMs: retentionDays * dayMs }, { now: new Date(now), signal })

/** A message archived at that time, with an attempt. */
async function insertArchived(archivedAt: string): Promise<void> {
  await database.sql`select dlq.create_archive_partition(${archivedAt})`
  await database.sql`
    insert into dlq.dlq_messages_archive (original_topic, error_message, status, archived_at)
    values ('orders', 'failed', 'DEAD', ${archivedAt})`
  await database.sql`
    insert into dlq.dlq_attempts_archive (message_id, number, attempt_id, outcome, archived_at)
    select id, 1, gen_random_uuid(), 'failed', archived_at from dlq.dlq_messages_archive where archived_at = ${archivedAt}`
}

const archivedAt = async () => {
  const rows = await database.sql`
    select m.archived_at from dlq.dlq_messages_archive m
    full join dlq.dlq_attempts_archive a on a.message_id = m.id order by 1`
  return rows.map(({ archived_at }) => archived_at?.toISOString().slice(0, 10) ?? 'an attempt alone')
}

/** Ids of that month, in a partition of its own. */
async function insertInto(month: string, count = 1): Promise<void> {
  const id = `${new Date(month).getTime().toString(16).padStart(12, '0')}`
  await database.sql`select dlq.create_message_partition(${month}::timestamptz)`
  for (let n = 0; n < count; n += 1) {
    await insertMessageRow(database.sql, { id: `${id.slice(0, 8)}-${id.slice(8)}-7000-8000-00000000000${n}` })
  }
}

const hasMonth = async (month: string) => {
  const [row] = await database.sql`select to_regclass(${`dlq.dlq_messages_${month}`}) is not null as there`
  return row!.there
}

test.each(['dlq_messages_archive', 'dlq_attempts_archive'])(
  'a quarter of %s that was detached by hand is made again and dropped when it is old, and the detached one stays',
  async (table) => {
    const { sql } = database
    const detached = sql(`dlq.${table}_2034q2`)
    await insertArchived('2034-05-01')
    await sql`alter table dlq.${sql(table)} detach partition ${detached}`
    await emptyTables(sql, 'dlq.dlq_messages_archive', 'dlq.dlq_attempts_archive')
    await insertArchived('2034-06-01')
    expect(await archivedAt()).toEqual(['2034-06-01'])
    const before = new Date('2034-01-01')
    for (let dropped: string | null = ''; dropped !== null; ) dropped = await dropArchivedQuarter(service.sql, before)

    const now = new Date('2034-04-02')
    await makePartitionsAhead(service.sql, { months: 3, now })
    expect((await readPartitionLead(service.sql, now)).dlq_messages_archive).toBeGreaterThan(2)
    expect((await drop('2035-07-01')).quarters).toEqual([table === 'dlq_messages_archive' ? '2034q2_2' : '2034q2'])
    expect(await archivedAt()).toEqual([])
    const left = await sql`select relname as name from pg_class where relname ~ '^dlq_[a-z]+_archive_2034q2(_2)?$'`
    expect(left.map(({ name }) => name)).toEqual([`${table}_2034q2`])
    expect(await sql`select from ${detached}`).toHaveLength(1)
    await sql`drop table ${detached}`
  },
)

test('a quarter of the archive is dropped with its attempts when its last day is 365 days old, and not a day before', async () => {
  for (const time of ['2032-03-31T23:59:59Z', '2032-04-01', '2032-06-30', '2032-07-01']) await insertArchived(time)
  expect((await drop('2033-04-01')).quarters).not.toContain('2032q2')
  expect(await archivedAt()).toEqual(['2032-04-01', '2032-06-30', '2032-07-01'])
  expect((await drop('2033-06-30T23:59:00Z')).quarters).toEqual([])
  expect((await drop('2033-07-01')).quarters).toEqual(['2032q2'])
  expect(await archivedAt()).toEqual(['2032-07-01'])
})

test('a dropped quarter takes the edits of its messages along, and no others', async () => {
  await insertArchived('2031-02-01')
  await insertInto('2031-01-01')
  const [kept] = await database.sql<{ id: string }[]>`select id from dlq.dlq_messages`
  await database.sql`
    insert into dlq.dlq_message_edits (message_id, number, actor, fields)
    select id, 1, 'maria', '{value}'::text[] from dlq.dlq_messages_archive
    union all select id, 1, 'maria', '{value}'::text[] from dlq.dlq_messages`
  expect((await drop('2032-04-01')).quarters).toContain('2031q1')
  const edits = await database.sql`delete from dlq.dlq_message_edits returning message_id`
  expect(edits.map(({ message_id }) => message_id)).toEqual([kept!.id])
})

test('a dropped quarter takes the runs’ notes on its messages along, also behind thousands of notes on others', async () => {
  await insertArchived('2030-02-01')
  await database.sql`
    with run as (
      insert into dlq.dlq_runs (kind, actor, selection, until_id, matched, matched_relation)
      values ('retry', 'maria', '{}', gen_random_uuid(), 1, 'eq') returning id
    ),
    others as (
      -- Ids of long ago: in the order of ids they come first.
      select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid as id from generate_series(1, 2500) n
    )
    insert into dlq.dlq_run_skipped (run_id, message_id, reason)
    select run.id, message.id, 'dead' from run
    cross join (select id from others union all select id from dlq.dlq_messages_archive) message`
  expect((await drop('2031-04-01')).quarters).toContain('2030q1')
  const noted = await database.sql`delete from dlq.dlq_run_skipped returning message_id`
  expect(noted).toHaveLength(2500)
  expect(noted.every(({ message_id }) => message_id.startsWith('00000000'))).toBe(true)
})

test('another retention counts from another day', async () => {
  await insertArchived('2034-02-01')
  expect((await drop('2034-04-29', 30)).quarters).not.toContain('2034q1')
  expect((await drop('2034-05-01', 30)).quarters).toContain('2034q1')
  expect(await archivedAt()).toEqual([])
})

test('an empty month is dropped ninety days after its end, and one in which a message is left never', async () => {
  await insertInto('2035-01-01')
  await insertInto('2035-02-01')
  await database.sql`delete from dlq.dlq_messages where id < dlq.uuid_floor('2035-02-01')`
  expect((await drop('2035-04-30')).months).not.toContain('dlq_messages_2035_01')
  expect((await drop('2035-05-02')).months).toContain('dlq_messages_2035_01')
  expect([await hasMonth('2035_01'), await hasMonth('2035_02')]).toEqual([false, true])
  expect((await drop('2045-01-01')).months).not.toContain('dlq_messages_2035_02')
  expect(await database.sql`select from dlq.dlq_messages`).toHaveLength(1)
  // A late record creates its month again.
  await insertInto('2035-01-01')
  expect(await database.sql`select from dlq.dlq_messages`).toHaveLength(2)
})

test('an archived message can be restored after its month was dropped', async () => {
  await insertInto('2036-03-01')
  const [{ id }] = await database.sql<[{ id: string }]>`update dlq.dlq_messages set status = 'DEAD' returning id`
  await database.sql`select dlq.create_archive_partition('2036-04-01T00:00:00Z')`
  await archiveMessages(service.sql, { ids: [id], now: new Date('2036-04-01') })
  expect((await drop('2036-08-01')).months).toContain('dlq_messages_2036_03')
  expect(await restoreArchived(service.sql, [id])).toEqual([id])
  expect(await database.sql`select from dlq.dlq_messages where id = ${id}`).toHaveLength(1)
})

test('a month that was full is vacuumed first', async () => {
  await insertInto('2036-01-01')
  await database.sql`
    insert into dlq.dlq_messages (id, original_topic, error_message)
    select (left(dlq.uuid_floor('2036-01-02')::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'orders', repeat('x', 500)
    from generate_series(1, 4000) n`
  await database.sql`delete from dlq.dlq_messages`
  const [row] = await database.sql`select pg_relation_size('dlq.dlq_messages_2036_01')::int as bytes`
  expect(row!.bytes).toBeGreaterThan(1_048_576)
  expect((await drop('2036-06-01')).months).toContain('dlq_messages_2036_01')
})

test('a message that arrives while its month is being dropped keeps the month', async () => {
  await insertInto('2037-01-01')
  await database.sql`delete from dlq.dlq_messages`
  let dropping: ReturnType<typeof drop> | undefined
  await database.sql.begin(async (sql) => {
    await sql`insert into dlq.dlq_messages (id, original_topic, error_message)
      values (dlq.uuid_floor('2037-01-02'), 'orders', 'late')`
    dropping = drop('2037-06-01')
    // It waits for this transaction, gives up after half a second, and tries again.
    await sql`select pg_sleep(1)`
  })
  expect((await dropping!).months).not.toContain('dlq_messages_2037_01')
  expect(await database.sql`select from dlq.dlq_messages`).toHaveLength(1)
})

test('while the archive is being read, the drop lets others pass between its tries, and is made up for later', async () => {
  await insertArchived('2038-02-01')
  let dropping: ReturnType<typeof drop> | undefined
  await database.sql.begin(async (sql) => {
    await sql`select count(*) from dlq.dlq_messages_archive`
    dropping = drop('2039-06-01')
    // Ingestion looks there for messages that fail again. Behind a drop that waits for this transaction, it would stall.
    for (let n = 0; n < 20; n += 1) {
      await database.sql`select from dlq.dlq_messages_archive where id = gen_random_uuid()`
      await sql`select pg_sleep(0.1)`
    }
  })
  expect((await dropping!).quarters).toContain('2038q1')
  expect(await archivedAt()).toEqual([])
})

test('partitions are created three months ahead; a lead under one month is an error in the log, and a gauge shows it', async () => {
  const errors: string[] = []
  const log = Object.assign(createLog({ service: 'retrier', level: 'silent' }), {
    error: ({ table, months }: { table: string; months: number }, event: string) => {
      errors.push(`${event} ${table} ${months}`)
    },
  })
  const registry = new Registry()
  let now = new Date()
  const watch = createUpkeepWatch({
    ...{ sql: service.sql, log, jobs: [] },
    metrics: createUpkeepMetrics(registry),
    now: () => now,
  })
  const gauges = async () => {
    const { values } = await registry.getSingleMetric('dlq_partition_lead_months')!.get()
    return Object.fromEntries(values.map(({ labels, value }) => [labels.table, value]))
  }
  await watch()
  const { dlq_messages, dlq_messages_archive } = (await gauges()) as Record<string, number>
  expect(dlq_messages).toBeGreaterThanOrEqual(3)
  expect(dlq_messages_archive).toBeGreaterThanOrEqual(3)
  expect(errors).toEqual([])

  now = new Date('2050-11-15')
  await watch()
  expect(await gauges()).toEqual({ dlq_messages: -1, dlq_messages_archive: -1 })
  expect(errors).toEqual(['partitions_run_out dlq_messages -1', 'partitions_run_out dlq_messages_archive -1'])
  expect(await makePartitionsAhead(service.sql, { months: 3, now })).toEqual({ months: 4, quarters: 2 })
  // The quarter of November ends with December, the next one with March.
  expect(await readPartitionLead(service.sql, now)).toEqual({ dlq_messages: 3, dlq_messages_archive: 4 })
})
