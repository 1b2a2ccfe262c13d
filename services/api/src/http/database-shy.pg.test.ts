// The API while PostgreSQL is frozen, and behind a pooler that gives every transaction another connection.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { connectDatabase } from 'dlq-core/runtime/database/database.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { layCluster } from 'dlq-testing/fleet/kept-cluster.ts'
import { startTransactionPooler } from 'dlq-testing/pooling/transaction-pooler.ts'
import { startPostgres } from 'dlq-testing/postgres/postgres.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { freezeProcess } from 'dlq-testing/process/process-tree.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test, vi } from 'vitest'
import { migrateUp } from '../../../../db/migrate.ts'
import { answerOf, createTestApp } from '../test-app.ts'
import { startRetrier } from '../test-retrier.ts'

const database = useDatabase()

function connect(url: string, { silenceMs, ...env }: { silenceMs?: number } & Record<string, unknown> = {}) {
  const { config } = loadConfig({
    env: { DATABASE_URL: url, ...(env as Record<string, string>) },
    yaml: null,
    needs: ['database'],
  })
  const log = createLog({ service: 'test', level: 'silent' })
  return connectDatabase(config.database, {
    applicationName: 'dlq-api',
    log,
    ...(silenceMs !== undefined && { silenceMs }),
  })
}

test('while PostgreSQL is frozen every answer comes in bounded time, and afterwards requests succeed again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dlq-frozen-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
  await layCluster(join(folder, 'postgres'))
  const server = stack.adopt(await startPostgres({ dataDir: join(folder, 'postgres'), reaper }), (server) =>
    server.stop(),
  )
  await migrateUp({ databaseUrl: server.url })
  const sql = stack.adopt(connect(server.url, { silenceMs: 3000 }), (sql) => sql.end({ timeout: 1 }))
  const request = createTestApp(sql, { requestTimeoutMs: 2000, retryWaitMs: 200 })
  const untilWell = () =>
    vi.waitFor(async () => expect((await request('GET /api/v1/dlq/orders')).status).toBe(200), {
      timeout: 60_000,
      interval: 200,
    })
  await untilWell()

  const thaw = freezeProcess(server.pid)
  try {
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(
        [
          'GET /api/v1/dlq/orders',
          'GET /api/v1/audit',
          'POST /api/v1/dlq/messages/550e8400-e29b-41d4-a716-446655440000/retry',
        ].map((path) => request(path)),
      )
      for (const answer of answers) {
        expect(answer.headers.get('retry-after')).toMatch(/^[2-5]$/)
        expect(await answerOf(answer)).toMatchObject({ status: 503, body: { error: { code: 'SYS_DLQ_UNAVAILABLE' } } })
      }
    }
    expect((await request('GET /readyz')).status).toBe(503)
    expect((await request('GET /healthz')).status).toBe(200)
  } finally {
    thaw()
  }
  await untilWell()
})

test('a connection on which PostgreSQL is silent is closed, and the query fails', async () => {
  await using stack = new AsyncDisposableStack()
  const sql = stack.adopt(connect(database.url, { silenceMs: 300 }), (sql) => sql.end({ timeout: 1 }))
  await expect(sql`select pg_sleep(30)`).rejects.toMatchObject({ code: expect.stringMatching(/ETIMEDOUT|CONNECTION_/) })
  expect(await sql`select 1 as one`).toMatchObject([{ one: 1 }])
})

test('behind a pooler in transaction mode everything works as without one', async () => {
  await using stack = new AsyncDisposableStack()
  const pooler = stack.adopt(await startTransactionPooler(database.url), (pooler) => pooler.close())
  const sql = stack.adopt(connect(pooler.url, { DLQ_DATABASE_PREPARE: 'false' }), (sql) => sql.end({ timeout: 1 }))
  const request = createTestApp(sql, { auth: {} })
  const headers = { 'content-type': 'application/json', 'if-match': '*' }
  const body = (value: unknown) => ({ headers, body: JSON.stringify(value) })

  for (let round = 0; round < 3; round += 1) {
    const id = await insertMessageRow(database.sql, { record_value: Buffer.from('x'), record_headers: [] })
    const path = `/api/v1/dlq/messages/${id}`
    const retrier = startRetrier(sql)
    const report = {
      original_topic: 'orders',
      error_message: 'x',
      value: { json: { a: 1.5 } },
      headers: [{ name: 'h', value: { text: 'v' } }],
    }
    const answers = [
      await request(
        `PATCH ${path}`,
        body({
          value: { json: { a: round } },
          headers: [{ name: 'a', value: { base64: '/w==' } }],
          next_retry_at: null,
        }),
      ),
      await request(`GET ${path}`),
      await request(`GET ${path}/edits/1`),
      await request(`POST ${path}/dead`, body({})),
      await request(`POST ${path}/revive`, body({})),
      await request(`POST ${path}/retry`, body({})),
      await request('GET /api/v1/dlq/orders.events.v1'),
      await request('POST /api/v1/dlq/orders.events.v1/retry-all'),
      await request('POST /api/v1/dlq/messages', body(report)),
      await request('PUT /api/v1/policies/orders.*', {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ backoff: 'list', backoff_list: ['1m', '2m'] }),
      }),
      await request('GET /api/v1/policies'),
      await request(`GET /api/v1/audit?target_id=${id}`),
      await request(`DELETE ${path}`, body({ reason: 'done' })),
    ]
    await retrier.stop()
    expect(answers.map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 200, 200, 200, 200, 201, 200, 200, 200, 200,
    ])
  }
  expect(pooler.transactions()).toBeGreaterThan(30)
})

test('with prepared statements it fails, so the setting is needed', async () => {
  await using stack = new AsyncDisposableStack()
  const pooler = stack.adopt(await startTransactionPooler(database.url), (pooler) => pooler.close())
  const sql = stack.adopt(connect(pooler.url), (sql) => sql.end({ timeout: 1 }))
  await expect(sql`select 1`).rejects.toThrow('unsupported startup parameter')
})
