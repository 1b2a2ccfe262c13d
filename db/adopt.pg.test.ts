// A database that the specification's own migrations made becomes ours, with its rows.
import { randomUUID } from 'node:crypto'
import { type TestDatabase, useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { adopt, migrateDown, migrateUp, migrationStatus } from './migrate.ts'
import { schemaOf } from './schema-of.ts'
import { specifiedDlq, specifiedSaga } from './test-specified-schema.ts'

const ours = useDatabase()
const database = useDatabase({ empty: true })
const options = () => ({ databaseUrl: database.url })

beforeEach(async () => {
  await database.sql.unsafe(
    'drop schema if exists dlq cascade; drop schema if exists saga cascade; drop schema if exists graphile_worker cascade; drop schema if exists migrations cascade',
  )
})

const messageColumns = `id, original_topic, error_message, retry_count, max_retries, payload, status, created_at, updated_at, last_retry_at`
const messagesIn = ({ sql }: TestDatabase, table: string) =>
  sql.unsafe(`select ${messageColumns} from dlq.${table} order by id`)

/** Messages in each status, with random ids, old and new; some archived. */
async function fillDlq({ sql }: TestDatabase): Promise<void> {
  await sql.unsafe(specifiedDlq)
  await sql`
    insert into dlq.dlq_messages (original_topic, error_message, retry_count, payload, status, created_at, updated_at, last_retry_at)
    select 'orders.events.v1', 'failed ' || n, n % 4, json_build_object('n', n)::jsonb,
           (array['PENDING', 'RETRYING', 'RESOLVED', 'DEAD'])[1 + n % 4],
           now() - n * interval '1 day', now() - n * interval '1 hour', case when n % 4 > 0 then now() - n * interval '1 hour' end
    from generate_series(1, 400) n`
  await sql`insert into dlq.dlq_messages_archive select * from dlq.dlq_messages where status = 'RESOLVED'`
  await sql`delete from dlq.dlq_messages where status = 'RESOLVED'`
}

async function fillSagas({ sql }: TestDatabase): Promise<string> {
  await sql.unsafe(specifiedSaga)
  const id = randomUUID()
  await sql`insert into saga.saga_states (id, workflow_name, status, payload) values (${id}, 'refund', 'COMPENSATING', '{"a": 1}')`
  await sql`insert into saga.saga_step_logs (saga_id, step_index, step_name, action, status) values (${id}, 0, 'pay', 'EXECUTE', 'FAILED')`
  return id
}

describe('adopting', () => {
  test('keeps every row of the DLQ and of the sagas, and makes our schema', async () => {
    await fillDlq(database)
    const sagaId = await fillSagas(database)
    const before = [await messagesIn(database, 'dlq_messages'), await messagesIn(database, 'dlq_messages_archive')]
    const [states, logs] = [
      await database.sql`select * from saga.saga_states`,
      await database.sql`select * from saga.saga_step_logs`,
    ]

    expect(await adopt(options())).toEqual({
      'dlq.dlq_messages': 300,
      'dlq.dlq_messages_archive': 100,
      'saga.saga_states': 1,
      'saga.saga_step_logs': 1,
    })
    expect([await messagesIn(database, 'dlq_messages'), await messagesIn(database, 'dlq_messages_archive')]).toEqual(
      before,
    )
    expect([...(await database.sql`select * from saga.saga_states`)]).toEqual([...states])
    expect([...(await database.sql`select * from saga.saga_step_logs where saga_id = ${sagaId}`)]).toEqual([...logs])
    expect(await schemaOf(database.sql)).toEqual(await schemaOf(ours.sql))
    expect((await migrationStatus(options())).filter(({ appliedAt }) => appliedAt === null)).toEqual([])
    const [left] = await database.sql`select count(*)::int from pg_namespace where nspname like '%adoption%'`
    expect(left!.count).toBe(0)
    expect(await adopt(options())).toEqual({})
  })

  test('gives waiting messages the schedule of their policy, and counts all of them', async () => {
    await fillDlq(database)
    await adopt(options())
    const rows = await database.sql`
      select status, next_retry_at is not null as scheduled, count(*)::int from dlq.dlq_messages group by 1, 2 order by 1, 2`
    expect([...rows]).toEqual([
      { status: 'DEAD', scheduled: false, count: 100 },
      { status: 'PENDING', scheduled: true, count: 100 },
      { status: 'RETRYING', scheduled: true, count: 100 },
    ])
    const [drift] = await database.sql`select dlq.reconcile_summary()::int as drift`
    expect(drift!.drift).toBe(0)
  })

  test('goes on where it was interrupted', async () => {
    await fillDlq(database)
    await database.sql`alter schema dlq rename to dlq_before_adoption`
    await migrateUp({ ...options(), only: { set: 'dlq', count: 5 } })
    expect(await adopt(options())).toMatchObject({ 'dlq.dlq_messages': 300, 'dlq.dlq_messages_archive': 100 })
  })

  test('refuses a table with columns of its own, and what else stands in the schema, and loses nothing', async () => {
    await fillDlq(database)
    await database.sql`alter table dlq.dlq_messages add column ticket text`
    await expect(adopt(options())).rejects.toThrow(
      /dlq_messages has columns that the specification does not have: ticket/,
    )
    await database.sql`alter table dlq.dlq_messages drop column ticket`

    await database.sql`create view dlq.open_messages as select id from dlq.dlq_messages where status = 'PENDING'`
    await expect(adopt(options())).rejects.toThrow(/open_messages|depend/)
    const [rows] = await database.sql`select count(*)::int from dlq_before_adoption.dlq_messages`
    expect(rows!.count).toBe(300)
    await database.sql`drop view dlq_before_adoption.open_messages`
    expect(await adopt(options())).toMatchObject({ 'dlq.dlq_messages': 300 })
  })

  test('leaves our own database, and an empty one, as they are', async () => {
    expect(await adopt(options())).toEqual({})
    await migrateUp(options())
    expect(await adopt(options())).toEqual({})
  })
})

describe('the archive’s procedure', () => {
  test.each([3, 4, 8, 11])('works after %i migrations, upward and downward', async (count) => {
    for (const way of ['up', 'down'] as const) {
      if (way === 'up') await migrateUp({ ...options(), only: { set: 'dlq', count } })
      else {
        await migrateUp(options())
        const all = (await migrationStatus(options())).filter(({ set }) => set === 'dlq').length
        await migrateDown({ ...options(), set: 'dlq', count: all - count })
      }
      await database.sql`
        insert into dlq.dlq_messages (original_topic, error_message, status, updated_at)
        select 'orders', 'failed', (array['DEAD', 'PENDING'])[1 + n % 2], now() - interval '31 days' from generate_series(1, 6) n`
      await database.sql.unsafe('call dlq.archive_old_dlq_messages(30, 2)')
      const [rows] = await database.sql`
        select (select count(*)::int from dlq.dlq_messages) as left, (select count(*)::int from dlq.dlq_messages_archive) as archived`
      expect(rows, way).toEqual({ left: 3, archived: 3 })
      await database.sql`truncate dlq.dlq_messages, dlq.dlq_messages_archive`
    }
    await migrateUp(options())
    expect(await schemaOf(database.sql)).toEqual(await schemaOf(ours.sql))
  })

  test('works as dlq_admin where the quarter’s partition is missing', async () => {
    await migrateUp(options())
    const [next] = await database.sql`
      select 'dlq_messages_archive_' || to_char(date_trunc('quarter', now() at time zone 'UTC') + interval '3 months', 'YYYY"q"Q') as name`
    await database.sql.unsafe(`drop table dlq.${next!.name}`)
    await using admin = await database.sql
      .reserve()
      .then((sql) => Object.assign(sql, { [Symbol.asyncDispose]: async () => sql.release() }))
    await admin.unsafe('set role dlq_admin')
    await admin.unsafe('call dlq.archive_old_dlq_messages()')
    await admin.unsafe('reset role')
    const [made] = await database.sql`select to_regclass(${`dlq.${next!.name}`}) is not null as there`
    expect(made!.there).toBe(true)
  })
})
