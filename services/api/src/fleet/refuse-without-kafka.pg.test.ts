// Requests for retries while no retrier has Kafka.
import { forgetRetrier, noteRetrier } from 'dlq-core/queries/retry/retriers.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { answerOf, createTestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const note = (id: string, publishes: 'nothing' | 'exactly-once') =>
  noteRetrier(service.sql, { id, publishes, fault: null })
let id: string

beforeEach(async () => {
  await database.sql`truncate dlq.dlq_messages, dlq.dlq_retriers, dlq.dlq_policies, dlq.dlq_runs cascade`
  id = await insertMessageRow(database.sql, { original_topic: 'orders' })
})

const retry = () =>
  createTestApp(service.sql)(`POST /api/v1/dlq/messages/${id}/retry`, { headers: { prefer: 'wait=0' } })
const retryAll = () =>
  createTestApp(service.sql)('POST /api/v1/dlq/orders/retry-all', { headers: { prefer: 'wait=0' } })

const run = (kind = 'retry', topic = 'orders', rest = {}) =>
  createTestApp(service.sql)('POST /api/v1/runs', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind, selection: { filter: { topic } }, ...rest }),
  })

test('retries are refused where all live retriers lack Kafka, and change nothing', async () => {
  await note('one', 'nothing')
  const before = await readMessageRow(database.sql, id)
  for (const answer of [retry(), retryAll(), run()]) {
    const body = { error: expect.objectContaining({ code: 'SYS_DLQ_KAFKA_UNAVAILABLE' }) }
    expect(await answerOf(answer)).toEqual({ status: 503, body })
  }
  expect(await readMessageRow(database.sql, id)).toEqual(before)
})

test('an application that retries by itself needs no retrier', async () => {
  await note('one', 'nothing')
  await database.sql`insert into dlq.dlq_policies (pattern, delivery) values ('orders', 'pull')`
  expect((await retry()).status).toBe(202)
  expect((await retryAll()).status).toBe(202)
  expect((await run()).status).toBe(202)
  // Only a retrier can send a record to another topic, also where applications claim the messages.
  expect((await run('redirect', 'orders', { target_topic: 'elsewhere' })).status).toBe(503)
  await insertMessageRow(database.sql, { original_topic: 'payments' })
  expect((await run('retry', 'payments')).status).toBe(503)
  expect((await run('dead', 'payments')).status).toBe(202)
})

test('one retrier with Kafka is enough, and without any retrier one is expected to return', async () => {
  await note('one', 'nothing')
  await note('two', 'exactly-once')
  expect((await retry()).status).toBe(202)
  for (const retrier of ['one', 'two']) await forgetRetrier(service.sql, retrier)
  expect((await retry()).status).toBe(202)
  expect((await retryAll()).status).toBe(202)
})

test('a retrier that was not seen recently does not count', async () => {
  await note('one', 'nothing')
  await database.sql`update dlq.dlq_retriers set seen_at = now() - interval '1 minute'`
  expect((await retry()).status).toBe(202)
})
