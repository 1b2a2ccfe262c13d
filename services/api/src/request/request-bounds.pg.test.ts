// Small requests that cost much: each is answered soon, and leaves nothing behind.
import { createHash } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { UnderlyingSource } from 'node:stream/web'
import { setTimeout as sleep } from 'node:timers/promises'
import { pingMessages } from 'dlq-core/queries/ping.ts'
import { createReadiness } from 'dlq-core/runtime/readiness.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { answerOf, createTestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const report = (payload: string) => ({
  headers: { 'content-type': 'application/json' },
  body: `{"original_topic":"orders","error_message":"failed","value":{"json":${payload}}}`,
})
const asJson = { 'content-type': 'application/json' }

test('a body of millions of values, or of deep nesting, is no request', async () => {
  const request = createTestApp(service.sql)
  const many = await answerOf(request('POST /api/v1/dlq/messages', report(`[${'1,'.repeat(2_500_000)}1]`)))
  expect(many).toMatchObject({
    status: 400,
    body: { error: { message: 'the body consists of more than 100000 values' } },
  })
  const deep = await answerOf(
    request('POST /api/v1/dlq/messages', report(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)),
  )
  expect(deep).toMatchObject({
    status: 400,
    body: { error: { message: 'the body is nested deeper than 1000 levels' } },
  })
  // As deep as a payload may be.
  const fits = await request('POST /api/v1/dlq/messages', report(`${'['.repeat(990)}${']'.repeat(990)}`))
  expect(fits.status).toBe(201)
})

test('a body that does not come to its end is answered 408 after the request’s time', async () => {
  const request = createTestApp(service.sql, { requestTimeoutMs: 200 })
  let cancelled = false
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await sleep(50)
      controller.enqueue(Buffer.from(' '))
    },
    cancel() {
      cancelled = true
    },
  })
  const init = { body, headers: asJson, duplex: 'half' } as RequestInit
  const response = await request('POST /api/v1/dlq/messages', init)
  expect(response.headers.get('connection')).toBe('close')
  expect(await answerOf(response)).toMatchObject({
    status: 408,
    body: { error: { code: 'SYS_DLQ_REQUEST_TIMEOUT', message: 'the body has not come within 0.2 s' } },
  })
  expect(cancelled).toBe(true)
})

test('a body whose length is not said is read up to its bound', async () => {
  const request = createTestApp(service.sql)
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(256 * 1024)),
  })
  const response = await request('POST /api/v1/runs', { body, headers: asJson, duplex: 'half' } as RequestInit)
  expect(response.status).toBe(413)
})

test('large bodies of one sender are read in turns, and small ones and those of others meanwhile', async () => {
  const token = (name: string) => ({
    ...{ name, role: 'sys_operator' as const },
    sha256: createHash('sha256').update(name).digest('hex'),
  })
  const auth = { tokens: [token('slow'), token('other')] }
  const request = createTestApp(service.sql, { auth })
  const end = Promise.withResolvers<void>()
  let read = 0
  const sendSlowly = () => {
    const source: UnderlyingSource<Uint8Array> = {
      async pull(controller) {
        read++
        await end.promise
        controller.close()
      },
    }
    const body = new ReadableStream(source, { highWaterMark: 0 })
    const headers = { ...asJson, authorization: 'Bearer slow', 'content-length': String(6 * 1024 * 1024) }
    return request('POST /api/v1/dlq/messages', { body, headers, duplex: 'half' } as RequestInit)
  }
  const slow = [sendSlowly(), sendSlowly()]
  const { headers, body } = report('1')
  const large = `${body}${' '.repeat(100_000)}`
  const sendOther = (name: string, body: string) => {
    const all = { ...headers, authorization: `Bearer ${name}`, 'content-length': String(body.length) }
    return request('POST /api/v1/dlq/messages', { headers: all, body })
  }
  expect((await sendOther('other', large)).status).toBe(201)
  expect((await sendOther('slow', body)).status).toBe(201)
  expect(read).toBe(1)
  end.resolve()
  expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([400, 400])
  expect(read).toBe(2)
})

test('what waits for a retrier takes no large body, whose room it would keep meanwhile', async () => {
  const request = createTestApp(service.sql)
  const id = await insertMessageRow(database.sql)
  const body = `{}${' '.repeat(64 * 1024)}`
  const headers = { ...asJson, 'content-length': String(body.length) }
  for (const path of [`dlq/messages/${id}/retry`, 'dlq/orders/retry-all'])
    expect((await request(`POST /api/v1/${path}`, { headers, body })).status, path).toBe(413)
})

test('a preview of large values shows none of them, and lets others be answered in between', async () => {
  const request = createTestApp(service.sql)
  const value = Buffer.from(`{"amount":1,"lines":[${'1,'.repeat(40_000)}1]}`)
  for (let n = 0; n < 6; n += 1)
    await insertMessageRow(database.sql, { original_topic: 'large', record_value: value, record_headers: [] })
  const body = JSON.stringify({
    ...{ kind: 'edit', dry_run: true, selection: { filter: { topic: 'large' } } },
    patch: [{ op: 'replace', path: '/amount', value: 2 }],
  })
  const stalls = monitorEventLoopDelay({ resolution: 1 })
  const startedAt = performance.now()
  stalls.enable()
  const response = await request('POST /api/v1/runs', { headers: asJson, body })
  stalls.disable()
  expect(response.status).toBe(200)
  const text = await response.text()
  const { diff } = JSON.parse(text) as { diff: object[] }
  expect(diff).toHaveLength(6)
  for (const one of diff) expect(one).toMatchObject({ before: null, after: null, omitted: true, problem: null })
  // One message at a time, of six.
  expect(stalls.max / 1e6 / (performance.now() - startedAt)).toBeLessThan(0.5)
})

test('/readyz fails where lists fail', async () => {
  const request = createTestApp(service.sql, {
    readiness: createReadiness({ database: () => pingMessages(service.sql) }),
  })
  expect((await request('GET /readyz')).status).toBe(200)
  await database.sql`alter table dlq.dlq_messages rename to away`
  try {
    expect((await request('GET /readyz')).status).toBe(503)
  } finally {
    await database.sql`alter table dlq.away rename to dlq_messages`
  }
})
