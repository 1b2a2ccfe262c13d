// Dead letters reported by HTTP.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { answerOf, createTestApp } from '../../test-app.ts'
import { retryDueOnce } from '../../test-retrier.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const report = (body: unknown, headers: Record<string, string> = {}) =>
  createTestApp(service.sql)('POST /api/v1/dlq/messages', {
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const idOf = async (answer: Response) => ((await answer.json()) as { id: string }).id
const minimal = { original_topic: 'orders.events.v1', error_message: 'processing failed' }

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_audit', 'dlq.dlq_idempotency_keys', 'dlq.dlq_policies')
})

test('a report is stored byte for byte, and retried byte for byte', async () => {
  const answer = await report({
    ...minimal,
    error_class: 'OrderRejected',
    error_stacktrace: 'OrderRejected: no\n    at take (orders.ts:1:1)',
    consumer_group: 'billing',
    original_partition: 3,
    original_offset: '900719925474099299',
    original_timestamp: '2026-02-20T10:30:00Z',
    key: { text: 'order-1' },
    value: { json: { amount: 10 } },
    headers: [
      { name: 'trace', value: { text: 'abc' } },
      { name: 'trace', value: null },
    ],
    max_retries: 7,
    next_retry_at: '2020-01-01T00:00:00Z',
  })
  expect(answer.status).toBe(201)
  const id = await idOf(answer)
  expect(answer.headers.get('location')).toBe(`/api/v1/dlq/messages/${id}`)
  const row = await readMessageRow(database.sql, id)
  expect(row).toMatchObject({
    ...{
      original_topic: 'orders.events.v1',
      original_topic_source: 'caller',
      status: 'PENDING',
      consumer_group: 'billing',
    },
    ...{
      original_partition: 3,
      original_offset: '900719925474099299',
      original_timestamp: new Date('2026-02-20T10:30:00Z'),
    },
    ...{
      error_class: 'OrderRejected',
      max_retries: 7,
      payload: { amount: 10 },
      group_id: expect.any(String),
      dlq_topic: null,
    },
  })
  const [group] = await database.sql`select error_class from dlq.dlq_groups where id = ${row.group_id}`
  expect(group).toEqual({ error_class: 'OrderRejected' })

  const [record] = await retryDueOnce(service.sql)
  const { key, value, headers } = record!
  expect([key?.toString(), value?.toString()]).toEqual(['order-1', '{"amount":10}'])
  expect(headers.slice(0, 2).map(([, value]) => value?.toString())).toEqual(['abc', undefined])
})

test('no number of a JSON value is rounded', async () => {
  const id = await idOf(
    await report(`{"original_topic":"o","error_message":"e","value":{"json":{"n":12345678901234567890.10}}}`),
  )
  const [row] = await database.sql`select record_value, payload::text as payload from dlq.dlq_messages where id = ${id}`
  expect(row!.record_value.toString()).toBe('{"n":12345678901234567890.10}')
  expect(row!.payload).toBe('{"n": 12345678901234567890.10}')
})

test('it is retried by its policy, unless the report says otherwise or its topic is no target', async () => {
  const dueOf = async (body: object) =>
    (await readMessageRow(database.sql, await idOf(await report(body)))).next_retry_at
  expect(await dueOf(minimal)).toBeInstanceOf(Date)
  expect(await dueOf({ ...minimal, next_retry_at: null })).toBeNull()
  expect(await dueOf({ ...minimal, original_topic: 'orders-retry-0' })).toBeNull()
  expect(await dueOf({ ...minimal, original_topic: '__transaction_state' })).toBeNull()
  await database.sql`insert into dlq.dlq_policies (pattern, auto_retry, max_retries) values ('orders.*', false, 2)`
  const id = await idOf(await report(minimal))
  expect(await readMessageRow(database.sql, id)).toMatchObject({ next_retry_at: null, max_retries: 2 })
})

test('the same key makes one message, however often and at the same time', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => report(minimal, { 'idempotency-key': 'k-1' })))
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201))
  expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === 'true')).toHaveLength(7)
  expect(new Set(await Promise.all(answers.map(idOf))).size).toBe(1)
  expect(await database.sql`select from dlq.dlq_messages`).toHaveLength(1)
  expect(await database.sql`select from dlq.dlq_audit`).toHaveLength(1)

  // A request that differs in white space only is the same. One with another value is not.
  expect((await report(JSON.stringify(minimal, null, 2), { 'idempotency-key': 'k-1' })).status).toBe(201)
  expect(await answerOf(report({ ...minimal, value: { text: 'x' } }, { 'idempotency-key': 'k-1' }))).toMatchObject({
    status: 409,
    body: { error: { code: 'SYS_DLQ_CONFLICT' } },
  })
  expect((await report(minimal, { 'idempotency-key': 'k-2' })).status).toBe(201)
  expect((await report(minimal)).status).toBe(201)
  expect(await database.sql`select from dlq.dlq_messages`).toHaveLength(3)
})

