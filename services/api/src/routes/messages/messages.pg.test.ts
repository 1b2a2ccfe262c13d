// The endpoints that show one dead letter.

import { encodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import { upsertPolicy } from 'dlq-core/queries/retry/policies.ts'
import { noteRetrier } from 'dlq-core/queries/retry/retriers.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerOf, lazyTestApp } from '../../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const request = lazyTestApp(service)
const insert = (columns = {}) => insertMessageRow(database.sql, columns)
const archive = (id: string) => database.sql`
  with gone as (delete from dlq.dlq_messages where id = ${id} returning *)
  insert into dlq.dlq_messages_archive
  select archived.* from gone
  cross join jsonb_populate_record(
    null::dlq.dlq_messages_archive, to_jsonb(gone) || '{"archived_at":"2026-05-05T00:00:00Z"}') archived`

beforeEach(async () => {
  await emptyTables(
    database.sql,
    'dlq.dlq_attempts',
    'dlq.dlq_messages',
    'dlq.dlq_messages_archive',
    'dlq.dlq_policies',
    'dlq.dlq_group_pauses',
    'dlq.dlq_retriers',
  )
})

test('a message that SQL has put off for ever is shown, and listed beside others', async () => {
  const [id] = [await insert(), await insert()]
  await database.sql`update dlq.dlq_messages set next_retry_at = 'infinity' where id = ${id}`
  expect(await answerOf(request(`GET /api/v1/dlq/messages/${id}`))).toMatchObject({ status: 200 })
  const list = await request('GET /api/v1/messages')
  expect(list.status).toBe(200)
  expect(((await list.json()) as { messages: { next_retry_at: string | null }[] }).messages).toContainEqual(
    expect.objectContaining({ id, next_retry_at: '9999-12-31T23:59:59.999+00:00' }),
  )
})

describe('the detail of a dead letter', () => {
  const groupId = '00000000-0000-8000-8000-000000000001'
  const offset = Buffer.from([0, 0, 0, 0, 0, 1, 0x60, 0x62])

  test('has the coordinates of the dead letter and of its original record, with readable headers', async () => {
    const stack = `com.example.Late: too late\n${'\tat com.example.A.b(A.java:1)\n'.repeat(5)}`
    const headers = encodeHeaders(
      [
        ['kafka_dlt-original-offset', offset],
        ['trace', Buffer.from([0xff])],
        ['trace', null],
        ['kafka_dlt-exception-stacktrace', Buffer.from(stack)],
      ],
      new Map([['error_stacktrace', stack]]),
    )
    const [row] = await database.sql<[{ id: string }]>`
      insert into dlq.dlq_messages (
        original_topic, error_message, error_stacktrace, dlq_cluster, dlq_topic, dlq_partition, dlq_offset, original_partition,
        original_offset, original_timestamp, original_topic_source, consumer_group, record_key, record_value, record_headers,
        record_timestamp, record_timestamp_type, group_id)
      values (
        'orders.events.v1', 'too late', ${stack}, 'c', 'orders.dlq.v1', 2, '9007199254740993', 3, 90210, '2026-02-20T10:29:58Z',
        'header', 'billing', 'customer-7', '{}', ${headers}::text::json, '2026-02-20T10:30:00Z', 'append', ${groupId})
      returning id`

    const { status, body } = await answerOf(request(`GET /api/v1/dlq/messages/${row.id}`))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      payload: {},
      dlq: { cluster: 'c', topic: 'orders.dlq.v1', partition: 2, offset: '9007199254740993' },
      original: {
        topic: 'orders.events.v1',
        topic_source: 'header',
        partition: 3,
        offset: '90210',
        timestamp: '2026-02-20T10:29:58.000+00:00',
      },
      consumer_group: 'billing',
      key: { value: 'customer-7', encoding: 'text' },
      headers: [
        { name: 'kafka_dlt-original-offset', value: '90210', encoding: 'number', base64: 'AAAAAAABYGI=' },
        { name: 'trace', value: '/w==', encoding: 'base64' },
        { name: 'trace', value: null, encoding: 'text' },
        { name: 'kafka_dlt-exception-stacktrace', value: stack, encoding: 'text' },
      ],
      value_bytes: 2,
      record_timestamp_type: 'append',
      error_stacktrace: stack,
      group_id: groupId,
      edits: 0,
      archived_at: null,
      attempts: [],
    })
  })

  test('shows the policy in force, and the origin of each setting', async () => {
    const id = await insert({ dlq_topic: 'orders.dlq.v1' })
    await upsertPolicy(service.sql, 'orders.*', {
      max_retries: 7,
      initial_delay: 60_000,
      backoff_list: [1000, 3_600_000],
    })

    expect((await answerOf(request(`GET /api/v1/dlq/messages/${id}`))).body).toMatchObject({
      policy: {
        max_retries: { value: 7, source: 'policy', pattern: 'orders.*' },
        initial_delay: { value: '1m', source: 'policy', pattern: 'orders.*' },
        backoff_list: { value: ['1s', '1h'], source: 'policy', pattern: 'orders.*' },
        weight: { value: 1, source: 'default', pattern: null },
        run_every: { value: null, source: 'default', pattern: null },
      },
    })
  })

  test.each([
    [{ status: 'PENDING', next_retry_at: new Date() }, true, null, []],
    [{ status: 'DEAD', retry_count: 3 }, false, 'message is not retryable: status=DEAD, retry_count=3/3', []],
    [{ status: 'PENDING', next_retry_at: null }, true, null, [expect.stringContaining('not retried by itself')]],
  ])('says for %j whether the message may be retried, and why it waits', async (columns, retryable, reason, heldUp) => {
    const id = await insert(columns)
    expect((await answerOf(request(`GET /api/v1/dlq/messages/${id}`))).body).toMatchObject({
      retryable,
      not_retryable_because: reason,
      held_up_by: heldUp,
    })
  })

  test('says that its error group is paused', async () => {
    const id = await insert({ group_id: groupId, next_retry_at: new Date() })
    await database.sql`
      insert into dlq.dlq_group_pauses (original_topic, group_id, reason, probe_at)
      values ('orders.events.v1', ${groupId}, '25 failed again', now())`
    expect((await answerOf(request(`GET /api/v1/dlq/messages/${id}`))).body).toMatchObject({
      retryable: true,
      held_up_by: [expect.stringContaining('25 failed again')],
    })
  })

  test('says that the topic to which it would be sent is held, and not that another one is', async () => {
    const [id, elsewhere] = await Promise.all(
      ['narrow', 'wide'].map((target_topic) => insert({ target_topic, next_retry_at: new Date() })),
    )
    await noteRetrier(service.sql, {
      ...{ id: 'r1', publishes: 'exactly-once', fault: null },
      held: [{ topic: 'narrow', reason: 'the records are too large', since: new Date() }],
    })
    const detailOf = async (id = '') => (await answerOf(request(`GET /api/v1/dlq/messages/${id}`))).body
    expect(await detailOf(id)).toMatchObject({
      held_up_by: [expect.stringContaining('narrow are refused, so it is only probed: the records are too large')],
    })
    expect(await detailOf(elsewhere)).toMatchObject({ held_up_by: [] })
  })

  test('is found in the archive, with its attempts', async () => {
    const id = await insert({ status: 'RESOLVED', retry_count: 1, record_value: Buffer.from('text') })
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, settled_at)
      values (${id}, 1, gen_random_uuid(), 'published', 'orders.events.v1', 3, 90311, now())`
    await archive(id)

    expect((await answerOf(request(`GET /api/v1/dlq/messages/${id}`))).body).toMatchObject({
      id,
      status: 'RESOLVED',
      archived_at: '2026-05-05T00:00:00.000+00:00',
      retryable: false,
      not_retryable_because: 'message is archived; restore it first',
      attempts: [
        { number: 1, outcome: 'published', target: { topic: 'orders.events.v1', partition: 3, offset: '90311' } },
      ],
    })
    expect(await (await request(`GET /api/v1/dlq/messages/${id}/value`)).text()).toBe('text')
  })
})

test('the attempts have their actor, their outcome and their re-failure', async () => {
  const id = await insert({ retry_count: 2 })
  await database.sql`
    insert into dlq.dlq_attempts (
      message_id, number, attempt_id, actor, outcome, error, target_topic, started_at, settled_at,
      failed_again_at, failed_again_topic, failed_again_partition, failed_again_offset, failed_again_class, error_changed)
    values
      (${id}, 2, gen_random_uuid(), 'maria', 'failed', 'too large', null, now(), now(), null, null, null, null, null, null),
      (${id}, 1, gen_random_uuid(), 'auto', 'published', null, 'orders.events.v1', now(), now(), now(), 'orders.dlq.v1', 0, 12,
       'com.example.Late', true)`
  expect((await answerOf(request(`GET /api/v1/dlq/messages/${id}/attempts`))).body).toMatchObject({
    attempts: [
      {
        number: 1,
        actor: 'auto',
        outcome: 'published',
        failed_again: { topic: 'orders.dlq.v1', offset: '12', error_class: 'com.example.Late', error_changed: true },
      },
      { number: 2, actor: 'maria', outcome: 'failed', error: 'too large', target: null, failed_again: null },
    ],
  })
})

describe('the bytes of a record', () => {
  const json = '{ "n": 12345678901234567890.12 }'

  test.each([
    ['value', { record_value: Buffer.from(json) }, 'application/json', 'json', json],
    [
      'value',
      { record_value: Buffer.from('<script>alert(1)</script>') },
      'text/plain; charset=utf-8',
      'txt',
      '<script>alert(1)</script>',
    ],
    ['value', { record_value: Buffer.from([0, 0xff]) }, 'application/octet-stream', 'bin', '\0\ufffd'],
    ['value', { record_value: Buffer.alloc(0) }, 'text/plain; charset=utf-8', 'txt', ''],
    ['key', { record_key: Buffer.from('7') }, 'text/plain; charset=utf-8', 'txt', '7'],
    ['key', { record_key: Buffer.from([0]) }, 'application/octet-stream', 'bin', '\0'],
  ])('as %s of %j come as a download of type %s', async (part, columns, type, ending, text) => {
    const id = await insert(columns)
    const response = await request(`GET /api/v1/dlq/messages/${id}/${part}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(type)
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${id}.${part}.${ending}"`)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await response.text()).toBe(text)
  })

  test('are missing where the record has none', async () => {
    const id = await insert({ record_headers: '[]' })
    for (const part of ['key', 'value']) {
      const response = await request(`GET /api/v1/dlq/messages/${id}/${part}`)
      expect([response.status, await response.text()]).toEqual([204, ''])
    }
  })

  test('are the payload of a message without a record', async () => {
    const id = await insert({ payload: { order_id: '123' } })
    const response = await request(`GET /api/v1/dlq/messages/${id}/value`)
    expect(await response.json()).toEqual({ order_id: '123' })
  })
})

test.each(['', '/attempts', '/key', '/value'])(
  'GET /messages/:id%s answers 404 where there is none, 400 where it is no id',
  async (path) => {
    const id = '550e8400-e29b-41d4-a716-446655440000'
    expect(await answerOf(request(`GET /api/v1/dlq/messages/${id}${path}`))).toMatchObject({
      status: 404,
      body: { error: { code: 'SYS_DLQ_NOT_FOUND', message: `dlq message not found: ${id}` } },
    })
    expect(await answerOf(request(`GET /api/v1/dlq/messages/nonsense${path}`))).toMatchObject({
      status: 400,
      body: { error: { message: 'invalid message id: nonsense' } },
    })
  },
)
