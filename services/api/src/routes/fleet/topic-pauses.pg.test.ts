// Who is on call pauses a topic, and everybody who looks is told.

import { createHash } from 'node:crypto'
import { recordTopics } from 'dlq-core/queries/ingest/topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { answerOf, createTestApp } from '../../test-app.ts'
import { startRetrier } from '../../test-retrier.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const token = (name: string, role: 'sys_auditor' | 'sys_operator' | 'sys_admin', topics?: string[]) => ({
  ...{ name, role, sha256: createHash('sha256').update(name).digest('hex') },
  ...(topics && { topics }),
})
const auth = {
  tokens: [
    token('maria', 'sys_operator', ['orders*']),
    token('pay', 'sys_operator', ['pay*']),
    token('reader', 'sys_auditor'),
    token('root', 'sys_admin'),
  ],
}
const ask = (methodAndPath: string, name: string, body?: object) =>
  answerOf(
    createTestApp(service.sql, { auth })(methodAndPath, {
      headers: { authorization: `Bearer ${name}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }),
  ) as Promise<{ status: number; body: never }>
const pause = (topic: string, name: string, body: object = { reason: 'the network is down' }) =>
  ask(`POST /api/v1/topics/${topic}/pause`, name, body)

let orders: string
beforeEach(async () => {
  await emptyTables(
    database.sql,
    ...['dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_topics', 'dlq.dlq_audit', 'dlq.dlq_topic_pauses'],
  )
  await recordTopics(service.sql, {
    cluster: 'c',
    found: ['orders.dlq', 'pay.dlq'].map((topic) => ({ topic, topic_id: null, partitions: 1 })),
  })
  orders = await insertMessageRow(database.sql, {
    ...{ original_topic: 'orders', dlq_topic: 'orders.dlq', next_retry_at: new Date(Date.now() + 3_600_000) },
  })
  await insertMessageRow(database.sql, { original_topic: 'orders', dlq_topic: 'pay.dlq' })
})

test('a paused topic is named by the topic, its messages, the status and the audit, and resumed it is not', async () => {
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const shown = { by: 'maria', reason: 'the network is down', until: expect.stringContaining(until.slice(0, 19)) }
  expect(await pause('orders', 'maria', { reason: 'the network is down', until })).toMatchObject({
    status: 200,
    body: { topic: 'orders', paused: shown, ingestion_paused: null },
  })
  const look = async () => ({
    topics: (await ask('GET /api/v1/topics?kind=original', 'maria')).body,
    status: (await ask('GET /api/v1/status', 'maria')).body,
    message: (await ask(`GET /api/v1/dlq/messages/${orders}`, 'maria')).body,
  })
  expect(await look()).toMatchObject({
    topics: { topics: [{ topic: 'orders', paused: shown }] },
    status: { paused_topics: [{ topic: 'orders', what: 'retries', ...shown }] },
    message: { held_up_by: ['topic orders is paused by maria: the network is down'] },
  })
  expect(await ask('POST /api/v1/topics/orders/resume', 'maria', { reason: 'it is back' })).toMatchObject({
    body: { topic: 'orders', paused: null },
  })
  expect(await look()).toMatchObject({
    topics: { topics: [{ paused: null }] },
    status: { paused_topics: [] },
    message: { held_up_by: [] },
  })
  expect((await ask('POST /api/v1/topics/orders/resume', 'maria')).status).toBe(200)
  const audit =
    await database.sql`select actor, action, target_id, original_topic, reason from dlq.dlq_audit order by id`
  expect([...audit]).toEqual([
    {
      actor: 'maria',
      action: 'topic.pause',
      target_id: 'orders',
      original_topic: 'orders',
      reason: 'the network is down',
    },
    { actor: 'maria', action: 'topic.resume', target_id: 'orders', original_topic: 'orders', reason: 'it is back' },
  ])
})

test('what is paused is not sent, not even if somebody asks, and is sent once it is resumed', async () => {
  await pause('orders', 'root')
  const retrier = startRetrier(service.sql)
  try {
    const body = { force: true, reason: 'now' }
    const asked = await answerOf(
      createTestApp(service.sql, { auth })(`POST /api/v1/dlq/messages/${orders}/retry`, {
        headers: { authorization: 'Bearer root', 'content-type': 'application/json', prefer: 'wait=1' },
        body: JSON.stringify(body),
      }),
    )
    expect(asked).toMatchObject({ status: 202, body: { status: 'PENDING' } })
    await ask('POST /api/v1/topics/orders/resume', 'root')
    await expect
      .poll(async () => (await ask(`GET /api/v1/dlq/messages/${orders}`, 'root')).body, { timeout: 20_000 })
      .toMatchObject({ status: 'RESOLVED' })
  } finally {
    await retrier.stop()
  }
})

test('nobody pauses topics of others, or learns by trying which there are', async () => {
  const refused = { status: 403, body: { error: { code: 'SYS_DLQ_FORBIDDEN' } } }
  for (const topic of ['pay.dlq', 'pay', 'no-such-topic']) expect(await pause(topic, 'maria')).toMatchObject(refused)
  expect(await pause('orders', 'reader')).toMatchObject(refused)
  expect(await ask('POST /api/v1/topics/pay.dlq/resume', 'maria')).toMatchObject(refused)
  expect(await database.sql`select from dlq.dlq_topic_pauses`).toHaveLength(0)
  await pause('pay.dlq', 'pay', { reason: 'secret of pay' })
  for (const path of ['status', 'topics', 'audit', 'topics?kind=original'])
    expect(JSON.stringify((await ask(`GET /api/v1/${path}`, 'maria')).body)).not.toContain('secret of pay')
})

test('a pause of ingestion is of a DLQ topic, and beside that of its retries', async () => {
  const ingestion = { what: 'ingestion', reason: 'it floods us' }
  expect(await pause('orders.dlq', 'maria', ingestion)).toMatchObject({
    body: { paused: null, ingestion_paused: { by: 'maria' } },
  })
  expect((await pause('orders', 'maria', ingestion)).status).toBe(409)
  expect((await ask('GET /api/v1/topics', 'maria')).body).toMatchObject({
    topics: [{ topic: 'orders.dlq', paused: null, ingestion_paused: { reason: 'it floods us' } }],
  })
  expect((await ask('POST /api/v1/topics/orders.dlq/resume', 'maria')).body).toMatchObject({
    ingestion_paused: { by: 'maria' },
  })
  expect((await ask('POST /api/v1/topics/orders.dlq/resume', 'maria', { what: 'ingestion' })).body).toMatchObject({
    ingestion_paused: null,
  })
})

test('a pause wants a reason, an end in the future, and a topic that is known', async () => {
  for (const body of [
    {},
    { reason: '  ' },
    { reason: 'why', until: '2020-01-01T00:00:00Z' },
    { reason: 'why', what: 'x' },
  ])
    expect((await pause('orders', 'root', body)).status, JSON.stringify(body)).toBe(400)
  expect((await pause('ordesr', 'root')).status).toBe(404)
})
