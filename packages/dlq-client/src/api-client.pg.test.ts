// The client against the API itself, in this process.
import { createHash } from 'node:crypto'
import { createTestApp } from 'api/src/test-app.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeAll, expect, test } from 'vitest'
import { createDlqClient, DlqApiError, type DlqClient, dataOf } from './api-client.ts'
import { eachAuditEntry, eachGroup, eachMessage, eachTopic } from './each.ts'
import { ExactNumber, exactJson } from './json/exact-json.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const sha256 = createHash('sha256').update('secret').digest('hex')
const asked: string[] = []

function connect(token?: string | (() => string), json?: typeof exactJson): DlqClient {
  const app = createTestApp(service.sql, { auth: { tokens: [{ name: 'maria', sha256, role: 'sys_operator' }] } })
  return createDlqClient({
    baseUrl: 'http://api',
    ...(token !== undefined && { token }),
    ...(json && { json }),
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      asked.push(`${pathname}${search}`)
      const body = request.body ? await request.text() : null
      return app(`${request.method} ${pathname}${search}`, { headers: request.headers, body })
    },
  })
}

let client: DlqClient
let ids: string[]
beforeAll(async () => {
  client = connect(() => 'secret')
  ids = []
  // Ids of one millisecond in an order of our own; PostgreSQL's would be random within it.
  const time = Date.now().toString(16).padStart(12, '0')
  for (let n = 0; n < 7; n += 1) {
    const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-00000000000${n}`
    ids.push(await insertMessageRow(database.sql, { id, status: n % 2 ? 'DEAD' : 'PENDING', payload: { n } }))
  }
})

test('lists are read page by page, only as far as the caller reads', async () => {
  const found = await Array.fromAsync(eachMessage(client, { limit: 2, status: ['DEAD'], sort: 'oldest' }))
  expect(found.map(({ id }) => id)).toEqual(ids.filter((_, n) => n % 2))
  asked.length = 0
  for await (const { id } of eachMessage(client, { limit: 2 })) {
    expect(id).toBe(ids.at(-1))
    break
  }
  expect(asked).toEqual(['/api/v1/messages?limit=2'])
  expect(await Array.fromAsync(eachGroup(client))).toEqual([])
  expect(await Array.fromAsync(eachTopic(client, { kind: 'original' }))).toMatchObject([{ topic: 'orders.events.v1' }])
})

test('changes carry the ETag that was read, and the API’s error is thrown', async () => {
  const path = { id: ids[0]! }
  const { response } = await client.GET('/api/v1/dlq/messages/{id}', { params: { path } })
  const change = (etag: string) =>
    dataOf(
      client.PATCH('/api/v1/dlq/messages/{id}', {
        params: { path, header: { 'if-match': etag } },
        body: { value: { json: { n: 'mended' } }, reason: 'OPS-1' },
      }),
    )
  const etag = response.headers.get('etag')!
  expect(await change(etag)).toMatchObject({ payload: { n: 'mended' } })
  const error = await change(etag).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(DlqApiError)
  expect(error).toMatchObject({ status: 412, code: 'SYS_DLQ_PRECONDITION_FAILED', requestId: expect.any(String) })
  expect(await Array.fromAsync(eachAuditEntry(client, { actor: 'maria' }))).toMatchObject([
    { action: 'message.edit', reason: 'OPS-1' },
  ])
})

test('without the right token every call fails with that reason, also a list', async () => {
  await expect(dataOf(connect().GET('/api/v1/status'))).rejects.toMatchObject({ status: 401 })
  await expect(Array.fromAsync(eachMessage(connect('wrong')))).rejects.toMatchObject({
    code: 'SYS_DLQ_UNAUTHENTICATED',
  })
})

test('a payload keeps all digits of its numbers, there and back, where that is asked for', async () => {
  const value = '{"total":12345678901234567890.12,"price":1.50,"n":7}'
  const { sql } = database
  const id = await insertMessageRow(sql, { record_value: Buffer.from(value) })
  await sql`update dlq.dlq_messages set payload = ${value}::text::jsonb where id = ${id}`
  const exact = connect('secret', exactJson)
  const params = { path: { id } }
  const { data, response } = await exact.GET('/api/v1/dlq/messages/{id}', { params })
  const payload = data!.payload as { total: ExactNumber; price: ExactNumber; n: number }
  expect([payload.total.text, payload.price.text, payload.n]).toEqual(['12345678901234567890.12', '1.50', 7])
  expect(response.headers.get('etag')).toMatch(/^"/)
  expect(data!.created_at).toEqual(expect.any(String))
  const json = { ...payload, total: new ExactNumber('98765432109876543210.00') }
  const header = { 'if-match': response.headers.get('etag')! }
  await dataOf(
    exact.PATCH('/api/v1/dlq/messages/{id}', {
      params: { ...params, header },
      body: { value: { json }, reason: 'OPS-1' },
    }),
  )
  const [row] = await sql<[{ value: Buffer }]>`select record_value as value from dlq.dlq_messages where id = ${id}`
  expect(row.value.toString().replaceAll(/\s/g, '')).toContain('"total":98765432109876543210.00')
  // Answers that are not JSON, and errors, are as they were.
  const bytes = await exact.GET('/api/v1/dlq/messages/{id}/value', { params, parseAs: 'text' })
  expect(bytes.data).toBe(row.value.toString())
  await expect(dataOf(exact.GET('/api/v1/dlq/messages/{id}', { params: { path: { id: 'x' } } }))).rejects.toMatchObject(
    {
      status: 400,
    },
  )
})
