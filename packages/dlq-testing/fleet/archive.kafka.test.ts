// The archive under load: two archivers at once, retriers that publish, dead letters that come in and come back. The
// specification's own procedure runs on the same rows to show what it loses.
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { expect, test, vi } from 'vitest'
import { eventually } from '../src/eventually.ts'
import { type TestFleet, useFleet } from '../src/fleet/test-fleet.ts'
import { insertDueRows } from '../src/rows/due-rows.ts'

const isFull = process.env.DLQ_SOAK === '1'
const settled = isFull ? 500_000 : 12_000
const due = isFull ? 20_000 : 800
const patient = { timeout: isFull ? 30 * 60_000 : 90_000, interval: 250 }

const fleet = useFleet('archive', { env: { DLQ_CRON_ARCHIVE: 'off' } })
const { database } = fleet

/** Half RESOLVED, half DEAD, unchanged for 31 days, of two topics without producers. */
async function insertSettled(table: string): Promise<void> {
  await database.sql.unsafe(`
    insert into ${table} (original_topic, error_message, status, updated_at)
    select 'settled-' || n % 2, 'failed ' || n, (array['RESOLVED', 'DEAD'])[1 + n % 2], now() - interval '31 days'
    from generate_series(1, ${settled}) n`)
}

/** The same as an ingester stores it, with an error group. Without one, a retrier would assign it and change the message. */
async function insertGrouped(): Promise<void> {
  await database.sql`alter table dlq.dlq_messages alter column group_id set default gen_random_uuid()`
  await insertSettled('dlq.dlq_messages')
  await database.sql`alter table dlq.dlq_messages alter column group_id drop default`
}

/** Runs a procedure on a separate connection. */
async function call(statement: string): Promise<string> {
  let notice = ''
  const sql = postgres(database.url, {
    max: 1,
    onnotice: ({ message }) => {
      notice = message ?? ''
    },
  })
  try {
    await sql.unsafe(statement)
    return notice
  } catch (error) {
    return (error as Error).message
  } finally {
    await sql.end()
  }
}

/** Reopens settled messages and holds them locked for a moment, as the ingester does when one fails again. */
async function touchUntil(
  table: string,
  { ids, done }: { ids: readonly string[]; done: () => boolean },
): Promise<number> {
  let touched = 0
  while (!done()) {
    const some = Array.from({ length: 20 }, () => ids[Math.floor(Math.random() * ids.length)]!)
    await database.sql.begin(async (sql) => {
      const rows = await sql`
        update ${sql(table)} set status = 'RETRYING', updated_at = now()
        where id = any(array(
          select id from ${sql(table)} where id = any(${some}::uuid[]) and status in ('RESOLVED', 'DEAD') for update skip locked))
        returning id`
      touched += rows.length
      await sql`select pg_sleep(0.01)`
    })
  }
  return touched
}

/** How long single inserts take meanwhile, at most. */
async function worstInsertUntil(done: () => boolean): Promise<number> {
  let worstMs = 0
  while (!done()) {
    const startedAt = performance.now()
    await database.sql`insert into dlq.dlq_messages (original_topic, error_message) values ('probe', 'failed')`
    worstMs = Math.max(worstMs, performance.now() - startedAt)
    await sleep(5)
  }
  return worstMs
}

test('two archivers among retriers lose and double nothing, where the specification’s procedure does', async () => {
  const lost = await runSpecification()
  const { worstMs, archived } = await runOurs(fleet)
  console.log(
    `archived ${archived}; longest insert ${Math.round(worstMs)} ms; the specification's procedure: ${JSON.stringify(lost)}`,
  )
  expect(lost.lost + lost.doubled).toBeGreaterThan(0)
  if (isFull) expect(worstMs).toBeLessThan(1000)
})

