// The specification's endpoints, with each of its examples as a whole answer.

import { randomUUID } from 'node:crypto'
import { recordTopics } from 'dlq-core/queries/ingest/topics.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerOf, createTestApp, lazyTestApp } from '../test-app.ts'
import { startRetrier } from '../test-retrier.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const request = lazyTestApp(service)
const insert = (columns?: MessageColumns) => insertMessageRow(database.sql, columns)

const exampleId = '550e8400-e29b-41d4-a716-446655440000'
const requestId = expect.stringMatching(/^req_[0-9a-f]{12}$/)
const example = {
  id: exampleId,
  payload: { order_id: '123' },
  created_at: new Date('2026-02-20T10:30:00Z'),
  updated_at: new Date('2026-02-20T10:30:00Z'),
}
const exampleJson = {
  id: exampleId,
  original_topic: 'orders.events.v1',
  error_message: 'processing failed',
  retry_count: 0,
  max_retries: 3,
  payload: { order_id: '123' },
  status: 'PENDING',
  created_at: '2026-02-20T10:30:00.000+00:00',
  updated_at: '2026-02-20T10:30:00.000+00:00',
  last_retry_at: null,
}

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_topics')
})

describe('GET /api/v1/dlq/:topic', () => {
  const list = (path: string) => answerOf(request(`GET /api/v1/dlq/${path}`))

  test('answers with the messages, by default the first page of twenty', async () => {
    await insert(example)
    expect(await list('orders.events.v1')).toEqual({
      status: 200,
      body: { messages: [exampleJson], pagination: { total_count: 1, page: 1, page_size: 20, has_next: false } },
    })
  })

  test('answers with an empty list for a topic without messages', async () => {
    expect(await list('nothing.here.v1')).toEqual({
      status: 200,
      body: { messages: [], pagination: { total_count: 0, page: 1, page_size: 20, has_next: false } },
    })
  })

  test('pages through all messages once, newest first', async () => {
    const ids = []
    for (let n = 0; n < 7; n += 1) ids.push(await insert())
    const pages = []
    for (const page of [1, 2, 3, 4]) pages.push((await list(`orders.events.v1?page=${page}&page_size=3`)).body)

    const seen = pages.map((page) => (page as { messages: { id: string }[] }).messages.map(({ id }) => id))
    expect(seen.map(({ length }) => length)).toEqual([3, 3, 1, 0])
    expect(seen.flat()).toEqual(ids.toSorted().toReversed())
    expect(pages).toMatchObject([
      { pagination: { total_count: 7, page: 1, page_size: 3, has_next: true } },
      { pagination: { total_count: 7, page: 2, page_size: 3, has_next: true } },
      { pagination: { total_count: 7, page: 3, page_size: 3, has_next: false } },
      { pagination: { total_count: 7, page: 4, page_size: 3, has_next: false } },
    ])
  })

  test('has no next page where the last one is full', async () => {
    for (let n = 0; n < 4; n += 1) await insert()
    expect(await list('orders.events.v1?page=2&page_size=2')).toMatchObject({
      body: { pagination: { has_next: false } },
    })
  })

  test('lists the messages that were read from a DLQ topic, or those of any other original topic', async () => {
    await recordTopics(service.sql, {
      cluster: 'c',
      found: [{ topic: 'orders.dlq.v1', topic_id: null, partitions: 1 }],
    })
    const both = await insert({ original_topic: 'orders.events.v1', dlq_topic: 'orders.dlq.v1' })
    const other = await insert({ original_topic: 'orders.events.v1', dlq_topic: 'late.dlq.v1' })
    const confusing = await insert({ original_topic: 'orders.dlq.v1', dlq_topic: 'late.dlq.v1' })
    const idsOf = async (topic: string) =>
      ((await list(topic)).body as { messages: { id: string }[] }).messages.map(({ id }) => id)

    expect(await idsOf('orders.dlq.v1')).toEqual([both])
    // Sorted, because both may have the same millisecond.
    expect((await idsOf('orders.events.v1')).toSorted()).toEqual([other, both].toSorted())
    expect(await idsOf('late.dlq.v1')).toEqual([])
    expect(confusing).toBeTypeOf('string')
  })

  test('keeps showing the messages of a DLQ topic that is gone', async () => {
    await recordTopics(service.sql, {
      cluster: 'c',
      found: [{ topic: 'orders.dlq.v1', topic_id: null, partitions: 1 }],
    })
    await recordTopics(service.sql, { cluster: 'c', found: [] })
    const id = await insert({ dlq_topic: 'orders.dlq.v1' })
    expect(await list('orders.dlq.v1')).toMatchObject({ body: { messages: [{ id }] } })
  })
})

