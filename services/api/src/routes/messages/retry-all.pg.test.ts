// retry-all of the specification: it answers with the count where the run ends in time, otherwise with the run.
import { recordTopics } from 'dlq-core/queries/ingest/topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerOf, lazyTestApp } from '../../test-app.ts'
import { startRetrier } from '../../test-retrier.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const request = lazyTestApp(service)
const insert = (columns?: MessageColumns) => insertMessageRow(database.sql, columns)

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_topics', 'dlq.dlq_runs'))

describe('POST /api/v1/dlq/:topic/retry-all', () => {
  test('counts the messages that may be retried and leaves the others alone', async () => {
    await recordTopics(service.sql, {
      cluster: 'c',
      found: [{ topic: 'orders.dlq.v1', topic_id: null, partitions: 1 }],
    })
    const columns = { dlq_topic: 'orders.dlq.v1' }
    for (let n = 0; n < 15; n += 1) await insert(columns)
    const others = [
      await insert({ ...columns, status: 'DEAD', retry_count: 3 }),
      await insert({ ...columns, status: 'RESOLVED', retry_count: 1 }),
      await insert({ ...columns, status: 'RETRYING', retry_count: 1 }),
      await insert({ ...columns, retry_count: 3 }),
      await insert({ dlq_topic: 'payments.dlq.v1' }),
    ]
    const retrier = startRetrier(service.sql)
    const answer = await answerOf(request('POST /api/v1/dlq/orders.dlq.v1/retry-all')).finally(retrier.stop)
    expect(answer).toEqual({
      status: 200,
      body: { retried: 15, message: '15 messages retried in topic orders.dlq.v1' },
    })
    const rest = await database.sql`select id from dlq.dlq_messages where last_retry_at is null`
    expect(rest.map(({ id }) => id).toSorted()).toEqual(others.toSorted())
  })

  test('counts zero where there is nothing', async () => {
    const answer = { status: 200, body: { retried: 0, message: '0 messages retried in topic orders.dlq.v1' } }
    expect(await answerOf(request('POST /api/v1/dlq/orders.dlq.v1/retry-all'))).toEqual(answer)
    await insert({ original_topic: 'payments' })
    expect(await answerOf(request('POST /api/v1/dlq/orders.dlq.v1/retry-all'))).toEqual(answer)
  })

  test('finds the messages of a DLQ topic behind any number of others of the same original topic', async () => {
    await recordTopics(service.sql, {
      cluster: 'c',
      found: [{ topic: 'orders.dlq.v1', topic_id: null, partitions: 1 }],
    })
    await database.sql`
      insert into dlq.dlq_messages (original_topic, dlq_topic, error_message)
      select 'orders', 'other.dlq.v1', 'processing failed' from generate_series(1, 5500)`
    for (let n = 0; n < 2; n += 1) await insert({ original_topic: 'orders', dlq_topic: 'orders.dlq.v1' })
    const retrier = startRetrier(service.sql)
    const answer = await answerOf(request('POST /api/v1/dlq/orders.dlq.v1/retry-all')).finally(retrier.stop)
    expect(answer).toMatchObject({ status: 200, body: { retried: 2 } })
  })

  test('answers 202 with the run where it takes longer, and 409 with its id while it is active', async () => {
    await database.sql`
      insert into dlq.dlq_messages (id, original_topic, error_message)
      select (case n % 3 when 0 then '00000000' when 1 then 'ffffffff' else left(dlq.new_message_id()::text, 8) end
              || right(gen_random_uuid()::text, 28))::uuid, 'orders', 'processing failed'
      from generate_series(1, 2500) n`
    const keyed = { headers: { prefer: 'wait=0', 'idempotency-key': 'k-1' } }
    const response = await request('POST /api/v1/dlq/orders/retry-all', keyed)
    expect(response.status).toBe(202)
    const location = response.headers.get('location')!
    const again = await request('POST /api/v1/dlq/orders/retry-all', keyed)
    expect([again.status, again.headers.get('location')]).toEqual([202, location])
    expect(await answerOf(request('POST /api/v1/dlq/orders/retry-all'))).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining(location.split('/').at(-1)!) } },
    })
    const retrier = startRetrier(service.sql)
    const resolved = { status: 'completed', progress: { taken: 2500, resolved: 2500, waiting: 0 } }
    await expect
      .poll(async () => (await answerOf(request(`GET ${location}`))).body, { timeout: 50_000 })
      .toMatchObject(resolved)
      .finally(retrier.stop)
    expect(await answerOf(request('POST /api/v1/dlq/orders/retry-all', keyed))).toMatchObject({
      ...{ status: 200, body: { retried: 2500 } },
    })
  })
})
