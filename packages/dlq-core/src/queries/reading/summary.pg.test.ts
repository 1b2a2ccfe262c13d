// The parts of the summary one by one. summary-exactness.pg.test.ts tests them together.
import { randomUUID } from 'node:crypto'
import { connectAsService, useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { listCounts } from 'dlq-testing/rows/summary-counts.ts'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { migrateDown, migrateUp, migrationStatus } from '../../../../../db/migrate.ts'
import type { Database } from '../../runtime/database/database.ts'
import { countByConsumer, countByValue, foldSummary, getSummaryState, reconcileSummary } from './summary.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(async () => {
  await service.sql`truncate dlq.dlq_messages, dlq.dlq_summary, dlq.dlq_summary_totals, dlq.dlq_summary_groups, dlq.dlq_summary_deltas`
})

const deltas = () => service.sql`
  select original_topic, status, change::int from dlq.dlq_summary_deltas order by original_topic, status, dlq_summary_deltas.change`
const counts = async (sql: Database = service.sql) =>
  Object.fromEntries((await listCounts(sql)).map((row) => [`${row.original_topic} ${row.status}`, row.count]))
const reconcile = (sql: Database = service.sql) => sql.begin((sql) => reconcileSummary(sql))

async function insertMany(count: number, columns: { original_topic?: string; status?: string } = {}) {
  const { original_topic = 'orders', status = 'PENDING' } = columns
  await service.sql`
    insert into dlq.dlq_messages (original_topic, error_message, status)
    select ${original_topic}, 'processing failed', ${status} from generate_series(1, ${count})`
}

/** Writes as writers without triggers do: a restore, or logical replication. */
async function unseen(work: string) {
  await service.sql.begin(async (sql) => {
    await sql`set local session_replication_role = replica`
    await sql.unsafe(work)
  })
}

describe('the deltas of a statement', () => {
  test('are one line per kind of message, however many messages there are', async () => {
    await insertMany(300)
    await service.sql`update dlq.dlq_messages set status = 'RETRYING'`

    expect([...(await deltas())]).toEqual([
      { original_topic: 'orders', status: 'PENDING', change: -300 },
      { original_topic: 'orders', status: 'PENDING', change: 300 },
      { original_topic: 'orders', status: 'RETRYING', change: 300 },
    ])
    expect(await counts()).toEqual({ 'orders RETRYING': 300 })
  })

  test('are none where no count changes', async () => {
    await insertMany(3)
    await service.sql`update dlq.dlq_messages set next_retry_at = now(), lease_token = gen_random_uuid(), retry_count = 1`
    await service.sql`update dlq.dlq_messages set status = 'DEAD' where false`
    expect(await deltas()).toHaveLength(1)
  })

  test('are rolled back with the statement', async () => {
    await service.sql
      .begin(async (sql) => {
        await sql`insert into dlq.dlq_messages (original_topic, error_message) values ('orders', 'taken back')`
        throw new Error('take back')
      })
      .catch(() => {})
    expect(await deltas()).toEqual([])
  })

  test('keep messages apart that differ in one unknown', async () => {
    const group_id = randomUUID()
    for (const columns of [{}, { dlq_topic: 'a' }, { consumer_group: 'a' }, { group_id }, { dlq_topic: 'a', group_id }])
      await insertMessageRow(database.sql, columns)
    await foldSummary(service.sql, { limit: 100 })
    await insertMessageRow(database.sql, {})
    await foldSummary(service.sql, { limit: 100 })

    expect((await listCounts(service.sql)).map(({ count }) => count).toSorted()).toEqual([1, 1, 1, 1, 2])
  })

  test('need no rights to the counts', async () => {
    const role = `counts_${randomUUID().replaceAll('-', '')}`
    await database.sql.unsafe(`create role ${role}`)
    try {
      await database.sql.unsafe(`grant usage on schema dlq to ${role}; grant insert on dlq.dlq_messages to ${role}`)
      await database.sql.begin(async (sql) => {
        await sql.unsafe(`set local role ${role}`)
        await sql`insert into dlq.dlq_messages (original_topic, error_message) values ('orders', 'of a stranger')`
      })
      expect(await counts()).toEqual({ 'orders PENDING': 1 })
    } finally {
      await database.sql.unsafe(`drop owned by ${role}; drop role ${role}`)
    }
  })
})