describe('GET /api/v1/dlq/messages/:id', () => {
  /** The specification's fields come first; further fields follow them. */
  const specified = async (response: Response) => {
    const { status, body } = await answerOf(response)
    return { status, body: Object.fromEntries(Object.entries(body as object).slice(0, 10)) }
  }

  test('answers with the message', async () => {
    const retried = new Date('2026-02-20T10:31:00Z')
    await insert({ ...example, status: 'RETRYING', retry_count: 1, updated_at: retried, last_retry_at: retried })

    const response = await request(`GET /api/v1/dlq/messages/${exampleId}`)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await specified(response)).toEqual({
      status: 200,
      body: {
        ...exampleJson,
        retry_count: 1,
        status: 'RETRYING',
        updated_at: '2026-02-20T10:31:00.000+00:00',
        last_retry_at: '2026-02-20T10:31:00.000+00:00',
      },
    })
  })

  test('takes an id in capital letters', async () => {
    await insert(example)
    expect(await specified(await request(`GET /api/v1/dlq/messages/${exampleId.toUpperCase()}`))).toEqual({
      status: 200,
      body: exampleJson,
    })
  })

  test('answers 404 where there is none', async () => {
    expect(await answerOf(request(`GET /api/v1/dlq/messages/${exampleId}`))).toEqual({
      status: 404,
      body: {
        error: {
          code: 'SYS_DLQ_NOT_FOUND',
          message: `dlq message not found: ${exampleId}`,
          request_id: requestId,
          details: [],
        },
      },
    })
  })

  test('answers 400 where the id is no UUID', async () => {
    expect(await answerOf(request('GET /api/v1/dlq/messages/not-a-uuid'))).toEqual({
      status: 400,
      body: {
        error: {
          code: 'SYS_DLQ_VALIDATION_ERROR',
          message: 'invalid message id: not-a-uuid',
          request_id: requestId,
          details: [],
        },
      },
    })
  })

  test.each([
    '12345678901234567890.12',
    '1e400',
    '-0.10',
    '[1.0,18446744073709551616]',
    '"\\u00e9"',
    'null',
    '{"a":{"b":[]}}',
  ])('shows the payload %s as the database holds it, rounded nowhere', async (payload) => {
    const id = await insert()
    await database.sql`update dlq.dlq_messages set payload = (${payload}::text)::jsonb where id = ${id}`
    const [row] = await database.sql`select payload::text as text from dlq.dlq_messages where id = ${id}`

    for (const path of [`messages/${id}`, 'orders.events.v1']) {
      const text = await (await request(`GET /api/v1/dlq/${path}`)).text()
      expect(text).toContain(`"max_retries":3,"payload":${row!.text},"status":"PENDING"`)
      JSON.parse(text)
    }
  })
})

