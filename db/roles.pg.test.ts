// Each role may do what its purpose needs, and nothing else.
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import type postgres from 'postgres'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { schemaOf } from './schema-of.ts'

const database = useDatabase()

const roles = ['dlq_writer', 'dlq_reader', 'dlq_app', 'dlq_admin', 'dlq_observer'] as const
type Role = (typeof roles)[number]

beforeAll(async () => {
  await database.sql`insert into dlq.dlq_policies (pattern, delivery) values ('pulled', 'pull')`
})
beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages')
})

/** Runs statements as a member of the role, and takes them back. Returns the last one's rows. */
async function as(role: Role, ...statements: string[]): Promise<postgres.Row[]> {
  let rows: postgres.Row[] = []
  await database.sql
    .begin(async (sql) => {
      await sql.unsafe(`set local role ${role}`)
      for (const statement of statements) rows = await sql.unsafe(statement)
      throw new TakeBack()
    })
    .catch((error) => {
      if (!(error instanceof TakeBack)) throw error
    })
  return rows
}

class TakeBack extends Error {}

const deadLetter = `select dlq.dead_letter('pulled', '{}', 'boom', p_retry_after => '0') as id`
const refused = { code: '42501' }

/** Every routine of the schema that the role may call. */
async function callable(role: string): Promise<string[]> {
  const rows = await database.sql<{ name: string }[]>`
    select distinct proname as name from pg_proc
    where pronamespace = 'dlq'::regnamespace and has_function_privilege(${role}, oid, 'execute') order by 1`
  return rows.map(({ name }) => name)
}

/** Every table of the schema with what the role may do to it. */
async function rights(role: string): Promise<string[]> {
  const rows = await database.sql<{ line: string }[]>`
    select relname || ' ' || string_agg(wanted, ' ' order by wanted) as line
    from pg_class cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER', 'REFERENCES']) wanted
    where relnamespace = 'dlq'::regnamespace and relkind in ('r', 'p') and has_table_privilege(${role}, pg_class.oid, wanted)
    group by relname`
  return rows.map(({ line }) => line)
}

const pure = ['new_message_id', 'uuid_floor']

describe('dlq_writer', () => {
  test('may dead-letter', async () => {
    expect(await as('dlq_writer', deadLetter)).toEqual([{ id: expect.any(String) }])
    expect(await callable('dlq_writer')).toEqual(['dead_letter', ...pure])
    expect(await rights('dlq_writer')).toEqual([])
  })

  test.each([
    'select from dlq.dlq_messages',
    `insert into dlq.dlq_messages (original_topic, error_message) values ('orders', 'boom')`,
    `update dlq.dlq_messages set status = 'RESOLVED'`,
    'delete from dlq.dlq_messages',
    'truncate dlq.dlq_messages',
    'copy dlq.dlq_messages to stdout',
    'lock table dlq.dlq_messages in access share mode',
    'select from dlq.dlq_messages_archive',
    'select from dlq.dlq_policies',
    `insert into dlq.dlq_policies (pattern, delivery) values ('*', 'pull')`,
    'select from dlq.dlq_summary_deltas',
    `insert into dlq.dlq_summary_deltas (original_topic, status, change) values ('orders', 'DEAD', 1)`,
    'delete from dlq.dlq_locks',
    `select dlq.claim_messages('pulled')`,
    `select dlq.resolve_messages('{}', gen_random_uuid())`,
    `select dlq.fail_message(gen_random_uuid(), gen_random_uuid(), 'boom')`,
    `select dlq.release_messages('{}', gen_random_uuid())`,
    'select dlq.expire_leases(null, 10)',
    `select dlq.policy_of('pulled')`,
    'select dlq.fold_summary()',
    'select dlq.reconcile_summary()',
    'select dlq.apply_grants()',
    `select dlq.create_message_partition('2055-01-01')`,
    `select dlq.drop_message_partition('dlq.dlq_messages_last')`,
    'call dlq.archive_old_dlq_messages()',
    'create table dlq.mine (n int)',
    `create function dlq.dead_letter(text) returns int language sql as 'select 1'`,
    'drop function dlq.fold_summary',
    'alter table dlq.dlq_messages disable trigger all',
    'set session_replication_role = replica',
  ])('is refused: %s', async (statement) => {
    await expect(as('dlq_writer', statement)).rejects.toThrow(/permission denied|must be (owner|superuser)/)
  })

  test('cannot make the function use tables and operators of its own', async () => {
    const rows = await as(
      'dlq_writer',
      'create temp table dlq_messages (original_topic text)',
      `create function pg_temp.clock_timestamp() returns timestamptz language sql as $$ select '2000-01-01'::timestamptz $$`,
      'set local search_path = pg_temp, dlq, pg_catalog',
      deadLetter,
      'select count(*)::int from pg_temp.dlq_messages',
    )
    expect(rows).toEqual([{ count: 0 }])
  })
})

