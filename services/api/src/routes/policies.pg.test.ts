// Policies by HTTP, and previews of the topics that they match.
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { answerOf, createTestApp, type TestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
let request: TestApp
beforeAll(async () => {
  request = createTestApp(service.sql)
  for (const [original_topic, dlq_topic] of [
    ['orders.events.v1', 'orders.dlq.v1'],
    ['orders.late', 'late.dlq.v1'],
    ['payments', 'orders.shared'],
    ['refunds', null],
  ])
    await insertMessageRow(database.sql, { original_topic, dlq_topic })
})
beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_policies', 'dlq.dlq_audit')
})

const put = (pattern: string, body: unknown, query = '') =>
  request(`PUT /api/v1/policies/${encodeURIComponent(pattern)}${query}`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const updated_at = expect.stringMatching(/\+00:00$/)

test('a policy is written, read, listed, replaced and deleted, each with its audit', async () => {
  const settings = {
    max_retries: 5,
    initial_delay: '90s',
    backoff: 'list',
    backoff_list: ['1m', '1h'],
    rate_per_second: 0.5,
    paused: false,
  }
  const shown = { ...settings, initial_delay: '1m30s', pattern: 'orders.*', updated_at }
  expect(await answerOf(put('orders.*', settings, '?reason=calm%20down'))).toMatchObject({
    status: 200,
    body: { policy: shown },
  })
  expect(await answerOf(request('GET /api/v1/policies'))).toMatchObject({ status: 200, body: { policies: [shown] } })
  expect(await answerOf(request('GET /api/v1/policies/orders.*'))).toMatchObject({
    status: 200,
    body: { policy: shown },
  })

  // A setting that the body leaves out is removed.
  expect((await answerOf(put('orders.*', { weight: 2 }))).body).toMatchObject({
    policy: { pattern: 'orders.*', weight: 2, updated_at },
  })
  expect(
    ((await answerOf(request('GET /api/v1/policies'))).body as { policies: object[] }).policies[0],
  ).not.toHaveProperty('max_retries')

  expect((await request('DELETE /api/v1/policies/orders.*')).status).toBe(200)
  expect((await request('DELETE /api/v1/policies/orders.*')).status).toBe(404)
  expect((await request('GET /api/v1/policies/orders.*')).status).toBe(404)
  const audit =
    await database.sql`select action, reason, before->>'weight' as before, after->>'weight' as after from dlq.dlq_audit order by id`
  expect(audit.map((row) => ({ ...row }))).toEqual([
    { action: 'policy.put', reason: 'calm down', before: null, after: null },
    { action: 'policy.put', reason: null, before: null, after: '2' },
    { action: 'policy.delete', reason: null, before: '2', after: null },
  ])
})

test.each([
  ['max_retries', '5', '5'],
  ['rate_per_second', '0.5', '0.5'],
  ['paused', 'true', 'true'],
  ['backoff_list', '1m,5m', '["1m","5m"]'],
  ['scrub', 'iban', '["iban"]'],
])('%s is not taken from a text', async (field, text, wanted) => {
  const message = `must be ${wanted}, and not a text`
  expect(await answerOf(put('a', { [field]: text }))).toMatchObject({
    status: 400,
    body: { error: { details: [{ field, message }] } },
  })
  expect((await put('a', { refailure_share: '5%', initial_delay: '1m', [field]: JSON.parse(wanted) })).status).toBe(200)
})

test('PUT accepts the answer of PUT', async () => {
  const body = {
    run_every: 21_600_000,
    run_limit: 50,
    max_delay: 0,
    refailure_threshold: 0,
    redirect_topic: '',
    ordering: 'per-key',
  }
  const { policy } = (await answerOf(put('a', body))).body as { policy: Record<string, unknown> }
  const { pattern, updated_at: _, ...shown } = policy
  expect(shown).toEqual({ ...body, run_every: '6h', max_delay: '0s' })
  expect((await answerOf(put('b', shown))).body).toMatchObject({ policy: shown })
  expect(pattern).toBe('a')
})

test('a preview shows the topics that a pattern matches, and the settings that it decides for them', async () => {
  await put('orders.events.*', { max_retries: 9 })
  const preview = await answerOf(put('orders.*', { max_retries: 5, weight: 3 }, '?dry_run=true'))
  expect(preview).toMatchObject({
    status: 200,
    body: {
      policy: { pattern: 'orders.*', updated_at: null },
      matches: [
        { original_topic: 'orders.events.v1', dlq_topic: 'orders.dlq.v1', decides: ['weight'] },
        { original_topic: 'orders.late', dlq_topic: 'late.dlq.v1', decides: ['max_retries', 'weight'] },
        { original_topic: 'payments', dlq_topic: 'orders.shared', decides: ['max_retries', 'weight'] },
      ],
    },
  })
  expect(await database.sql`select from dlq.dlq_policies`).toHaveLength(1)
  expect(await database.sql`select from dlq.dlq_audit`).toHaveLength(1)
  // The answer is the same once the policy is stored.
  // As changes it shows the settings in force that differ, with what they were.
  expect(preview).toMatchObject({
    body: {
      matches: [
        { pending: 1, changes: [{ setting: 'weight', before: 1, after: 3 }] },
        { changes: [{ setting: 'max_retries', before: 3, after: 5 }, { setting: 'weight' }] },
        {},
      ],
    },
  })
  expect(
    ((await answerOf(put('orders.*', { max_retries: 5, weight: 3 }))).body as { matches: unknown }).matches,
  ).toEqual((preview.body as { matches: unknown }).matches)
})

test('a change of what somebody else has changed meanwhile is refused by its ETag', async () => {
  const path = '/api/v1/policies/orders.*'
  const change = (method: string, etag: string, query = '') =>
    request(`${method} ${path}${query}`, {
      headers: { 'content-type': 'application/json', 'if-match': etag },
      ...(method === 'PUT' && { body: '{"weight":2}' }),
    })
  expect((await change('PUT', '*')).status).toBe(412)
  const first = (await put('orders.*', { weight: 1 })).headers.get('etag')!
  expect((await request(`GET ${path}`)).headers.get('etag')).toBe(first)
  expect((await change('PUT', '"another"')).status).toBe(412)
  expect((await change('PUT', first, '?dry_run=true')).status).toBe(200)
  const answer = await change('PUT', `"another", ${first}`)
  expect(answer.status).toBe(200)
  expect((await change('PUT', first, '?dry_run=true')).status).toBe(412)
  expect((await change('DELETE', first)).status).toBe(412)
  expect(await database.sql`select weight from dlq.dlq_policies`).toMatchObject([{ weight: 2 }])
  expect((await change('DELETE', answer.headers.get('etag')!)).status).toBe(200)
})

test('a new policy does not take the place of one that somebody else has made meanwhile', async () => {
  const create = (query = '', header = '*') =>
    request(`PUT /api/v1/policies/invoices.*${query}`, {
      headers: { 'content-type': 'application/json', 'if-none-match': header },
      body: '{"weight":2}',
    })
  expect((await create('', '"another"')).status).toBe(400)
  expect((await create('?dry_run=true')).status).toBe(200)
  expect((await create()).status).toBe(200)
  await put('invoices.*', { max_retries: 5 })
  expect((await create('?dry_run=true')).status).toBe(412)
  expect((await create()).status).toBe(412)
  expect(await database.sql`select max_retries, weight from dlq.dlq_policies where pattern = 'invoices.*'`).toEqual([
    { max_retries: 5, weight: null },
  ])
})

test('the list has the layers below the rows, and of these a limited token sees only its own', async () => {
  const policyLayers = {
    section: { max_retries: 4 },
    fileEntries: [
      { pattern: 'orders.*', initial_delay: 60_000 },
      { pattern: 'payments', weight: 2 },
    ],
  }
  const listed = async (topics: string[] | null) => {
    const authenticate = async () => ({ actor: 'a', grants: [{ role: 'read' as const, topics }] })
    return (await answerOf(createTestApp(service.sql, { policyLayers, authenticate })('GET /api/v1/policies'))).body
  }
  expect(await listed(null)).toMatchObject({
    configured: [
      { pattern: null, max_retries: 4 },
      { pattern: 'orders.*', initial_delay: '1m' },
      { pattern: 'payments', weight: 2 },
    ],
    defaults: { auto_retry: true, max_retries: 3, initial_delay: expect.any(String), weight: 1 },
  })
  expect(await listed(['orders.*'])).toMatchObject({
    configured: [{ pattern: null }, { pattern: 'orders.*', initial_delay: '1m' }],
  })
})

test.each([
  [{ max_retries: 0 }, 'max_retries'],
  [{ initial_delay: 'soon' }, 'initial_delay'],
  [{ backoff: 'list' }, 'backoff_list'],
  [{ max_retry: 5 }, 'max_retry'],
  [{ run_every: '10ms' }, 'run_every'],
  [{ pattern: 'orders.*' }, 'pattern'],
])('%j is refused by its field', async (body, field) => {
  expect(await answerOf(put('orders.*', body))).toMatchObject({
    status: 400,
    body: { error: { code: 'SYS_DLQ_VALIDATION_ERROR', details: [{ field }] } },
  })
})

test('delivery and retention are read back as they were written', async () => {
  const policy = { delivery: 'pull', retention: '90d' }
  expect(await answerOf(put('orders.*', policy))).toMatchObject({ status: 200, body: { policy } })
})

test.each(['a b', 'a/b', 'ü', 'x'.repeat(250)])('the pattern %s is refused', async (pattern) => {
  expect((await put(pattern, {})).status).toBe(400)
})

test('eight writers of one policy leave an audit without gaps', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => put('orders.*', { weight: n + 1 })))
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
  const audit =
    await database.sql`select before->>'weight' as before, after->>'weight' as after from dlq.dlq_audit order by id`
  for (const [at, { before }] of audit.entries()) expect(before).toBe(at === 0 ? null : audit[at - 1]!.after)
})
