// dlq_sql_grants: logins of applications that may use some topics only.
import { randomBytes } from 'node:crypto'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

const database = useDatabase()
// Roles belong to all databases of the server.
const name = (base: string) => `${base}_${suffix}`
const suffix = randomBytes(4).toString('hex')
const [team, orders, other] = [name('team'), name('orders_service'), name('other_service')]
const logins = new Map<string, postgres.Sql>()

beforeAll(async () => {
  await database.sql.unsafe(`
    insert into dlq.dlq_policies (pattern, delivery) values ('*', 'pull');
    create role ${team} nologin;
    create role ${orders} login password 'secret' in role dlq_app, ${team};
    create role ${other} login password 'secret' in role dlq_app`)
  for (const login of [orders, other]) {
    const url = new URL(database.url)
    url.username = login
    url.password = 'secret'
    logins.set(login, postgres(url.href, { max: 1, onnotice: () => {} }))
  }
})

afterAll(async () => {
  for (const sql of logins.values()) await sql.end()
  await database.sql.unsafe(`drop role if exists ${orders}, ${other}, ${team}`)
})

beforeEach(() =>
  database.sql.unsafe('delete from dlq.dlq_sql_grants; delete from dlq.dlq_attempts; delete from dlq.dlq_messages'),
)

const as = (login: string, statement: string) => logins.get(login)!.unsafe(statement)
const grant = (role: string, verb: string, glob: string) =>
  database.sql`insert into dlq.dlq_sql_grants (role_name, verb, topic_glob) values (${role}, ${verb}, ${glob})`
const deadLetter = (topic: string) => `select dlq.dead_letter('${topic}', '{}', 'boom', p_retry_after => '0') as id`
const claim = (topic: string) => `select id, lease_token from dlq.claim_messages('${topic}')`
const refused = (message: string) => ({ code: '42501', message: expect.stringContaining(message) })

test('a login that no row names may use every topic, as do those whose rows name somebody else', async () => {
  await grant(orders, 'dead_letter', 'orders.*')
  await as(other, deadLetter('payments'))
  expect(await as(other, claim('payments'))).toHaveLength(1)
})

test('a row limits the login to what rows say: topics, and verbs', async () => {
  await grant(orders, 'dead_letter', 'orders.*')
  await as(orders, deadLetter('orders.created'))
  await expect(as(orders, deadLetter('payments'))).rejects.toMatchObject(
    refused(`${orders} may not dead-letter for topic payments: no row of dlq.dlq_sql_grants says so`),
  )
  await expect(as(orders, claim('orders.created'))).rejects.toMatchObject(refused('may not pull topic orders.created'))
  await grant(orders, 'pull', 'orders.creat?d')
  expect(await as(orders, claim('orders.created'))).toHaveLength(1)
})

test('a row for a role counts for its members, whichever role they act as', async () => {
  await grant(team, 'dead_letter', 'orders.*')
  await expect(as(orders, deadLetter('payments'))).rejects.toMatchObject(refused('payments'))
  await expect(as(orders, `set role dlq_app; ${deadLetter('payments')}`)).rejects.toMatchObject(refused('payments'))
  await as(orders, `reset role; ${deadLetter('orders.created')}`)
})

test('wildcards are those of globs, and nothing else in a pattern is one', async () => {
  await grant(orders, 'dead_letter', 'a_b%')
  await as(orders, deadLetter('a_b%'))
  for (const topic of ['axb%', 'a_bc'])
    await expect(as(orders, deadLetter(topic))).rejects.toMatchObject(refused(topic))
})

describe('every function that names a topic or a leased message', () => {
  const ids = (id: string) => `array['${id}']::uuid[]`
  test.each<[name: string, call: (id: string, token: string) => string]>([
    ['dead_letter', () => deadLetter('payments')],
    ['claim_messages', () => claim('payments')],
    ['resolve_messages', (id, token) => `select dlq.resolve_messages(${ids(id)}, '${token}')`],
    ['fail_message', (id, token) => `select dlq.fail_message('${id}', '${token}', 'boom')`],
    ['release_messages', (id, token) => `select dlq.release_messages(${ids(id)}, '${token}')`],
    ['extend_leases', (id, token) => `select dlq.extend_leases(${ids(id)}, '${token}', '1 minute')`],
    ['begin_pass', () => `select dlq.begin_pass('payments', 'me', '1 minute')`],
    ['extend_pass', () => `select dlq.extend_pass('payments', 'me', '1 minute')`],
    ['end_pass', () => `select dlq.end_pass('payments', 'me')`],
  ])('%s refuses what another team owns, also with its lease', async (_name, call) => {
    await as(other, deadLetter('payments'))
    const [leased] = await as(other, claim('payments'))
    await grant(orders, 'dead_letter', 'orders.*')
    await grant(orders, 'pull', 'orders.*')
    const statement = call(leased!.id, leased!.lease_token)
    await expect(as(orders, statement)).rejects.toMatchObject(refused('payments'))
    // Whom no row limits may do the same: the statement itself is right.
    await as(other, statement)
  })

  test('is in the list above', async () => {
    const rows = await database.sql`
      select proname as name from pg_proc p
      where pronamespace = 'dlq'::regnamespace and has_function_privilege('dlq_app', oid, 'execute') and prosecdef order by 1`
    expect(rows.map(({ name }) => name)).toEqual(
      ['dead_letter', 'claim_messages', 'resolve_messages', 'fail_message', 'release_messages', 'extend_leases']
        .concat(['begin_pass', 'extend_pass', 'end_pass'])
        .toSorted(),
    )
  })
})

