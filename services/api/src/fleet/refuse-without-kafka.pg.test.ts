// Retries where no retrier could ever carry them out.
import { forgetRetrier, noteRetrier } from 'dlq-core/queries/retriers.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/message-rows.ts'
import { useServiceDatabase } from 'dlq-testing/service-database.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { answerOf, createTestApp } from './test-app.ts'

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

test('retries are refused where the retriers that live have no Kafka, and change nothing', async () => {
  await note('one', 'nothing')
  const before = await readMessageRow(database.sql, id)
  for (const answer of [retry(), retryAll(), run()]) {
    const body = { error: expect.objectContaining({ code: 'SYS_DLQ_KAFKA_UNAVAILABLE' }) }
    expect(await answerOf(answer)).toEqual({ status: 503, body })
  }
  expect(await readMessageRow(database.sql, id)).toEqual(before)
})

test('an application that retries by itself needs none', async () => {
  await note('one', 'nothing')
  await database.sql`insert into dlq.dlq_policies (pattern, delivery) values ('orders', 'pull')`
  expect((await retry()).status).toBe(202)
  expect((await retryAll()).status).toBe(202)
  expect((await run()).status).toBe(202)
  // To another topic a record has to be sent, whoever claims its messages.
  expect((await run('redirect', 'orders', { target_topic: 'elsewhere' })).status).toBe(503)
  await insertMessageRow(database.sql, { original_topic: 'payments' })
  expect((await run('retry', 'payments')).status).toBe(503)
  expect((await run('dead', 'payments')).status).toBe(202)
})

test('one retrier with Kafka is enough, and none at all will be back', async () => {
  await note('one', 'nothing')
  await note('two', 'exactly-once')
  expect((await retry()).status).toBe(202)
  for (const retrier of ['one', 'two']) await forgetRetrier(service.sql, retrier)
  expect((await retry()).status).toBe(202)
  expect((await retryAll()).status).toBe(202)
})

test('a retrier that was not seen lately counts for nothing', async () => {
  await note('one', 'nothing')
  await database.sql`update dlq.dlq_retriers set seen_at = now() - interval '1 minute'`
  expect((await retry()).status).toBe(202)
})