test('a report that comes again with its key is no new failure of its error group', async () => {
  const keyed = { 'idempotency-key': 'k-1' }
  const id = await idOf(await report(minimal, keyed))
  const { group_id } = await readMessageRow(database.sql, id)
  const ago = database.sql`now() - interval '1 hour'`
  await database.sql`update dlq.dlq_messages set created_at = ${ago}`
  await database.sql`update dlq.dlq_groups set last_seen_at = ${ago} where id = ${group_id}`
  await database.sql`
    update dlq.dlq_group_topics set last_seen_at = ${ago}, state = 'resolved', state_changed_at = now()
    where group_id = ${group_id}`
  const regressed = async () => {
    const { body } = await answerOf(createTestApp(service.sql)(`GET /api/v1/groups/${group_id}`))
    return (body as { regressed: boolean }).regressed
  }
  expect((await report(minimal, keyed)).headers.get('idempotency-replayed')).toBe('true')
  expect((await report({ ...minimal, consumer_group: 'x' }, keyed)).status).toBe(409)
  expect(await regressed()).toBe(false)
  expect((await report(minimal)).status).toBe(201)
  expect(await regressed()).toBe(true)
})

test('keys of last week are forgotten', async () => {
  const first = await idOf(await report(minimal, { 'idempotency-key': 'old' }))
  await database.sql`update dlq.dlq_idempotency_keys set created_at = now() - interval '8 days'`
  await report(minimal, { 'idempotency-key': 'new' })
  expect(await idOf(await report(minimal, { 'idempotency-key': 'old' }))).not.toBe(first)
})

test.each([
  [{}, 'original_topic'],
  [{ ...minimal, original_topic: 'a b' }, 'original_topic'],
  [{ ...minimal, original_topic: 'orders.dlq.v1' }, 'original_topic'],
  [{ ...minimal, error_message: 'x'.repeat(1_000_001) }, 'error_message'],
  [{ ...minimal, original_partition: -1 }, 'original_partition'],
  [{ ...minimal, original_partition: 2 ** 31 }, 'original_partition'],
  [{ ...minimal, original_offset: 'x' }, 'original_offset'],
  [{ ...minimal, payload: {} }, 'payload'],
])('%j is refused, and stores nothing', async (body, field) => {
  expect(await answerOf(report(body))).toMatchObject({
    status: 400,
    body: {
      error: {
        code: 'SYS_DLQ_VALIDATION_ERROR',
        details: expect.arrayContaining([expect.objectContaining({ field })]),
      },
    },
  })
  expect(await database.sql`select from dlq.dlq_messages`).toHaveLength(0)
})

test('text that PostgreSQL cannot hold is stored all the same', async () => {
  const id = await idOf(
    await report({
      ...minimal,
      error_message: 'nul\0',
      error_class: 'a\0',
      value: { text: 'nul\0' },
      headers: [{ name: 'n\0', value: { text: '\0' } }],
    }),
  )
  expect(await readMessageRow(database.sql, id)).toMatchObject({
    error_message: 'nul\ufffd',
    error_class: 'a\ufffd',
    record_value: Buffer.from('nul\0'),
  })
})

test('six megabytes are taken, seven are not', async () => {
  const value = { text: 'x'.repeat(4_000_000) }
  expect((await report({ ...minimal, value })).status).toBe(201)
  expect((await report({ ...minimal, value: { text: 'x'.repeat(7_000_000) } })).status).toBe(413)
})

test('a report is scrubbed as its topic’s policy says', async () => {
  await database.sql`insert into dlq.dlq_policies (pattern, scrub) values ('orders.*', '{email}')`
  const app = createTestApp(service.sql)
  const body = JSON.stringify({
    ...minimal,
    error_message: 'no account of ann@example.com',
    key: { text: 'ann@example.com' },
  })
  const answer = await app('POST /api/v1/dlq/messages', { headers: { 'content-type': 'application/json' }, body })
  const { body: detail } = await answerOf(app(`GET /api/v1/dlq/messages/${await idOf(answer)}`))
  expect(detail).toMatchObject({
    ...{ error_message: 'no account of •••', is_scrubbed: true },
    key: { value: 'ann@example.com' },
  })
})

test('reports for a topic that name ever new consumer groups have a thousand of them', async () => {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, original_topic_source, error_message, consumer_group)
    select 'orders.events.v1', 'caller', 'x', 'made-up-' || n from generate_series(1, 999) n`
  const groupOf = async (consumer_group: string, more: object = {}) =>
    (await readMessageRow(database.sql, await idOf(await report({ ...minimal, consumer_group, ...more }))))!
      .consumer_group
  expect(await groupOf('the-last')).toBe('the-last')
  expect(await groupOf('one-too-many')).toBeNull()
  expect(await groupOf('made-up-7')).toBe('made-up-7')
  expect(await groupOf('another', { original_topic: 'payments' })).toBe('another')
})