test('a grant taken back counts at once, also for what was claimed before', async () => {
  await as(orders, deadLetter('orders.created'))
  const [leased] = await as(orders, claim('orders.created'))
  await grant(orders, 'pull', 'something.else')
  await expect(
    as(orders, `select dlq.resolve_messages(array['${leased!.id}']::uuid[], '${leased!.lease_token}')`),
  ).rejects.toMatchObject(refused('orders.created'))
})

test('a row for a role that does not exist is refused: it would limit nobody', async () => {
  await expect(grant('ordres_service', 'pull', '*')).rejects.toMatchObject({ code: '42704' })
  await expect(grant(orders, 'read', '*')).rejects.toMatchObject({ constraint_name: 'chk_dlq_sql_grants_verb' })
})

test('a row goes with its role when that is renamed, and also counts for whoever has the name then', async () => {
  await grant(orders, 'dead_letter', 'orders.*')
  const former = name('former')
  const rename = (from: string, to: string) => database.sql.unsafe(`alter role ${from} rename to ${to}`)
  await rename(orders, former)
  try {
    // The session goes on under the login that it has.
    await expect(as(orders, deadLetter('payments'))).rejects.toMatchObject(refused('payments'))
    await as(orders, deadLetter('orders.created'))
    await as(other, deadLetter('payments'))
    await rename(other, orders)
    try {
      for (const login of [orders, other])
        await expect(as(login, deadLetter('payments'))).rejects.toMatchObject(refused('payments'))
    } finally {
      await rename(orders, other)
    }
  } finally {
    await rename(former, orders)
  }
})

test('after a restore to another server, the number of a role is nobody’s', async () => {
  await grant(orders, 'dead_letter', 'orders.*')
  await database.sql`
    update dlq.dlq_sql_grants set server_id = server_id + 1, role_id = ${other}::text::regrole`
  await as(other, deadLetter('payments'))
  await expect(as(orders, deadLetter('payments'))).rejects.toMatchObject(refused('payments'))
})

test('a session with standard_conforming_strings off has the same limits, policies and partitions', async () => {
  await grant(orders, 'dead_letter', 'a_b.*')
  await grant(orders, 'dead_letter', 'axb.yes')
  await grant(orders, 'pull', 'a_b.*')
  await database.sql`insert into dlq.dlq_policies (pattern, max_retries) values ('a_b.*', 7)`
  const url = new URL(database.url)
  url.username = orders
  url.password = 'secret'
  const sql = postgres(url.href, {
    max: 1,
    connection: { standard_conforming_strings: 'off', escape_string_warning: 'off' },
  })
  try {
    for (const topic of ['a_b.yes', 'axb.yes']) await sql.unsafe(deadLetter(topic))
    await expect(sql.unsafe(deadLetter('axb.no'))).rejects.toMatchObject(refused('axb.no'))
    const stored = await database.sql`select original_topic, max_retries from dlq.dlq_messages order by 1`
    expect([...stored]).toEqual([
      { original_topic: 'a_b.yes', max_retries: 7 },
      { original_topic: 'axb.yes', max_retries: 3 },
    ])
    const [leased] = await sql.unsafe(claim('a_b.yes'))
    const resolve = `select dlq.resolve_messages(array['${leased!.id}']::uuid[], '${leased!.lease_token}')`
    expect(await sql.unsafe(resolve)).toHaveLength(1)
  } finally {
    await sql.end()
    await database.sql`delete from dlq.dlq_policies where pattern = 'a_b.*'`
  }
})

test('a backslash in a function means the same in every session', async () => {
  const rows = await database.sql<{ name: string; body: string }[]>`
    select oid::regprocedure::text as name, prosrc as body from pg_proc
    where pronamespace = 'dlq'::regnamespace and strpos(prosrc, chr(92)) > 0`
  expect(rows.length).toBeGreaterThan(3)
  // What is left without the texts E'…'.
  for (const { name, body } of rows) expect(body.replaceAll(/E'(?:[^'\\]|\\.|'')*'/g, ''), name).not.toContain('\\')
})

test('an application may not see or change the grants, and the owner is never limited', async () => {
  await grant(orders, 'pull', 'orders.*')
  for (const statement of ['select from dlq.dlq_sql_grants', 'delete from dlq.dlq_sql_grants'])
    await expect(as(orders, statement)).rejects.toMatchObject({ code: '42501' })
  await database.sql.unsafe(deadLetter('payments'))
})
