// The observability specification's endpoints, and the status page.

import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerOf, createTestApp, lazyTestApp } from '../../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const request = lazyTestApp(service)

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_topics', 'dlq.dlq_audit')
})

const insert = (columns: MessageColumns = {}) => insertMessageRow(database.sql, columns)
const dead = { status: 'DEAD', retry_count: 3 }
const ofPayments = {
  original_topic: 'order-events',
  consumer_group: 'payment-service',
  dlq_topic: 'order-events.dlq.v1',
}
const left = async () => (await database.sql`select id from dlq.dlq_messages order by id`).map(({ id }) => id)
const audited = async () =>
  database.sql`select action, target_id, original_topic, before from dlq.dlq_audit order by id`
/** A token that may see the topics. */
const limitedTo = (topics: string[]) =>
  createTestApp(service.sql, { authenticate: async () => ({ actor: 'someone', grants: [{ role: 'write', topics }] }) })

describe('GET /dlq-status', () => {
  test('answers as the specification says, with the display names of the DLQ topics', async () => {
    await database.sql`
      insert into dlq.dlq_topics (cluster, topic, partitions, display_name) values
        ('a', 'order-events.dlq.v1', 1, 'Order Events'), ('b', 'order-events.dlq.v1', 1, 'Order Events')`
    for (let n = 0; n < 3; n += 1) await insert({ ...ofPayments, ...dead, group_id: randomUUID() })
    await insert({ ...ofPayments, status: 'PENDING' })
    await insert({ ...ofPayments, consumer_group: 'mail', status: 'RESOLVED' })
    await insert({ original_topic: 'unnamed', ...dead })

    expect(await answerOf(request('GET /dlq-status'))).toEqual({
      status: 200,
      body: {
        consumers: [
          {
            channelId: 'order-events',
            channelName: 'Order Events',
            consumerId: 'mail',
            consumerName: 'mail',
            deadCount: 0,
          },
          {
            channelId: 'order-events',
            channelName: 'Order Events',
            consumerId: 'payment-service',
            consumerName: 'payment-service',
            deadCount: 3,
          },
          {
            channelId: 'unnamed',
            channelName: 'unnamed',
            consumerId: '(none)',
            consumerName: 'no consumer group',
            deadCount: 1,
          },
        ],
      },
    })
  })

  test('answers without consumers where there is no message', async () => {
    const id = await insert(dead)
    await database.sql`delete from dlq.dlq_messages where id = ${id}`
    expect(await answerOf(request('GET /dlq-status'))).toEqual({ status: 200, body: { consumers: [] } })
  })

  test('shows only topics in the scope of the token', async () => {
    await insert({ original_topic: 'orders', ...dead })
    await insert({ original_topic: 'payments', ...dead })
    const { body } = await answerOf(limitedTo(['pay*'])('GET /dlq-status'))
    expect(body).toMatchObject({ consumers: [{ channelId: 'payments', deadCount: 1 }] })
  })

  test('answers 503 until the messages have been counted', async () => {
    await database.sql`update dlq.dlq_summary_state set counted_at = null`
    try {
      for (const path of ['/dlq-status', '/api/v1/status'])
        expect(await answerOf(request(`GET ${path}`))).toMatchObject({
          status: 503,
          body: { error: { code: 'SYS_DLQ_UNAVAILABLE', message: expect.stringContaining('being counted') } },
        })
    } finally {
      await database.sql`update dlq.dlq_summary_state set counted_at = now()`
    }
  })

  test('folds the deltas when there are many, with the same answer', async () => {
    await insert({ ...ofPayments, ...dead })
    await database.sql`
      insert into dlq.dlq_summary_deltas (original_topic, status, change)
      select 'order-events', 'DEAD', case when n % 2 = 0 then 1 else -1 end from generate_series(1, 6000) n`
    const { body } = await answerOf(request('GET /dlq-status'))
    expect(body).toMatchObject({ consumers: [{ deadCount: 1 }] })
    await expect
      .poll(async () => (await database.sql`select from dlq.dlq_summary_deltas`).length, { timeout: 30_000 })
      .toBeLessThan(100)
    expect((await answerOf(request('GET /dlq-status'))).body).toEqual(body)
  })
})