describe('a partition', () => {
  const month = 'dlq.dlq_messages_2033_05'
  // The overflow partition begins behind that month.
  beforeAll(async () => {
    await database.sql`select dlq.create_message_partitions(0, '2034-01-01')`
  })
  beforeEach(async () => {
    await service.sql`select dlq.create_message_partition('2033-05-05')`
    await service.sql`
      insert into dlq.dlq_messages (id, original_topic, error_message)
      select (left(dlq.uuid_floor('2033-05-05')::text, 13) || right(gen_random_uuid()::text, 23))::uuid, 'later', 'failed'
      from generate_series(1, 5)`
    await insertMany(2)
  })
  afterEach(async () => {
    await service.sql.unsafe(`drop table if exists ${month}`)
  })

  test('that was created later counts changes that name the partition itself', async () => {
    await service.sql.unsafe(`update ${month} set status = 'DEAD'`)
    await service.sql.unsafe(`delete from ${month} where id in (select id from ${month} limit 2)`)
    expect(await counts()).toEqual({ 'later DEAD': 3, 'orders PENDING': 2 })
    await service.sql.unsafe(`truncate ${month}`)
    expect(await counts()).toEqual({ 'orders PENDING': 2 })
  })

  test('that is dropped subtracts its messages from the counts and deletes their edits, unless that is rolled back', async () => {
    await service.sql`
      insert into dlq.dlq_message_edits (message_id, number, actor, fields)
      select id, 1, 'maria', '{value}'::text[] from dlq.dlq_messages`
    const drop = (sql: { unsafe: Database['unsafe'] }) =>
      sql.unsafe(`select dlq.drop_message_partition('${month}') as dropped`)
    await service.sql
      .begin(async (sql) => {
        await drop(sql)
        throw new Error('take back')
      })
      .catch(() => {})
    expect(await counts()).toEqual({ 'later PENDING': 5, 'orders PENDING': 2 })

    expect([...(await drop(service.sql))]).toEqual([{ dropped: 5n }])
    expect(await counts()).toEqual({ 'orders PENDING': 2 })
    expect(await service.sql`delete from dlq.dlq_message_edits returning 1`).toHaveLength(2)
  })

  test('is dropped only where a statement sees all of its rows, and only if it is a partition', async () => {
    await expect(
      service.sql.begin('isolation level repeatable read', (sql) =>
        sql.unsafe(`select dlq.drop_message_partition('${month}')`),
      ),
    ).rejects.toThrow('needs the isolation level read committed')
    await expect(
      service.sql.begin('isolation level repeatable read', (sql) => sql.unsafe(`truncate ${month}`)),
    ).rejects.toThrow('needs the isolation level read committed')
    await expect(service.sql`select dlq.drop_message_partition('dlq.dlq_messages_archive_first')`).rejects.toThrow(
      'dlq.dlq_messages_archive_first is no partition of dlq.dlq_messages',
    )
    expect(await counts()).toEqual({ 'later PENDING': 5, 'orders PENDING': 2 })
  })
})

describe('folding', () => {
  test('takes at most its limit of deltas at a time, and changes no count', async () => {
    for (const topic of ['a', 'b', 'c', 'a', 'a']) await insertMany(2, { original_topic: topic })
    const before = await counts()

    expect([await foldSummary(service.sql, { limit: 3 }), await counts()]).toEqual([3, before])
    expect([await foldSummary(service.sql, { limit: 3 }), await counts()]).toEqual([2, before])
    expect([await foldSummary(service.sql, { limit: 3 }), await counts()]).toEqual([0, before])
    expect(before).toEqual({ 'a PENDING': 6, 'b PENDING': 2, 'c PENDING': 2 })
  })

  test('is done by one process at a time: a second one is told so at once', async () => {
    await insertMany(2)
    await service.sql.begin(async (first) => {
      expect(await foldSummary(first, { limit: 10 })).toBe(1)
      // It releases the lock, but no other transaction sees that before it ends.
      expect(await foldSummary(service.sql, { limit: 10 })).toBeNull()
      expect(await reconcile()).toBeNull()
    })
    expect(await foldSummary(service.sql, { limit: 10 })).toBe(0)
  })

  test('waits for the row that somebody put there, until its time is over', async () => {
    await service.sql`select dlq.try_lock('dlq-summary-updater', 'maintenance', '1 hour')`
    expect(await foldSummary(service.sql, { limit: 10 })).toBeNull()
    await service.sql`update dlq.dlq_locks set locked_until = now() - interval '1 s'`
    expect(await foldSummary(service.sql, { limit: 10 })).toBe(0)
    expect([...(await service.sql`select from dlq.dlq_locks`)]).toEqual([])
  })

  test('by less than one delta is refused', async () => {
    await expect(foldSummary(service.sql, { limit: 0 })).rejects.toThrow('p_limit must be at least 1')
  })
})