describe('dlq_app', () => {
  test('may dead-letter, and handle the dead letters of topics whose delivery is "pull"', async () => {
    const claimed = await as('dlq_app', deadLetter, `select id, lease_token from dlq.claim_messages('pulled')`)
    expect(claimed).toHaveLength(1)
    expect(await as('dlq_app', `select dlq.begin_pass('pulled', 'me', '1 minute') as begun`)).toEqual([{ begun: true }])
    expect(await callable('dlq_app')).toEqual(
      [
        ...['begin_pass', 'claim_messages', 'dead_letter', 'end_pass', 'extend_leases', 'extend_pass', 'fail_message'],
        ...[...pure, 'release_messages', 'resolve_messages'],
      ].toSorted(),
    )
    expect(await rights('dlq_app')).toEqual([])
  })

  test('is refused tables, and topics that retriers retry', async () => {
    await expect(as('dlq_app', 'select from dlq.dlq_messages')).rejects.toMatchObject(refused)
    await expect(as('dlq_app', `select dlq.claim_messages('orders')`)).rejects.toMatchObject({ code: '55000' })
  })
})

describe('dlq_reader', () => {
  test('may read every table, and change none', async () => {
    expect(await as('dlq_reader', 'select count(*)::int from dlq.dlq_messages')).toEqual([{ count: 0 }])
    const lines = await rights('dlq_reader')
    const [tables] = await database.sql`
      select count(*)::int from pg_class where relnamespace = 'dlq'::regnamespace and relkind in ('r', 'p')`
    expect(lines).toHaveLength(tables!.count)
    expect(lines.filter((line) => !line.endsWith(' SELECT'))).toEqual([])
    expect(await callable('dlq_reader')).toEqual(
      [...pure, 'record_headers', 'stack_trace', 'whole_headers', 'whole_stack_trace'].toSorted(),
    )
    await expect(as('dlq_reader', 'delete from dlq.dlq_messages')).rejects.toMatchObject(refused)
    await expect(as('dlq_reader', deadLetter)).rejects.toMatchObject(refused)
  })
})

describe('dlq_observer', () => {
  /** What messages hold, and what the retriers need to send them. */
  const unseen = {
    observed_messages: [
      ...[
        'payload',
        'record_key',
        'record_value',
        'record_headers',
        'error_message',
        'error_class',
        'error_stacktrace',
      ],
      // Sizes, schemas and hashes tell of values, keys and errors.
      ...['unstored_value_bytes', 'value_schema', 'decode_state', 'frames_id', 'order_key'],
      ...['lease_token', 'lease_until', 'lease_slot', 'lease_batch'],
    ],
    observed_attempts: ['error', 'failed_again_class', 'failed_again_message'],
  }

  test.each([
    ['observed_messages', 'dlq_messages'],
    ['observed_messages_archive', 'dlq_messages_archive'],
    ['observed_attempts', 'dlq_attempts'],
  ] as const)('sees in %s every column of %s but those with content', async (view, table) => {
    const columnsOf = async (relation: string) =>
      (
        await database.sql<{ name: string }[]>`
          select attname as name from pg_attribute
          where attrelid = ${`dlq.${relation}`}::regclass and attnum > 0 and not attisdropped`
      ).map(({ name }) => name)
    const hidden: string[] = view === 'observed_attempts' ? unseen[view] : unseen.observed_messages
    expect((await columnsOf(view)).toSorted()).toEqual(
      (await columnsOf(table)).filter((column) => !hidden.includes(column)).toSorted(),
    )
    expect(await as('dlq_observer', `select count(*)::int from dlq.${view}`)).toEqual([{ count: expect.any(Number) }])
  })

  test('may read nothing else, and call nothing', async () => {
    expect(await rights('dlq_observer')).toEqual([])
    expect(await callable('dlq_observer')).toEqual(pure)
    for (const statement of [
      'select from dlq.dlq_messages',
      'select from dlq.dlq_reads',
      'delete from dlq.observed_messages',
    ])
      await expect(as('dlq_observer', statement), statement).rejects.toMatchObject(refused)
  })
})

