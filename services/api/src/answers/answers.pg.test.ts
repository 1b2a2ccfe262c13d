// Answers that have not changed since the client asked last.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { createTestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const get = (path: string, headers: Record<string, string> = {}) =>
  createTestApp(service.sql)(`GET ${path}`, { headers })

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages')
})

test.each(['status', 'groups', 'topics', 'runs'])('%s that have not changed are answered by 304', async (path) => {
  const first = await get(`/api/v1/${path}`)
  expect(first.status).toBe(200)
  const same = await get(`/api/v1/${path}`, { 'if-none-match': `"other", ${first.headers.get('etag')}` })
  expect(same.status).toBe(304)
  expect(await same.text()).toBe('')
  expect((await get(`/api/v1/${path}`, { 'if-none-match': '"other"' })).status).toBe(200)
})

test('a change gives another ETag', async () => {
  const etag = (await get('/api/v1/topics?kind=original')).headers.get('etag')!
  await insertMessageRow(database.sql)
  expect((await get('/api/v1/topics?kind=original', { 'if-none-match': etag })).status).toBe(200)
})