describe('the full count', () => {
  test('finds no drift, whatever is folded', async () => {
    await insertMany(5)
    await foldSummary(service.sql, { limit: 10 })
    await service.sql`update dlq.dlq_messages set status = 'DEAD' where id in (select id from dlq.dlq_messages limit 2)`
    expect(await reconcile()).toBe(0)
  })

  test('finds changes without triggers, stores the drift, and corrects the counts', async () => {
    await insertMany(5)
    await unseen(
      `delete from dlq.dlq_messages; insert into dlq.dlq_messages (original_topic, error_message) values ('payments', 'unseen')`,
    )
    expect(await counts()).toEqual({ 'orders PENDING': 5 })

    expect(await reconcile()).toBe(6)
    expect(await getSummaryState(service.sql)).toMatchObject({ drift: 6 })
    expect(await counts()).toEqual({ 'payments PENDING': 1 })
    expect(await reconcile()).toBe(0)
  })

  test('finds and corrects totals that differ from the counts by error group', async () => {
    await insertMany(5)
    await foldSummary(service.sql, { limit: 10 })
    await service.sql`update dlq.dlq_summary_totals set count = 7`
    const countTotal = async () => (await countByConsumer(service.sql, { scope: null, limit: 10 })).counts[0]!.PENDING
    expect([await countTotal(), await counts()]).toEqual([7, { 'orders PENDING': 5 }])

    expect(await reconcile()).toBe(2)
    expect(await countTotal()).toBe(5)
    expect(await reconcile()).toBe(0)
  })

  test('finds and corrects counts of error groups that differ from those by topic', async () => {
    const group_id = randomUUID()
    for (const status of ['DEAD', 'DEAD', 'PENDING']) await insertMessageRow(database.sql, { group_id, status })
    await foldSummary(service.sql, { limit: 10 })
    const countGroup = async () =>
      (await countByValue(service.sql, { column: 'group_id', values: [group_id], scope: null })).get(group_id)
    const right = { PENDING: 1, RETRYING: 0, RESOLVED: 0, DEAD: 2 }
    expect(await countGroup()).toEqual(right)
    await service.sql`update dlq.dlq_summary_groups set dead = 7, retrying = 1`
    expect(await countGroup()).toEqual({ ...right, DEAD: 7, RETRYING: 1 })

    expect(await reconcile()).toBe(6)
    expect(await countGroup()).toEqual(right)
    await service.sql`delete from dlq.dlq_summary_groups`
    expect(await reconcile()).toBe(3)
    expect(await countGroup()).toEqual(right)
    expect(await reconcile()).toBe(0)
  })

  test('changes nothing where it is told to only look', async () => {
    await insertMany(5)
    await unseen('delete from dlq.dlq_messages')
    const [row] = await service.sql`select dlq.reconcile_summary(p_repair := false)::int as drift`
    expect([row!.drift, await counts()]).toEqual([5, { 'orders PENDING': 5 }])
  })

  test('deletes counts that have been 0 for a day', async () => {
    await insertMessageRow(database.sql, { group_id: randomUUID() })
    await foldSummary(service.sql, { limit: 10 })
    await service.sql`delete from dlq.dlq_messages`
    await foldSummary(service.sql, { limit: 10 })
    await reconcile()
    const tables = ['dlq_summary', 'dlq_summary_totals', 'dlq_summary_groups']
    const linesLeft = () =>
      Promise.all(tables.map(async (table) => (await service.sql`select from dlq.${service.sql(table)}`).length))
    expect(await linesLeft()).toEqual([1, 1, 1])
    for (const table of tables)
      await service.sql`update dlq.${service.sql(table)} set updated_at = now() - interval '25 hours'`
    await reconcile()
    expect(await linesLeft()).toEqual([0, 0, 0])
  })
})

