// Every declared route with every kind of token: none gives more than its role and topics.

import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import { recordTopics } from 'dlq-core/queries/ingest/topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import pino from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Route } from '../http/define-route.ts'
import { allRoutes } from '../routes/all-routes.ts'
import { answerOf, createTestApp, type TestApp } from '../test-app.ts'
import { startRetrier } from '../test-retrier.ts'
import { mayActAs, type Role } from './access.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const token = (name: string, role: 'sys_auditor' | 'sys_operator' | 'sys_admin', rest = {}) => ({
  name,
  sha256: createHash('sha256').update(`secret-${name}`).digest('hex'),
  role,
  ...rest,
})
const auth = {
  tokens: [
    token('auditor', 'sys_auditor'),
    token('operator', 'sys_operator'),
    token('admin', 'sys_admin'),
    token('expired', 'sys_admin', { expires_at: '2020-01-01T00:00:00Z' }),
    token('limited', 'sys_admin', { topics: ['payments.*'] }),
  ],
}
const roleOf: Record<string, Role> = { auditor: 'read', operator: 'write', admin: 'admin', limited: 'admin' }
/** One for each test: it takes longer to make than to ask, and refuses who has often had no valid token. */
let app: TestApp
const request = (methodAndPath: string, name: string | null, init: RequestInit = {}) =>
  app(methodAndPath, {
    ...init,
    headers: { ...init.headers, ...(name !== null && { authorization: `Bearer secret-${name}` }) },
  })

const ordersId = '550e8400-e29b-41d4-a716-446655440000'
const orders = 'orders.events.v1'

/** A valid request for the route, about data that the limited token may not see. */
function exampleOf(route: Route): [methodAndPath: string, init: RequestInit] {
  const values: Record<string, string> = { id: ordersId, topic: orders, pattern: 'orders.*' }
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? '1')
  const headers: Record<string, string> = { 'content-type': 'application/json', 'if-match': '*', prefer: 'wait=0' }
  const hasBody = route.method !== 'get' && route.bodyExample !== undefined
  return [
    `${route.method.toUpperCase()} ${path}`,
    { headers, ...(hasBody && { body: JSON.stringify(route.bodyExample) }) },
  ]
}

beforeEach(async () => {
  app = createTestApp(service.sql, { auth })
  await emptyTables(
    database.sql,
    'dlq.dlq_attempts',
    'dlq.dlq_message_edits',
    'dlq.dlq_messages',
    'dlq.dlq_topics',
    'dlq.dlq_audit',
    'dlq.dlq_policies',
    'dlq.dlq_topic_pauses',
  )
  await recordTopics(service.sql, { cluster: 'c', found: [{ topic: 'orders.dlq.v1', topic_id: null, partitions: 1 }] })
  await insertMessageRow(database.sql, { id: ordersId, original_topic: orders, dlq_topic: 'orders.dlq.v1' })
})

const routes = allRoutes.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const)

describe.each(routes)('%s', (_, route) => {
  const [methodAndPath, init] = exampleOf(route)
  const ask = async (name: string | null) => {
    const { status, body } = await request(methodAndPath, name, init)
    // A stream would go on.
    await body?.cancel()
    return status
  }

  test('answers only the roles that may use it', async () => {
    for (const name of [null, 'unknown', 'expired']) {
      const status = await ask(name)
      if (route.role === null) expect(status, String(name)).not.toBe(401)
      else expect(status, String(name)).toBe(401)
    }
    for (const name of ['auditor', 'operator', 'admin']) {
      const may = route.role === null || mayActAs(roleOf[name]!, route.role)
      const status = await ask(name)
      if (may) expect([401, 403], name).not.toContain(status)
      else expect(status, name).toBe(403)
    }
  })

  test('neither shows nor changes data that a limited token may not see', async () => {
    const before = await contents()
    const response = await request(methodAndPath, 'limited', init)
    expect(response.status).toBeLessThan(500)
    if (route.role !== null)
      expect((await textOf(response)).replaceAll(/"(message|title)":"[^"]*"/g, '')).not.toContain(ordersId)
    expect(await contents()).toEqual(before)
  })
})

/** Of a stream of events, the beginning. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  const reader = response.body!.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

/** Everything that a request could change. */
async function contents() {
  const [row] = await database.sql`
    select (select json_agg(m) from dlq.dlq_messages m)::text as messages,
           (select json_agg(p) from dlq.dlq_policies p)::text as policies,
           (select count(*)::int from dlq.dlq_message_edits) as edits,
           (select count(*)::int from dlq.dlq_attempts) as attempts,
           (select count(*)::int from dlq.dlq_topic_pauses) as pauses,
           (select count(*)::int from dlq.dlq_runs) as runs,
           (select count(*)::int from dlq.dlq_subscriptions) as subscriptions,
           (select json_agg(c) from dlq.dlq_candidates c)::text as candidates,
           (select count(*)::int from dlq.dlq_audit where target_type = 'message') as audit`
  return { ...row }
}

test('a limited token sees its topics only: in lists, counts, single messages and the audit', async () => {
  const mine = await insertMessageRow(database.sql, { original_topic: 'payments.events', dlq_topic: 'shared.dlq.v1' })
  const byDlqTopic = await insertMessageRow(database.sql, { original_topic: 'refunds', dlq_topic: 'payments.dlq.v1' })
  await insertMessageRow(database.sql, { original_topic: 'paymentsX', dlq_topic: 'shared.dlq.v1' })
  const list = async (topic: string) => (await answerOf(request(`GET /api/v1/dlq/${topic}`, 'limited'))).body
  expect(await list('orders.dlq.v1')).toMatchObject({ messages: [], pagination: { total_count: 0 } })
  expect(await list('payments.events')).toMatchObject({ messages: [{ id: mine }], pagination: { total_count: 1 } })
  expect(await list('refunds')).toMatchObject({ messages: [{ id: byDlqTopic }] })
  expect((await request(`GET /api/v1/dlq/messages/${mine}`, 'limited')).status).toBe(200)
  expect((await request(`GET /api/v1/dlq/messages/${ordersId}`, 'limited')).status).toBe(404)

  for (const id of [mine, ordersId]) await request(`POST /api/v1/dlq/messages/${id}/dead`, 'operator')
  const audit = async (name: string) =>
    ((await answerOf(request('GET /api/v1/audit', name))).body as { entries: { target_id: string; actor: string }[] })
      .entries
  expect((await audit('limited')).map(({ target_id }) => target_id)).toEqual([mine])
  expect((await audit('auditor')).map(({ target_id, actor }) => [target_id, actor])).toEqual([
    [ordersId, 'operator'],
    [mine, 'operator'],
  ])
})

test('a limited token retries a topic’s messages only where it may see them', async () => {
  await insertMessageRow(database.sql, { original_topic: 'payments.events', dlq_topic: 'orders.dlq.v1' })
  const retrier = startRetrier(service.sql)
  const answer = await answerOf(request('POST /api/v1/dlq/orders.dlq.v1/retry-all', 'limited')).finally(retrier.stop)
  expect(answer).toMatchObject({ body: { retried: 1 } })
  const [row] = await database.sql`select last_retry_at from dlq.dlq_messages where id = ${ordersId}`
  expect(row!.last_retry_at).toBeNull()
})

test('a limited token reports to its topics only', async () => {
  const report = (original_topic: string) =>
    request('POST /api/v1/dlq/messages', 'limited', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ original_topic, error_message: 'x' }),
    })
  expect((await report('payments.events')).status).toBe(201)
  expect((await report('orders')).status).toBe(403)
})