async function runOurs({ services, original, topics }: TestFleet) {
  await services.startAll()
  const second = await services.start('retrier', 'second')
  await second.ready()
  await insertGrouped()
  const before = await idsIn('dlq.dlq_messages')
  await insertDueRows(database.sql, { count: due, topics: [original] })

  let isDone = false
  const done = () => isDone
  const meanwhile = Promise.all([touchUntil('dlq.dlq_messages', { ids: before, done }), worstInsertUntil(done)])
  const ends = await Promise.all([1, 2].map(() => call('call dlq.archive_old_dlq_messages()')))
  isDone = true
  const [touched, worstMs] = await meanwhile
  await vi.waitFor(async () => {
    const [row] = await database.sql`
      select count(*)::int as waiting from dlq.dlq_messages where original_topic = ${original} and status <> 'RESOLVED'`
    expect(row).toEqual({ waiting: 0 })
  }, patient)

  for (const end of ends) expect(end).toMatch(/^Archived/)
  const here = await idsIn('dlq.dlq_messages')
  const archived = await idsIn('dlq.dlq_messages_archive')
  expect([...here, ...archived].toSorted()).toEqual(before)
  expect(here.length).toBe(touched)
  // What the retriers sent meanwhile went out once each.
  await topics.admin.fetchTopicOffsets(original).then((partitions) => {
    expect(partitions.reduce((sum, { offset, low }) => sum + Number(offset) - Number(low), 0)).toBeGreaterThanOrEqual(
      due,
    )
  })
  return { worstMs, archived: archived.length }
}

const idsIn = async (table: string) =>
  (
    await database.sql.unsafe<{ id: string }[]>(
      `select id from ${table} where original_topic like 'settled-%' order by id`,
    )
  ).map(({ id }) => id)

/** The specification's tables and procedure in a schema of their own, with the same rows and the same disturbance. */
async function runSpecification(): Promise<{ lost: number; doubled: number; errors: string[] }> {
  await database.sql.unsafe(specification)
  await insertSettled('spec.dlq_messages')
  const ids = await idsIn('spec.dlq_messages')
  let isDone = false
  const touching = touchUntil('spec.dlq_messages', { ids, done: () => isDone })
  const ends = await whileOneIsLocked(() => Promise.all([1, 2].map(() => call('call spec.archive_old_dlq_messages()'))))
  isDone = true
  await touching
  const [row] = await database.sql<[{ stays: number; archived: number; different: number }]>`
    select (select count(*)::int from spec.dlq_messages) as stays,
           (select count(*)::int from spec.dlq_messages_archive) as archived,
           (select count(distinct id)::int from (
              select id from spec.dlq_messages union all select id from spec.dlq_messages_archive) everywhere) as different`
  return {
    lost: settled - row.different,
    doubled: row.stays + row.archived - row.different,
    errors: ends.filter((end) => !end.startsWith('Archived')),
  }
}

/** Holds the first message locked until an archiver waits for it: its copy has passed over it, its deletion has not. */
async function whileOneIsLocked<T>(archive: () => Promise<T>): Promise<T> {
  const { archiving } = await database.sql.begin(async (sql) => {
    await sql`select id from spec.dlq_messages order by ctid limit 1 for update`
    const archiving = archive()
    await eventually(async () => {
      const [row] = await database.sql`
        select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like 'call spec.%'`
      expect(row!.waiting).toBeGreaterThan(0)
    })
    // An async function would await a returned promise, and with it the lock.
    return { archiving }
  })
  return archiving
}

// As in the specification, except for the schema's name and the archive's key. With that key the procedure would fail
// at the first message that it archives twice.
const specification = `
  create schema spec;
  create table spec.dlq_messages (
      id uuid primary key default gen_random_uuid(), original_topic varchar(255) not null, error_message text not null,
      retry_count int not null default 0, max_retries int not null default 3, payload jsonb,
      status varchar(50) not null default 'PENDING', created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(), last_retry_at timestamptz);
  create index on spec.dlq_messages (status);
  create table spec.dlq_messages_archive (like spec.dlq_messages);
  create procedure spec.archive_old_dlq_messages(p_retention_days int default 30, p_batch_size int default 1000)
  language plpgsql as $$
  declare
      v_cutoff timestamptz;
      v_archived_count int := 0;
      v_batch_count int;
  begin
      v_cutoff := now() - (p_retention_days || ' days')::interval;
      loop
          with to_archive as (
              select id from spec.dlq_messages
              where status in ('RESOLVED', 'DEAD') and updated_at < v_cutoff
              limit p_batch_size for update skip locked
          ),
          archived as (
              insert into spec.dlq_messages_archive
              select m.* from spec.dlq_messages m inner join to_archive ta on m.id = ta.id
              returning 1
          )
          select count(*) into v_batch_count from archived;
          delete from spec.dlq_messages
          where id in (
              select id from spec.dlq_messages
              where status in ('RESOLVED', 'DEAD') and updated_at < v_cutoff
              limit p_batch_size
          );
          v_archived_count := v_archived_count + v_batch_count;
          exit when v_batch_count = 0;
          commit;
      end loop;
      raise notice 'Archived % DLQ messages older than % days', v_archived_count, p_retention_days;
  end;
  $$;`
