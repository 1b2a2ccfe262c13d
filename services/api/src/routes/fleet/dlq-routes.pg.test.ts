// Routes as people see them and decide about them, and what their decisions do to the messages.

import { createHash } from 'node:crypto'
import { noteApplied } from 'dlq-core/queries/routes/routes.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { connectAsService, useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { answerOf, createTestApp } from '../../test-app.ts'
import { startRetrier } from '../../test-retrier.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const evil = 'evil.dlq.v1'
const route = `/api/v1/routes/${evil}/payments`
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const tokenOf = (name: string, role: string, topics?: string[]) => ({
  ...{ name, role, sha256: sha256(`secret-${name}`) },
  ...(topics && { topics }),
})
const auth = {
  tokens: [
    tokenOf('admin', 'sys_admin'),
    tokenOf('evil', 'sys_operator', ['evil*']),
    tokenOf('payments', 'sys_operator', ['payments*']),
    tokenOf('both', 'sys_operator', ['evil*', 'payments*']),
    tokenOf('auditor', 'sys_auditor', ['evil*', 'payments*']),
  ],
} as NonNullable<Parameters<typeof createTestApp>[1]>['auth'] & object
const ask = (methodAndPath: string, name: string, body?: object, headers?: Record<string, string>) =>
  createTestApp(service.sql, { auth })(methodAndPath, {
    headers: {
      authorization: `Bearer secret-${name}`,
      'content-type': 'application/json',
      prefer: 'wait=5',
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
const decide = (state: string, name = 'admin') => answerOf(ask(`PUT ${route}`, name, { state, reason: 'asked' }))
const read = (id: string) => readMessageRow(database.sql, id)
const insert = (columns = {}) =>
  insertMessageRow(database.sql, {
    ...{ original_topic: 'payments', dlq_topic: evil },
    ...{ record_value: Buffer.from('{}'), record_headers: database.sql.json([]) },
    ...columns,
  })
const insertHeld = (columns = {}) => insert({ held_by_route: true, ...columns })

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_routes', 'dlq.dlq_audit')
  await database.sql`
    insert into dlq.dlq_routes (dlq_topic, original_topic, state) values (${evil}, 'payments', 'waiting')`
})

describe('a decision', () => {
  test('that approves a route schedules what waits, and is audited', async () => {
    const held = await insertHeld()
    const dead = await insertHeld({ status: 'DEAD' })
    const withoutBytes = await insertHeld({ record_value: null })
    expect(await decide('approved')).toMatchObject({
      status: 200,
      body: { state: 'approved', open: true, held: 0, decided_by: 'admin', reason: 'asked' },
    })
    expect(await read(held)).toMatchObject({ held_by_route: false, next_retry_at: expect.any(Date) })
    expect(await read(dead)).toMatchObject({ held_by_route: false, next_retry_at: null })
    expect(await read(withoutBytes)).toMatchObject({ held_by_route: false, next_retry_at: null })
    const [entry] =
      await database.sql`select action, actor, original_topic, dlq_topic, before, after from dlq.dlq_audit`
    expect(entry).toEqual({
      ...{ action: 'route.approved', actor: 'admin', original_topic: 'payments', dlq_topic: evil },
      ...{ before: { state: 'waiting' }, after: { state: 'approved' } },
    })
  })

  test('stands, and is answered, where a message cannot follow it yet', async () => {
    const held = await insertHeld()
    const impatient = connectAsService(database.url, { DLQ_DATABASE_STATEMENT_TIMEOUT: '200ms' })
    onTestFinished(() => impatient.end({ timeout: 5 }))
    await database.sql.begin(async (sql) => {
      await sql`select from dlq.dlq_messages where id = ${held} for update`
      const body = JSON.stringify({ state: 'approved' })
      const headers = { 'content-type': 'application/json' }
      expect(await answerOf(createTestApp(impatient)(`PUT ${route}`, { headers, body }))).toMatchObject({
        status: 200,
        body: { state: 'approved', applying: true },
      })
    })
  })

  test('that blocks a route holds what was scheduled, but not what somebody asked for', async () => {
    const due = { next_retry_at: new Date('2030-01-01') }
    const [scheduled, asked] = [await insert(due), await insert({ ...due, retry_requested: true })]
    const other = await insert({ ...due, original_topic: 'evil' })
    expect(await decide('blocked')).toMatchObject({ body: { state: 'blocked', open: false, held: 2 } })
    expect(await read(scheduled)).toMatchObject({ held_by_route: true, next_retry_at: null })
    expect(await read(asked)).toMatchObject({ held_by_route: true, ...due })
    expect(await read(other)).toMatchObject({ held_by_route: false, ...due })
  })

  test('changes more messages than one chunk holds', async () => {
    await database.sql`
      insert into dlq.dlq_messages (original_topic, error_message, dlq_topic, record_value, held_by_route)
      select 'payments', 'boom', ${evil}, '{}', true from generate_series(1, 1201)`
    await decide('approved')
    const [row] = await database.sql`
      select count(*)::int as count from dlq.dlq_messages where held_by_route or next_retry_at is null`
    expect(row).toEqual({ count: 0 })
  })

  test('is applied once more until no ingester can store a message under the state before', async () => {
    await decide('approved')
    const applying = () => database.sql`select from dlq.dlq_routes where applying_since is not null`
    expect(await applying()).toHaveLength(1)
    await database.sql`update dlq.dlq_routes set applying_since = now() - interval '2 minutes'`
    await noteApplied(service.sql, { dlq_topic: evil, original_topic: 'payments', state: 'approved' })
    expect(await applying()).toHaveLength(0)
  })

  test('needs an operator whose topics include both ends', async () => {
    for (const name of ['evil', 'payments', 'auditor'])
      expect(await decide('approved', name), name).toMatchObject({ status: 403 })
    expect(await database.sql`select state from dlq.dlq_routes`).toEqual([{ state: 'waiting' }])
    expect(await decide('approved', 'both')).toMatchObject({ status: 200 })
  })

  test('may be about a route that no dead letter has named yet', async () => {
    expect(await answerOf(ask('PUT /api/v1/routes/all.dlq/orders', 'admin', { state: 'approved' }))).toMatchObject({
      status: 200,
      body: { dlq_topic: 'all.dlq', original_topic: 'orders', state: 'approved', reason: null },
    })
  })
})

test('the list shows each route with what it holds, page by page, and a limited token those that touch its topics', async () => {
  await database.sql`
    insert into dlq.dlq_routes (dlq_topic, original_topic, state) values ('orders.dlq.v1', 'orders', 'by_name')`
  await insertHeld()
  await insertHeld()
  const list = async (query: string, name = 'admin') =>
    (await answerOf(ask(`GET /api/v1/routes${query}`, name))).body as {
      routes: { original_topic: string; held: number }[]
      next_cursor: string | null
    }
  const first = await list('?limit=1')
  expect(first.routes).toMatchObject([{ original_topic: 'payments', state: 'waiting', open: false, held: 2 }])
  expect((await list(`?limit=1&cursor=${first.next_cursor}`)).routes).toMatchObject([
    { original_topic: 'orders', held: 0 },
  ])
  expect((await list('?state=by_name')).routes).toHaveLength(1)
  expect((await list('', 'payments')).routes).toHaveLength(1)
})

describe('a held message', () => {
  const retry = (id: string, name: string, force = {}) =>
    answerOf(ask(`POST /api/v1/dlq/messages/${id}/retry`, name, force))
  const forced = { force: true, reason: 'by hand' }

  test('says why it waits', async () => {
    const { body } = await answerOf(ask(`GET /api/v1/dlq/messages/${await insertHeld()}`, 'admin'))
    expect(body).toMatchObject({ held_up_by: ['evil.dlq.v1 has not been allowed to send to payments'] })
  })

  test('is retried only by force, and by somebody whose topics include its target', async () => {
    const id = await insertHeld()
    expect(await retry(id, 'both')).toMatchObject({ status: 409 })
    expect(await retry(id, 'evil', forced)).toMatchObject({ status: 403 })
    expect(await read(id)).toMatchObject({ next_retry_at: null, retry_requested: false })
    const retrier = startRetrier(service.sql)
    expect(await retry(id, 'both', forced).finally(retrier.stop)).toMatchObject({ status: 200 })
    expect(await read(id)).toMatchObject({ status: 'RESOLVED' })
  })

  test('stays unscheduled when it is revived or given a time', async () => {
    const id = await insertHeld({ status: 'DEAD', retry_count: 3 })
    expect((await ask(`POST /api/v1/dlq/messages/${id}/revive`, 'admin', {})).status).toBe(200)
    expect(await read(id)).toMatchObject({ status: 'PENDING', next_retry_at: null })
    const [entry] = await database.sql`select after from dlq.dlq_audit where target_id = ${id}`
    expect(entry!.after).toMatchObject({ status: 'PENDING', next_retry_at: null })
    const schedule = { next_retry_at: '2026-01-01T00:00:00Z' }
    const headers = { 'if-match': '*' }
    expect(await answerOf(ask(`PATCH /api/v1/dlq/messages/${id}`, 'admin', schedule, headers))).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('approve the route') } },
    })
    expect(await read(id)).toMatchObject({ next_retry_at: null })
  })
})

describe('a limited token', () => {
  const sees = async (id: string, name: string) => (await ask(`GET /api/v1/dlq/messages/${id}`, name)).status === 200

  test('sees what its original topic’s messages are only once the DLQ topic may speak for it', async () => {
    const id = await insertHeld()
    const seen = async () => {
      const { body } = await answerOf(ask('GET /api/v1/dlq/payments', 'payments'))
      const listed = (body as { messages: { id: string }[] }).messages.map((message) => message.id)
      return [await sees(id, 'evil'), await sees(id, 'payments'), listed]
    }
    expect(await seen()).toEqual([true, false, []])
    await decide('approved')
    expect(await seen()).toEqual([true, true, [id]])
  })

  test('sees bytes that were fetched from the original topic only if its topics include both', async () => {
    const id = await insert({ record_source: 'origin' })
    expect([await sees(id, 'evil'), await sees(id, 'payments'), await sees(id, 'both')]).toEqual([false, false, true])
    expect((await ask(`GET /api/v1/dlq/messages/${id}/value`, 'evil')).status).toBe(404)
  })
})