test('the actor of a change is the token’s name', async () => {
  await request(`POST /api/v1/dlq/messages/${ordersId}/retry`, 'operator', { headers: { prefer: 'wait=0' } })
  const [attempt] = await database.sql`select actor from dlq.dlq_attempts`
  const [entry] = await database.sql`select actor, role, action from dlq.dlq_audit`
  expect([{ ...attempt }, { ...entry }]).toEqual([
    { actor: 'operator' },
    { actor: 'operator', role: 'write', action: 'message.retry' },
  ])
})

test('an answer of 401 says how to authenticate, and unknown paths need a token as well', async () => {
  const response = await request('GET /api/v1/nothing', null)
  expect(response.headers.get('www-authenticate')).toBe('Bearer')
  expect(await answerOf(response)).toMatchObject({ status: 401, body: { error: { code: 'SYS_DLQ_UNAUTHENTICATED' } } })
  expect((await request('GET /api/v1/nothing', 'auditor')).status).toBe(404)
  expect((await request('GET /openapi.json', null)).status).toBe(200)
  expect((await request('POST /openapi.json', null)).status).toBe(401)
})

test.each(['/healthz', '/readyz', '/metrics'])('HEAD %s needs no token, like GET', async (path) => {
  expect((await request(`HEAD ${path}`, null)).status).toBe(200)
})

test('neither secrets nor payloads reach the log, whatever fails', async () => {
  let text = ''
  const log = pino(
    { level: 'trace' },
    new Writable({
      write(chunk, _, done) {
        text += chunk
        done()
      },
    }),
  )
  const app = createTestApp(service.sql, { auth, log, slowRequestMs: 0 })
  const headers = { authorization: 'Bearer secret-admin', 'content-type': 'application/json', 'if-match': '*' }
  const body = JSON.stringify({ value: { text: 'the-payload' }, key: { text: 'the-key' } })
  await app(`PATCH /api/v1/dlq/messages/${ordersId}`, { headers, body })
  await app(`PATCH /api/v1/dlq/messages/${ordersId}`, { headers, body: `{"value": the-payload` })
  await app('GET /api/v1/dlq/orders?page=the-payload', { headers })
  await database.sql`alter table dlq.dlq_message_edits rename to hidden`
  await app(`PATCH /api/v1/dlq/messages/${ordersId}`, {
    headers,
    body: body.replace('the-payload', 'the-payload-2'),
  }).catch(() => {})
  await database.sql`alter table dlq.hidden rename to dlq_message_edits`
  await app('GET /api/v1/audit', { headers: { authorization: 'Bearer secret-unknown' } })

  expect(text).toContain('request_failed')
  expect(text).toContain('slow_request')
  expect(text).not.toMatch(/secret-|the-payload|the-key/)
})

test('only the actor who sends too many requests is told to wait', async () => {
  const app = createTestApp(service.sql, { auth, rateLimit: 2 })
  const ask = (name: string) => app('GET /api/v1/audit', { headers: { authorization: `Bearer secret-${name}` } })
  const answers = []
  for (let n = 0; n < 8; n += 1) answers.push(await ask('auditor'))
  const refused = answers.find(({ status }) => status === 429)
  expect(refused?.headers.get('retry-after')).toMatch(/^[1-3]$/)
  expect((await ask('operator')).status).toBe(200)
})
