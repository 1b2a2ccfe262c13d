// Who may have a run that erases, and what it shows.

import { createHash } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { answerOf, createTestApp } from '../test-app.ts'
import { startRunWorker } from './test-runs.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const tokenOf = (name: string) => `secret-${name}-0123456789`
const hashOf = (name: string) => createHash('sha256').update(tokenOf(name)).digest('hex')
const auth = {
  tokens: [
    { name: 'admin', sha256: hashOf('admin'), role: 'sys_admin' as const, payloads: 'full' as const },
    { name: 'masked', sha256: hashOf('masked'), role: 'sys_admin' as const },
    { name: 'operator', sha256: hashOf('operator'), role: 'sys_operator' as const },
    {
      name: 'team',
      sha256: hashOf('team'),
      role: 'sys_admin' as const,
      payloads: 'full' as const,
      topics: ['orders.*'],
    },
  ],
}
beforeEach(() => emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_runs', 'dlq.dlq_erasures'))

const send = (name: string, methodAndPath: string, body?: object) =>
  answerOf(
    createTestApp(service.sql, { auth })(methodAndPath, {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${tokenOf(name)}` },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )
const wanted = { kind: 'erase', selection: { keys: [{ text: 'maria' }] }, expect_count: 1, reason: 'ticket 17' }

test('only an admin of all topics may erase, with a reason and a number', async () => {
  await insertMessageRow(database.sql, { record_key: Buffer.from('maria') })
  for (const name of ['operator', 'team', 'masked'])
    expect((await send(name, 'POST /api/v1/runs', wanted)).status).toBe(403)
  for (const field of ['reason', 'expect_count'])
    expect(await send('admin', 'POST /api/v1/runs', { ...wanted, [field]: undefined })).toMatchObject({ status: 400 })
  expect(await send('admin', 'POST /api/v1/runs', { ...wanted, kind: 'delete' })).toMatchObject({ status: 400 })
  expect(await send('admin', 'POST /api/v1/runs', { ...wanted, expect_count: 2 })).toMatchObject({ status: 409 })
  const survey = await send('admin', 'POST /api/v1/runs', { ...wanted, dry_run: true })
  expect(survey).toMatchObject({ status: 200, body: { matched: { value: 1 }, eligible: 1 } })
})

test('a run shows no key, and its proof is for admins; the erased message cannot be sent or changed', async () => {
  const id = await insertMessageRow(database.sql, { record_key: Buffer.from('maria'), payload: { name: 'Maria' } })
  const created = await send('admin', 'POST /api/v1/runs', wanted)
  expect(created).toMatchObject({ status: 202, body: { selection: { keys: 1 } } })
  const run = (created.body as { id: string }).id
  expect((await send('admin', `GET /api/v1/runs/${run}/proof`)).status).toBe(409)
  const worker = startRunWorker(service.sql)
  try {
    await expect
      .poll(async () => (await send('admin', `GET /api/v1/runs/${run}`)).body, { timeout: 30_000 })
      .toMatchObject({
        status: 'completed',
      })
  } finally {
    await worker.stop()
  }
  expect((await send('operator', `GET /api/v1/runs/${run}/proof`)).status).toBe(403)
  expect(await send('admin', `GET /api/v1/runs/${run}/proof`)).toMatchObject({
    status: 200,
    body: { ids: [id], remaining: 0, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ record_key: null, payload: null })
  const force = { force: true, reason: 'again' }
  expect(await send('admin', `POST /api/v1/dlq/messages/${id}/retry`, force)).toMatchObject({ status: 409 })
  expect(await send('admin', `POST /api/v1/dlq/messages/${id}/revive`, {})).toMatchObject({ status: 409 })
  expect(await send('admin', `GET /api/v1/dlq/messages/${id}`)).toMatchObject({
    body: { erased_at: expect.any(String) },
  })
  expect(await send('admin', `DELETE /api/v1/dlq/messages/${id}`)).toMatchObject({ status: 200 })
})

test('a run that is cancelled while it is queued keeps no key', async () => {
  await insertMessageRow(database.sql, { record_key: Buffer.from('maria') })
  const { id } = (await send('admin', 'POST /api/v1/runs', wanted)).body as { id: string }
  expect(await send('admin', `POST /api/v1/runs/${id}/cancel`, {})).toMatchObject({ body: { status: 'cancelled' } })
  const [row] = await database.sql`select selection from dlq.dlq_runs where id = ${id}`
  expect(row).toEqual({ selection: { ids: [] } })
})
