// What a token that is limited to some topics was able to do to the topics of others.

import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordTopics } from 'dlq-core/queries/ingest/topics.ts'
import { writeCronJobs } from 'dlq-core/queries/upkeep/cron-runs.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerOf, createTestApp, type TestAppOptions } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const sha256 = (name: string) => createHash('sha256').update(`secret-${name}`).digest('hex')
const auth: NonNullable<TestAppOptions['auth']> = {
  tokens: [
    { name: 'orders', sha256: sha256('orders'), role: 'sys_admin', topics: ['orders*'] },
    { name: 'pay', sha256: sha256('pay'), role: 'sys_admin', topics: ['pay*'] },
    { name: 'root', sha256: sha256('root'), role: 'sys_admin' },
    {
      name: 'mixed',
      sha256: sha256('mixed'),
      grants: [
        { role: 'sys_operator', topics: ['pay*'] },
        { role: 'sys_auditor', topics: ['orders*'] },
      ],
    },
    {
      name: 'half',
      sha256: sha256('half'),
      grants: [{ role: 'sys_operator' }, { role: 'sys_admin', topics: ['pay*'] }],
    },
  ],
}
const ask = (methodAndPath: string, name: string, body?: object) =>
  answerOf(
    createTestApp(service.sql, { auth })(methodAndPath, {
      headers: {
        ...{ authorization: `Bearer secret-${name}`, prefer: 'wait=0' },
        // A policy that is created has no ETag.
        ...(!methodAndPath.includes('/policies/') && { 'if-match': '*' }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )

let orders: string
let pay: string
beforeEach(async () => {
  await emptyTables(
    database.sql,
    ...['dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_runs', 'dlq.dlq_topics', 'dlq.dlq_audit'],
    ...['dlq.dlq_cron_jobs', 'dlq.dlq_cron_runs', 'dlq.dlq_retriers', 'dlq.dlq_policies'],
  )
  await recordTopics(service.sql, {
    cluster: 'c',
    found: ['orders.dlq.v1', 'pay.dlq.v1'].map((topic) => ({ topic, topic_id: null, partitions: 1 })),
  })
  orders = await insertMessageRow(database.sql, { original_topic: 'orders', dlq_topic: 'orders.dlq.v1' })
  pay = await insertMessageRow(database.sql, { original_topic: 'pay', dlq_topic: 'pay.dlq.v1' })
})

describe('a target is a permission', () => {
  const to = (target_topic: string) => ({ target_topic, reason: 'r' })
  test('of an edit', async () => {
    const edit = (target: string, name: string) => ask(`PATCH /api/v1/dlq/messages/${orders}`, name, to(target))
    expect(await edit('pay', 'orders')).toMatchObject({
      status: 403,
      body: { error: { message: 'this token may not write to pay' } },
    })
    expect(await readMessageRow(database.sql, orders)).toMatchObject({ target_topic: null, edits: 0 })
    expect((await edit('orders-2', 'orders')).status).toBe(200)
    expect((await edit('pay', 'root')).status).toBe(200)
  })

  test('of a run that redirects', async () => {
    const run = (target: string, name: string, rest = {}) =>
      ask('POST /api/v1/runs', name, {
        ...{ kind: 'redirect', selection: { filter: { topic: 'orders' } }, ...to(target) },
        ...rest,
      })
    expect((await run('pay', 'orders')).status).toBe(403)
    expect((await run('pay', 'orders', { dry_run: true })).status).toBe(403)
    expect(await database.sql`select from dlq.dlq_runs`).toHaveLength(0)
    expect((await run('orders-2', 'orders')).status).toBe(202)
    expect((await run('pay', 'root')).status).toBe(202)
  })

  test('of a policy that redirects', async () => {
    const put = (name: string) => ask('PUT /api/v1/policies/orders', name, { redirect_topic: 'pay' })
    expect((await put('orders')).status).toBe(403)
    expect((await put('root')).status).toBe(200)
  })

  test('of a report', async () => {
    const report = (original_topic: string) =>
      ask('POST /api/v1/dlq/messages', 'orders', { original_topic, error_message: 'x' })
    expect((await report('pay')).status).toBe(403)
    expect((await report('orders')).status).toBe(201)
  })
})

test('of a message of others nothing is read but whether it may be seen', async () => {
  await database.sql.begin(async (sql) => {
    await sql`lock table dlq.dlq_attempts in access exclusive mode`
    const answered = ask(`GET /api/v1/dlq/messages/${orders}`, 'pay')
    // Whatever waits for the lock would wait for the end of this transaction.
    expect(await Promise.race([answered, sleep(5000)])).toMatchObject({ status: 404 })
  })
})

test('retry-all takes its topic literally, whatever it looks like', async () => {
  for (const [topic, name] of [
    ['*', 'root'],
    ['%2A', 'orders'],
    ['order?', 'root'],
    ['*.dlq.v1', 'root'],
  ] as const)
    expect(await ask(`POST /api/v1/dlq/${topic.replace('?', '%3F')}/retry-all`, name)).toMatchObject({
      status: 200,
      body: { retried: 0 },
    })
  expect(await database.sql`select from dlq.dlq_runs`).toHaveLength(0)
  await insertMessageRow(database.sql, { original_topic: '*' })
  expect((await ask('POST /api/v1/dlq/*/retry-all', 'root')).status).toBe(202)
  const [run] = await database.sql`select matched::int, retry_all_topic from dlq.dlq_runs`
  expect({ ...run }).toEqual({ matched: 1, retry_all_topic: '*' })
})

test('retry-all of a shared topic by one team does not stop that of another, nor name its run', async () => {
  await recordTopics(service.sql, { cluster: 'c', found: [{ topic: 'shared.dlq.v1', topic_id: null, partitions: 1 }] })
  for (const original_topic of ['orders', 'pay'])
    await insertMessageRow(database.sql, { original_topic, dlq_topic: 'shared.dlq.v1' })
  const retryAll = (name: string) => ask('POST /api/v1/dlq/shared.dlq.v1/retry-all', name)
  for (const name of ['orders', 'pay', 'root']) expect((await retryAll(name)).status, name).toBe(202)
  for (const name of ['orders', 'pay', 'root']) {
    const { status, body } = await retryAll(name)
    expect(status).toBe(409)
    const { message } = (body as { error: { message: string } }).error
    expect(message).toMatch(/^topic shared\.dlq\.v1 is being retried already by run /)
    expect((await ask(`GET /api/v1/runs/${message.split(' ').at(-1)}`, name)).status).toBe(200)
  }
})

describe('for tokens of all topics only are', () => {
  test('cron jobs, also to look at', async () => {
    await writeCronJobs(service.sql, [{ name: 'purge', schedule: null, next_tick: null }])
    for (const request of ['GET /api/v1/cron', 'GET /api/v1/cron/purge/runs', 'POST /api/v1/cron/purge/run'])
      expect((await ask(request, 'orders')).status, request).toBe(403)
    expect(await database.sql`select from dlq.dlq_cron_runs`).toHaveLength(0)
    expect((await ask('POST /api/v1/cron/purge/run', 'root')).status).toBe(202)
  })

  test.each(['archive', 'purge'])('runs of kind %s', async (kind) => {
    // By ids: these were deleted from the archive without a look at their topics.
    const run = (name: string) => ask('POST /api/v1/runs', name, { kind, selection: { ids: [pay] } })
    expect((await run('orders')).status).toBe(403)
    expect(await database.sql`select from dlq.dlq_runs`).toHaveLength(0)
    expect((await run('root')).status).toBe(202)
  })

  test('positions and policies to change', async () => {
    const position = {
      cluster: 'c',
      topic: 'orders.dlq.v1',
      partition: 0,
      next_offset: '1',
      confirm: 'orders.dlq.v1/0',
    }
    expect((await ask('POST /api/v1/positions/reset', 'orders', position)).status).toBe(403)
    for (const pattern of ['*', 'ord*', 'orders']) {
      expect((await ask(`PUT /api/v1/policies/${pattern}`, 'orders', {})).status).toBe(403)
      expect((await ask(`DELETE /api/v1/policies/${pattern}`, 'orders')).status).toBe(403)
    }
  })
})

test('a token for some topics has a hundred runs that have not ended, at most, and others run as before', async () => {
  await database.sql`
    insert into dlq.dlq_runs (kind, actor, selection, scope, cutoff, until_id, matched, matched_relation, on_refailure, max_refailure)
    select 'dead', 'orders', '{"filter":{"topic":"orders"}}', array['orders*'], now(), ${orders}::uuid, 1, 'eq', 'continue', 1
    from generate_series(1, 100)`
  const run = (topic: string, name: string) =>
    ask('POST /api/v1/runs', name, { kind: 'dead', selection: { filter: { topic } } })
  expect(await run('orders', 'orders')).toMatchObject({
    status: 429,
    body: { error: { message: '100 of your runs have not ended; wait until some have, or cancel some' } },
  })
  expect([(await run('pay', 'pay')).status, (await run('orders', 'root')).status]).toEqual([202, 202])
  await database.sql`
    update dlq.dlq_runs set ended_at = now(), status = 'completed'
    where id = (select id from dlq.dlq_runs where actor = 'orders' limit 1)`
  expect((await run('orders', 'orders')).status).toBe(202)
})

describe('an overview gives a limited token figures of its topics only', () => {
  const old = new Date('2020-02-20T10:30:00Z')
  const foreign = /2020-|"pay[".]|pay-secret/
  const bodyOf = async (path: string, name: string) => (await ask(`GET /api/v1/${path}`, name)).body

  beforeEach(async () => {
    // Two teams have failures of one topic, each on a DLQ topic of its own.
    await insertMessageRow(database.sql, { original_topic: 'shared', dlq_topic: 'orders.dlq.v1' })
    await insertMessageRow(database.sql, {
      ...{ id: '01700000-0000-7000-8000-000000000001', created_at: old, record_timestamp: old },
      ...{ original_topic: 'shared', dlq_topic: 'pay.dlq.v1' },
    })
    await database.sql`insert into dlq.dlq_retriers (id, publishes, fault) values ('r', 'nothing', 'pay-secret is gone')`
  })

  test('in the status', async () => {
    expect(JSON.stringify(await bodyOf('status', 'root'))).toMatch(/2020-02-20.*pay-secret/)
    const status = JSON.stringify(await bodyOf('status', 'orders'))
    expect(status).not.toMatch(foreign)
    expect(JSON.parse(status)).toMatchObject({ counts: { PENDING: 2 }, summary: null, retriers: [{ fault: null }] })
  })

  test('in the list of topics', async () => {
    expect(JSON.stringify(await bodyOf('topics?kind=original', 'root'))).toContain('2020-02-20')
    expect(JSON.stringify(await bodyOf('topics?kind=original', 'orders'))).not.toMatch(foreign)
    expect(await bodyOf('topics?kind=original', 'orders')).toMatchObject({
      topics: [{ topic: 'orders' }, { topic: 'shared', oldest_pending_at: expect.any(String) }],
    })
  })

  test.each(['topics', 'consumer-groups', 'positions', 'groups', 'messages', 'audit', 'policies', 'runs'])(
    'in %s',
    async (path) => {
      expect(JSON.stringify(await bodyOf(path, 'orders'))).not.toMatch(foreign)
    },
  )
})

test('the audit says of a message that its route holds nothing to who sees its original topic only', async () => {
  const id = await insertMessageRow(database.sql, {
    ...{ original_topic: 'pay', dlq_topic: 'orders.dlq.v1', held_by_route: true, next_retry_at: null },
  })
  await database.sql`insert into dlq.dlq_routes (dlq_topic, original_topic, state) values ('orders.dlq.v1', 'pay', 'waiting')`
  const open = await insertMessageRow(database.sql, { original_topic: 'pay', dlq_topic: 'shared.dlq.v1' })
  try {
    for (const one of [id, open]) await ask(`POST /api/v1/dlq/messages/${one}/dead`, 'root', { reason: 'r' })
    const seen = async (name: string, query = '') => {
      const { body } = await ask(`GET /api/v1/audit${query}`, name)
      return (body as { entries: { target_id: string }[] }).entries.map(({ target_id }) => target_id)
    }
    expect((await ask(`GET /api/v1/dlq/messages/${id}`, 'pay')).status).toBe(404)
    expect(await seen('pay')).toEqual([open])
    expect(await seen('pay', '?q=r')).toEqual([open])
    expect(await seen('orders')).toEqual([id])
    await database.sql`update dlq.dlq_messages set retry_count = max_retries where id = ${id}`
    expect((await ask(`DELETE /channel/pay/consumer/(none)/job/${id}`, 'root')).status).toBe(200)
    expect([await seen('orders'), await seen('pay')]).toEqual([[id, id], [open]])
    await ask('PUT /api/v1/routes/orders.dlq.v1/pay', 'root', { state: 'blocked' })
    expect(await seen('pay')).toEqual(['orders.dlq.v1/pay', open])
  } finally {
    await database.sql`delete from dlq.dlq_routes`
  }
})

test('a message that only claims to be of a topic does not show its policy', async () => {
  await ask('PUT /api/v1/policies/pay', 'root', { max_retries: 7 })
  const row = { original_topic: 'pay', dlq_topic: 'orders.dlq.v1' }
  const claim = await insertMessageRow(database.sql, { ...row, held_by_route: true, next_retry_at: null })
  const open = await insertMessageRow(database.sql, row)
  const policyOf = async (id: string, name: string) => {
    const { body } = await ask(`GET /api/v1/dlq/messages/${id}`, name)
    return (body as { policy: unknown }).policy
  }
  const ofPay = expect.objectContaining({ max_retries: { value: 7, source: 'policy', pattern: 'pay' } })
  expect(await policyOf(claim, 'root')).toEqual(ofPay)
  expect(await policyOf(open, 'orders')).toEqual(ofPay)
  expect(await policyOf(claim, 'orders')).toMatchObject({ max_retries: { source: 'default' } })
})

test('a change of an archived message of others neither locks nor moves it', async () => {
  await database.sql`update dlq.dlq_messages set status = 'RESOLVED' where id = ${pay}`
  await database.sql`select dlq.archive_messages(array[${pay}]::uuid[], now() + interval '1 hour')`
  await database.sql.begin(async (sql) => {
    await sql`select from dlq.dlq_messages_archive where id = ${pay} for update`
    expect((await ask(`POST /api/v1/dlq/messages/${pay}/revive`, 'orders')).status).toBe(404)
  })
})

describe('a token with several roles', () => {
  test('has each for its own topics', async () => {
    const dead = async (id: string) => (await ask(`POST /api/v1/dlq/messages/${id}/dead`, 'mixed')).status
    for (const id of [orders, pay]) expect((await ask(`GET /api/v1/dlq/messages/${id}`, 'mixed')).status).toBe(200)
    expect(await dead(orders)).toBe(404)
    expect(await dead(pay)).toBe(200)
    expect((await ask('POST /api/v1/positions/reset', 'mixed', {})).status).toBe(403)
    const [entry] = await database.sql`select actor, role from dlq.dlq_audit`
    expect({ ...entry }).toEqual({ actor: 'mixed', role: 'write' })
  })

  test('is no admin of all topics for being one of some and a writer of all', async () => {
    const purge = { kind: 'purge', selection: { ids: [orders] } }
    expect((await ask('POST /api/v1/runs', 'half', purge)).status).toBe(403)
    expect((await ask('PUT /api/v1/policies/pay', 'half', {})).status).toBe(403)
    expect((await ask(`POST /api/v1/dlq/messages/${orders}/dead`, 'half')).status).toBe(200)
  })
})

test('a token for some topics reports for a thousand original topics, at most, and others report as before', async () => {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, original_topic_source, error_message)
    select 'orders.made-up-' || n, 'caller', 'x' from generate_series(1, 999) n`
  const report = async (name: string, original_topic: string) =>
    (await ask('POST /api/v1/dlq/messages', name, { original_topic, error_message: 'x' })).status
  expect(await report('orders', 'orders.the-last')).toBe(201)
  expect(await report('orders', 'orders.one-too-many')).toBe(429)
  expect(await report('orders', 'orders.made-up-7')).toBe(201)
  expect(await report('pay', 'pay.first')).toBe(201)
  expect(await report('root', 'orders.of-root')).toBe(201)
})