describe('a table that held messages before', () => {
  const old = useDatabase({ empty: true })

  test('is counted once, while others write and fold, and is exact from then on', async () => {
    await migrateUp({ databaseUrl: old.url })
    const status = await migrationStatus({ databaseUrl: old.url })
    const dlq = status.filter(({ set }) => set === 'dlq').map(({ name }) => name)
    await migrateDown({ databaseUrl: old.url, set: 'dlq', count: dlq.length - dlq.indexOf('013_create_dlq_summary') })
    await old.sql`insert into dlq.dlq_messages (original_topic, error_message) select 'orders', 'old' from generate_series(1, 2000)`
    await migrateUp({ databaseUrl: old.url })

    const sql = connectAsService(old.url)
    try {
      expect(await getSummaryState(sql)).toMatchObject({ counted_at: null })
      let counted = false
      const write = async (status: string) => {
        for (let n = 0; !counted || n < 20; n += 1) {
          await sql`update dlq.dlq_messages set status = ${status} where id in (select id from dlq.dlq_messages order by random() limit 5 for update skip locked)`
          await sql`insert into dlq.dlq_messages (original_topic, error_message) values ('orders', 'new')`
          await foldSummary(sql, { limit: 7 })
        }
      }
      const writing = ['DEAD', 'RESOLVED', 'PENDING'].map(write)
      let drift: number | null = null
      while (drift === null) drift = await sql.begin((sql) => reconcileSummary(sql))
      counted = true
      await Promise.all(writing)

      expect(drift).toBe(0)
      expect((await getSummaryState(sql)).counted_at).toBeInstanceOf(Date)
      const rows = await sql`select status, count(*)::int from dlq.dlq_messages group by status`
      expect(await counts(sql)).toEqual(
        Object.fromEntries(rows.map(({ status, count }) => [`orders ${status}`, count])),
      )
      expect(await sql.begin((sql) => reconcileSummary(sql))).toBe(0)
    } finally {
      await sql.end({ timeout: 5 })
    }
  })
})

describe('messages that were counted before error groups had counts of their own', () => {
  const old = useDatabase()

  test('are counted by group from then on, folded or not, while another process folds', async () => {
    const group_id = randomUUID()
    const another = randomUUID()
    const status = await migrationStatus({ databaseUrl: old.url })
    const dlq = status.filter(({ set }) => set === 'dlq').map(({ name }) => name)
    await migrateDown({ databaseUrl: old.url, set: 'dlq', count: dlq.length - dlq.indexOf('045_count_groups') })
    await insertMessageRow(old.sql, { group_id, dlq_topic: 'a' })
    await insertMessageRow(old.sql, { group_id, dlq_topic: 'b', status: 'DEAD' })
    await old.sql`select dlq.fold_summary()`
    await insertMessageRow(old.sql, { group_id: another })

    const sql = connectAsService(old.url)
    try {
      // It has taken away deltas that the migration must wait for.
      const folding = await sql.reserve()
      await folding`begin`
      expect(await foldSummary(folding, { limit: 10 })).toBe(1)
      const migrating = migrateUp({ databaseUrl: old.url })
      const waiting = () =>
        old.sql`select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
      await expect.poll(async () => (await waiting()).length, { timeout: 30_000 }).toBe(1)
      await folding`commit`
      folding.release()
      expect(await migrating).toContain('dlq/045_count_groups')

      const count = async () =>
        [
          ...(await countByValue(sql, { column: 'group_id', values: [group_id, another], scope: null })).entries(),
        ].toSorted()
      const counted = [
        [group_id, { PENDING: 1, RETRYING: 0, RESOLVED: 0, DEAD: 1 }],
        [another, { PENDING: 1, RETRYING: 0, RESOLVED: 0, DEAD: 0 }],
      ].toSorted()
      expect(await count()).toEqual(counted)
      await insertMessageRow(old.sql, { group_id: another, status: 'DEAD' })
      // Kept for a second: a fold that began before the migration ended would not know of the groups.
      expect([...(await sql`select locked_by from dlq.dlq_locks`)]).toEqual([{ locked_by: 'migration 045' }])
      await expect.poll(() => foldSummary(sql, { limit: 10 }), { timeout: 30_000 }).toBe(1)
      expect(new Map((await count()) as [string, object][]).get(another)).toMatchObject({ PENDING: 1, DEAD: 1 })
      expect(await sql.begin((sql) => reconcileSummary(sql))).toBe(0)
    } finally {
      await sql.end({ timeout: 5 })
    }
  })
})