describe('dlq_admin', () => {
  test('may change everything but the schema', async () => {
    expect(await as('dlq_admin', deadLetter, `update dlq.dlq_messages set status = 'DEAD' returning status`)).toEqual([
      { status: 'DEAD' },
    ])
    expect(await as('dlq_admin', deadLetter, 'select dlq.fold_summary() as folded')).toEqual([{ folded: 1 }])
    expect(await as('dlq_admin', 'select dlq.reconcile_summary()::int as drift')).toEqual([{ drift: 0 }])
    expect((await rights('dlq_admin')).filter((line) => !line.endsWith(' DELETE INSERT SELECT UPDATE'))).toEqual([
      'dlq_audit INSERT SELECT',
      'dlq_audit_days SELECT',
      'dlq_reads INSERT SELECT',
    ])
    for (const statement of [
      'create table dlq.mine (n int)',
      'drop table dlq.dlq_messages',
      'truncate dlq.dlq_messages',
    ])
      await expect(as('dlq_admin', statement)).rejects.toMatchObject(refused)
  })
})

test('nobody but the owner makes triggers of the functions that act as the owner: casts to types of theirs would, too', async () => {
  const functions = await database.sql<{ name: string }[]>`
    select oid::regprocedure::text as name from pg_proc
    where pronamespace = 'dlq'::regnamespace and prorettype = 'trigger'::regtype and prosecdef`
  expect(functions.length).toBeGreaterThan(5)
  for (const role of roles)
    for (const { name } of functions) {
      const made = `create trigger mine after truncate on mine execute function ${name}`
      const statements = ['create temp table mine (status text)', made]
      await expect(as(role, ...statements), `${role}: ${name}`).rejects.toThrow('permission denied for function')
    }
})

test('nobody but the owner changes or deletes an entry of the audit', async () => {
  await database.sql`
    insert into dlq.dlq_audit (actor, role, action, target_type, target_id) values ('maria', 'write', 'a', 'message', 'm1')`
  const statements = [
    `update dlq.dlq_audit set actor = 'somebody'`,
    'delete from dlq.dlq_audit',
    'truncate dlq.dlq_audit',
    'select dlq.forget_audit(now(), 1000)',
    'delete from dlq.dlq_audit_days',
    'update dlq.dlq_audit_days set forgotten_at = now()',
    `insert into dlq.dlq_audit_days (day, entries, hash) values ('2020-01-01', 0, '')`,
    'alter table dlq.dlq_audit disable trigger trg_dlq_audit_chain',
    `select dlq.erase_audit(gen_random_uuid(), 'message', '{m1}')`,
    `select dlq.erase_reads(gen_random_uuid(), '{}', '{}')`,
  ]
  for (const role of roles)
    for (const statement of statements)
      await expect(as(role, statement), `${role}: ${statement}`).rejects.toThrow(/permission denied|must be owner/)
  // Who may write entries writes them into the chain.
  const rows = await as(
    'dlq_admin',
    `insert into dlq.dlq_audit (actor, role, action, target_type, target_id) values ('me', 'admin', 'a', 'message', 'm2')`,
    'set constraints all immediate',
    `select chain_number::int from dlq.dlq_audit where target_id = 'm2'`,
  )
  expect(rows).toEqual([{ chain_number: 2 }])
})

test('other roles may do nothing, not even call functions of later migrations', async () => {
  await database.sql.unsafe(`create function dlq.of_later() returns int language sql as 'select 1'`)
  expect(await callable('public')).toEqual(['new_message_id', 'of_later', 'uuid_floor'])
  await database.sql`select dlq.apply_grants()`
  expect(await callable('public')).toEqual(pure)
  await database.sql.unsafe('drop function dlq.of_later()')
})

test('granting again changes nothing', async () => {
  const before = await schemaOf(database.sql)
  await database.sql`select dlq.apply_grants()`
  expect(await schemaOf(database.sql)).toEqual(before)
})

test('every function that runs as its owner has its search path pinned', async () => {
  const rows = await database.sql`
    select proname, proconfig from pg_proc where pronamespace = 'dlq'::regnamespace and prosecdef`
  expect(rows.length).toBeGreaterThan(10)
  for (const { proname, proconfig } of rows) expect(proconfig, proname).toContain('search_path=pg_catalog, pg_temp')
})