describe('DELETE …/dlq', () => {
  const path = 'DELETE /channel/order-events/consumer/payment-service/dlq'

  test('deletes DEAD messages without budget, with their history, and no others', async () => {
    const spent = [await insert({ ...ofPayments, ...dead }), await insert({ ...ofPayments, ...dead, retry_count: 4 })]
    const kept = [
      await insert({ ...ofPayments, status: 'DEAD', retry_count: 2 }),
      await insert({ ...ofPayments, status: 'PENDING', retry_count: 3 }),
      await insert({ ...ofPayments, ...dead, consumer_group: 'mail' }),
      await insert({ ...ofPayments, ...dead, consumer_group: null }),
      await insert({ ...ofPayments, ...dead, original_topic: 'others' }),
    ]
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome)
      select id, 1, gen_random_uuid(), 'failed' from dlq.dlq_messages`

    expect(await answerOf(request(path))).toEqual({
      status: 200,
      body: { deleted: 2, message: '2 dead messages of consumer payment-service deleted' },
    })
    expect(await left()).toEqual(kept.toSorted())
    expect(await database.sql`select from dlq.dlq_attempts where message_id = any(${spent})`).toHaveLength(0)
    expect([...(await audited())]).toEqual([
      {
        action: 'consumer.purge',
        target_id: 'order-events/payment-service',
        original_topic: 'order-events',
        before: { status: 'DEAD', messages: 2 },
      },
    ])
    expect((await answerOf(request(path))).body).toMatchObject({ deleted: 0 })
    expect(await audited()).toHaveLength(1)
  })

  test('examines ten thousand in one transaction, continues chunk by chunk, and counts are right at once', async () => {
    await database.sql`
      insert into dlq.dlq_messages (original_topic, consumer_group, error_message, status, retry_count)
      select 'order-events', 'payment-service', 'failed', 'DEAD', 2 + n % 2 from generate_series(1, 10100) n`
    expect((await answerOf(request(path))).body).toMatchObject({ deleted: 5050 })
    const purged = [...(await audited())].map(({ before }) => before.messages)
    expect([purged.length, purged[0] + purged[1]]).toEqual([2, 5050])
    expect((await answerOf(request('GET /dlq-status'))).body).toMatchObject({ consumers: [{ deadCount: 5050 }] })
  })

  test('reaches messages without a consumer group, and no topics outside the scope', async () => {
    const [one, other] = [
      await insert({ ...dead, original_topic: 'a' }),
      await insert({ ...dead, original_topic: 'b' }),
    ]
    const remove = limitedTo(['b'])
    expect((await answerOf(remove('DELETE /channel/a/consumer/(none)/dlq'))).body).toMatchObject({ deleted: 0 })
    expect((await answerOf(remove('DELETE /channel/b/consumer/%28none%29/dlq'))).body).toMatchObject({ deleted: 1 })
    expect([await left(), other]).toEqual([[one], other])
  })

  test('is refused to tokens that may only read', async () => {
    await insert({ ...ofPayments, ...dead })
    const reader = createTestApp(service.sql, {
      authenticate: async () => ({ actor: 'reader', grants: [{ role: 'read', topics: null }] }),
    })
    expect(await answerOf(reader(path))).toMatchObject({ status: 403 })
    expect(await left()).toHaveLength(1)
  })
})

describe('DELETE …/job', () => {
  const remove = (id: string, consumer = 'payment-service') =>
    answerOf(request(`DELETE /channel/order-events/consumer/${consumer}/job/${id}`))

  test('deletes one message that is DEAD with its budget spent', async () => {
    const [one, other] = [await insert({ ...ofPayments, ...dead }), await insert({ ...ofPayments, ...dead })]
    expect(await remove(one)).toEqual({ status: 200, body: { deleted: 1, message: `message ${one} deleted` } })
    expect(await remove(one)).toMatchObject({ status: 404 })
    expect(await left()).toEqual([other])
    expect(await audited()).toHaveLength(1)
  })

  test.each([
    { status: 'DEAD', retry_count: 2 },
    { status: 'PENDING', retry_count: 3 },
    { status: 'RETRYING', retry_count: 3 },
  ])('refuses one that is $status after $retry_count of 3 attempts', async (columns) => {
    const id = await insert({ ...ofPayments, ...columns })
    expect(await remove(id)).toMatchObject({ status: 409, body: { error: { code: 'SYS_DLQ_CONFLICT' } } })
    expect(await left()).toEqual([id])
  })

  test('finds no message of another consumer, and refuses invalid ids', async () => {
    const id = await insert({ ...ofPayments, ...dead })
    expect(await remove(id, 'mail')).toMatchObject({ status: 404 })
    expect(await remove('17')).toMatchObject({ status: 400 })
    expect([await left(), await audited()]).toMatchObject([[id], []])
  })
})

describe('GET /api/v1/status', () => {
  test('counts by topic, consumer group and status, and has the age of the oldest message and the outcomes of retries', async () => {
    const since = new Date('2026-02-20T10:30:00Z')
    const idOf = (time: Date) =>
      `${time
        .getTime()
        .toString(16)
        .padStart(12, '0')
        .replace(/^(.{8})/, '$1-')}-7${randomUUID().slice(15)}`
    await insert({ ...ofPayments, id: idOf(since), record_timestamp: since })
    await insert(ofPayments)
    await insert({ ...ofPayments, ...dead })
    await insert({ original_topic: 'payments', status: 'RESOLVED' })
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, settled_at, failed_again_at, target_topic)
      select gen_random_uuid(), 1, gen_random_uuid(), case when n <= 8 then 'published' else 'failed' end,
             case when n = 1 then now() - interval '1 hour' else now() end, case when n = 2 then now() end, 'order-events'
      from generate_series(1, 10) n`

    const { status, body } = await answerOf(request('GET /api/v1/status'))
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        counts: { PENDING: 2, RETRYING: 0, RESOLVED: 1, DEAD: 1 },
        oldest_pending_at: '2026-02-20T10:30:00.000+00:00',
        topics: [
          {
            original_topic: 'order-events',
            consumer_group: 'payment-service',
            counts: { PENDING: 2, RETRYING: 0, RESOLVED: 0, DEAD: 1 },
            oldest_pending_at: '2026-02-20T10:30:00.000+00:00',
          },
          { original_topic: 'payments', consumer_group: null, counts: { RESOLVED: 1 }, oldest_pending_at: null },
        ],
        ingest: { per_minute: 4 },
        // Nine in five minutes: seven published, of which one failed again, and two refused.
        retry: { per_minute: 1.4, refused_per_minute: 0.4, success_rate: 6 / 9 },
        summary: { drift: 0 },
      },
    })
  })

  test('lists the DLQ topics whose records retention may delete before they are stored, the most urgent first', async () => {
    await database.sql`
      insert into dlq.dlq_topics (cluster, topic, partitions, retention_ms, cleanup_policy, looked_at)
      select 'a', topic, 1, retention, 'delete', now()
      from (values ('patient', -1), ('urgent', 3600000), ('quiet', 3600000)) t (topic, retention)`
    await database.sql`
      insert into dlq.dlq_topic_partitions (cluster, topic, partition, log_start_offset, log_end_offset, unread_offset, unread_timestamp)
      values ('a', 'patient', 0, 0, 900, 0, now()), ('a', 'urgent', 0, 0, 1200, 0, now() - interval '10 minutes 30 seconds'),
             ('a', 'quiet', 0, 5, 5, null, null)`
    const { body } = await answerOf(request('GET /api/v1/status'))
    expect(body).toMatchObject({
      loss_clock: [
        { cluster: 'a', topic: 'urgent', lag: 1200, lost: 0, loss: '1,200 records, first expires in 49 m' },
        { cluster: 'a', topic: 'patient', lag: 900, expires_at: null, loss: '900 records' },
      ],
    })
    expect((await answerOf(limitedTo(['pat*'])('GET /api/v1/status'))).body).toMatchObject({
      loss_clock: [{ topic: 'patient' }],
    })
    await emptyTables(database.sql, 'dlq.dlq_topic_partitions')
  })

  test('of nothing is all zeros', async () => {
    expect((await answerOf(request('GET /api/v1/status'))).body).toMatchObject({
      counts: { PENDING: 0, RETRYING: 0, RESOLVED: 0, DEAD: 0 },
      oldest_pending_at: null,
      topics: [],
      retry: { success_rate: null },
    })
  })

  test('names only topics in the scope of the token', async () => {
    await insert(ofPayments)
    await insert({ original_topic: 'payments' })
    const { body } = await answerOf(limitedTo(['payments'])('GET /api/v1/status'))
    expect(body).toMatchObject({
      counts: { PENDING: 1 },
      topics: [{ original_topic: 'payments' }],
      ingest: { per_minute: 1 },
    })
  })
})