describe('POST /api/v1/dlq/messages/:id/retry', () => {
  const retry = (id: string, headers: Record<string, string> = {}) =>
    answerOf(request(`POST /api/v1/dlq/messages/${id}/retry`, { headers }))

  test('answers 200 when the retrier has published the message', async () => {
    await insert(example)
    const retrier = startRetrier(service.sql)
    const answer = await retry(exampleId)
    await retrier.stop()

    expect(answer).toEqual({
      status: 200,
      body: { id: exampleId, status: 'RESOLVED', message: 'message retry initiated' },
    })
    expect(await readMessageRow(database.sql, exampleId)).toMatchObject({ status: 'RESOLVED', retry_count: 1 })
    const attempts = await database.sql`select number, actor, outcome from dlq.dlq_attempts`
    expect([...attempts]).toEqual([{ number: 1, actor: 'anonymous', outcome: 'published' }])
  })

  test('answers 409 with the reason, the status and what comes next when Kafka has refused the record', async () => {
    const id = await insert()
    const retrier = startRetrier(service.sql, { refusal: 'the record is too large' })
    const answer = await retry(id)
    await retrier.stop()

    // The record's fault is lasting, so no policy tries it again.
    const next = 'it is not tried again by itself; repair the cause, then retry it'
    expect(answer).toMatchObject({
      status: 409,
      body: {
        error: {
          code: 'SYS_DLQ_PUBLISH_REFUSED',
          message: expect.stringContaining('message was not sent: the record is too large. It is PENDING'),
          details: [
            { field: 'reason', message: 'the record is too large' },
            { field: 'status', message: 'PENDING' },
            { field: 'next', message: next },
          ],
        },
      },
    })
  })

  test('answers 202 when no retrier settles it within the time that the client waits', async () => {
    const id = await insert()
    expect(await retry(id, { Prefer: 'wait=0' })).toEqual({
      status: 202,
      body: { id, status: 'PENDING', message: 'message retry accepted; no retrier has settled it yet' },
    })
    expect(await readMessageRow(database.sql, id)).toMatchObject({
      status: 'PENDING',
      retry_count: 0,
      next_retry_at: expect.any(Date),
    })
  })

  test('waits for the attempt that is under way', async () => {
    const id = await insert({ next_retry_at: new Date(0) })
    const retrier = startRetrier(service.sql)
    await retrier.stop()
    // A slot holds it.
    await database.sql`update dlq.dlq_messages set status = 'RETRYING', lease_slot = 1 where id = ${id}`
    await database.sql`delete from dlq.dlq_attempts`

    expect(await retry(id, { Prefer: 'wait=0' })).toMatchObject({ status: 202, body: { status: 'RETRYING' } })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'RETRYING', retry_count: 1 })
  })

  test('answers 202 at once when the service is asked to stop', async () => {
    const id = await insert()
    const stopping = new AbortController()
    // It would wait for longer than this test may take.
    const request = createTestApp(service.sql, { stopping: stopping.signal, retryWaitMs: 3_600_000 })
    const pending = answerOf(request(`POST /api/v1/dlq/messages/${id}/retry`))
    await eventually(async () => expect(await database.sql`select from dlq.dlq_attempts`).toHaveLength(1))
    stopping.abort()

    expect(await pending).toMatchObject({ status: 202, body: { status: 'PENDING' } })
  })

  test('does not answer a later request with the outcome of an attempt whose lease was lost', async () => {
    const id = await insert()
    // Attempt 1 was given back when its lease ended. The retrier that had published it stored the outcome afterwards.
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, settled_at) values (${id}, 1, ${randomUUID()}, 'published', now())`
    expect(await retry(id, { Prefer: 'wait=0' })).toMatchObject({ status: 202, body: { status: 'PENDING' } })
  })

  test('answers 404 where there is no such message', async () => {
    expect(await retry(exampleId)).toEqual({
      status: 404,
      body: {
        error: {
          code: 'SYS_DLQ_NOT_FOUND',
          message: `dlq message not found: ${exampleId}`,
          request_id: requestId,
          details: [],
        },
      },
    })
  })

  test.each([
    [{ status: 'DEAD', retry_count: 3 }, 'status=DEAD, retry_count=3/3'],
    [{ status: 'RESOLVED', retry_count: 1 }, 'status=RESOLVED, retry_count=1/3'],
    [{ status: 'PENDING', retry_count: 3 }, 'status=PENDING, retry_count=3/3'],
    [{ status: 'DEAD', retry_count: 0, max_retries: 5 }, 'status=DEAD, retry_count=0/5'],
  ])('answers 409 for a message that is %o, and leaves it alone', async (columns, state) => {
    const id = await insert(columns)
    expect(await retry(id)).toEqual({
      status: 409,
      body: {
        error: {
          code: 'SYS_DLQ_CONFLICT',
          message: `message is not retryable: ${state}`,
          request_id: requestId,
          details: [],
        },
      },
    })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ ...columns, next_retry_at: null })
    expect(await database.sql`select from dlq.dlq_attempts`).toHaveLength(0)
  })
})

describe('DELETE /api/v1/dlq/messages/:id', () => {
  const remove = (id: string) => answerOf(request(`DELETE /api/v1/dlq/messages/${id}`))

  test('deletes the message and its attempts, once', async () => {
    await insert(example)
    await insert()
    await database.sql`insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome) values (${exampleId}, 1, ${randomUUID()}, 'failed')`

    expect(await remove(exampleId)).toEqual({
      status: 200,
      body: { success: true, message: `message ${exampleId} deleted` },
    })
    expect(await remove(exampleId)).toMatchObject({ status: 404, body: { error: { code: 'SYS_DLQ_NOT_FOUND' } } })
    const [left] = await database.sql`
      select (select count(*)::int from dlq.dlq_messages) as messages, (select count(*)::int from dlq.dlq_attempts) as attempts`
    expect(left).toEqual({ messages: 1, attempts: 0 })
  })

  test('answers 409 while the message is being retried', async () => {
    const id = await insert({ status: 'RETRYING', retry_count: 1 })
    expect(await remove(id)).toEqual({
      status: 409,
      body: {
        error: {
          code: 'SYS_DLQ_CONFLICT',
          message: `message ${id} is being retried; delete it when that is settled`,
          request_id: requestId,
          details: [],
        },
      },
    })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'RETRYING' })
  })
})

describe('the platform', () => {
  test('sees at /healthz that the process lives, and at /readyz that the database answers', async () => {
    expect(await answerOf(request('GET /healthz'))).toEqual({ status: 200, body: { status: 'ok' } })
    expect(await answerOf(request('GET /readyz'))).toEqual({
      status: 200,
      body: { status: 'ready', checks: { database: 'ok' } },
    })
  })

  test('sees at /metrics how many requests each route had', async () => {
    const request = createTestApp(service.sql)
    await request('GET /api/v1/dlq/orders')
    await request('GET /api/v1/dlq/payments')
    await request(`GET /api/v1/dlq/messages/${exampleId}`)
    const response = await request('GET /metrics')
    const metrics = await response.text()

    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=/)
    expect(metrics).toContain('dlq_api_requests_total{method="GET",route="/api/v1/dlq/:topic",status="200"} 2')
    expect(metrics).toContain('dlq_api_requests_total{method="GET",route="/api/v1/dlq/messages/:id",status="404"} 1')
    expect(metrics).not.toContain('payments')
  })
})
