// Editing, giving up, reviving, rescheduling, forcing and deleting one dead letter.
import { decodeHeaders, encodeHeaders } from 'dlq-core/header-json.ts'
import { archiveMessages } from 'dlq-core/queries/archive.ts'
import { toRepublishedRecord } from 'dlq-core/republished-record.ts'
import { claimDue } from 'dlq-testing/claim-due.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/message-rows.ts'
import { useServiceDatabase } from 'dlq-testing/service-database.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerOf, createTestApp, startRetrier } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const insert = (columns?: MessageColumns) => insertMessageRow(database.sql, columns)
const record = {
  dlq_topic: 'orders.dlq.v1',
  record_key: Buffer.from('order-1'),
  record_value: Buffer.from('{"amount":10}'),
  record_headers: JSON.parse(encodeHeaders([['trace', Buffer.from('abc')]])),
  payload: { amount: 10 },
}

const request = (methodAndPath: string, init?: RequestInit) => createTestApp(service.sql)(methodAndPath, init)
const send = (methodAndPath: string, body?: unknown, headers: Record<string, string> = {}) =>
  request(methodAndPath, {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
const path = (id: string, rest = '') => `/api/v1/dlq/messages/${id}${rest}`
const edit = (id: string, body: unknown, headers: Record<string, string> = { 'if-match': '*' }) =>
  send(`PATCH ${path(id)}`, body, headers)
const auditOf = async (id: string) =>
  (
    await database.sql`select actor, action, reason, before, after from dlq.dlq_audit where target_id = ${id} order by id`
  ).map((row) => ({ ...row }))
const errorWith = (code: string) => ({ error: expect.objectContaining({ code }) })

beforeEach(async () => {
  await database.sql`truncate dlq.dlq_messages, dlq.dlq_attempts, dlq.dlq_audit, dlq.dlq_message_edits, dlq.dlq_policies, dlq.dlq_slots`
})

/** What a retrier would send now. */
async function outgoing(id: string) {
  await database.sql`update dlq.dlq_messages set next_retry_at = now() where id = ${id}`
  const { messages } = await claimDue(service.sql)
  const { key, value, headers } = toRepublishedRecord(messages.find((message) => message.id === id)!)
  const own = headers.filter(([name]) => !name.startsWith('dlq-')).map(([name, value]) => [name, value?.toString()])
  return { key: key?.toString() ?? null, value: value?.toString() ?? null, headers: own }
}

describe('an edit', () => {
  test('changes what is sent, and keeps what came', async () => {
    const id = await insert(record)
    const answer = await edit(id, {
      key: { text: 'order-2' },
      value: { json: { amount: 11 } },
      headers: [
        { name: 'trace', value: { text: 'def' } },
        { name: 'trace', value: null },
        { name: 'bytes', value: { base64: '/w==' } },
      ],
      reason: 'the amount was wrong',
    })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ id, payload: { amount: 11 }, status: 'PENDING' })

    expect(await answerOf(request(`GET ${path(id, '/edits')}`))).toEqual({
      status: 200,
      body: {
        edits: [
          {
            number: 1,
            at: expect.any(String),
            actor: 'anonymous',
            reason: 'the amount was wrong',
            fields: ['key', 'value', 'headers'],
          },
        ],
      },
    })
    expect(await answerOf(request(`GET ${path(id, '/edits/1')}`))).toMatchObject({
      status: 200,
      body: {
        before: {
          key: { text: 'order-1' },
          value: { json: { amount: 10 } },
          headers: [{ name: 'trace', value: { text: 'abc' } }],
          target_topic: null,
        },
      },
    })
    expect(await auditOf(id)).toEqual([
      {
        actor: 'anonymous',
        action: 'message.edit',
        reason: 'the amount was wrong',
        before: null,
        after: { fields: ['key', 'value', 'headers'] },
      },
    ])
    expect(await outgoing(id)).toEqual({
      key: 'order-2',
      value: '{"amount":11}',
      headers: [
        ['trace', 'def'],
        ['trace', undefined],
        ['bytes', '\ufffd'],
      ],
    })
  })

  test.each([
    '12345678901234567890.12',
    '1.10',
    '-0.0',
    '1e400',
    '[18446744073709551616,1.0]',
    '{"a":{"b":0.10}}',
    '"\\ud83d\\ude9a"',
  ])('takes the JSON value %s to the last digit', async (json) => {
    const id = await insert(record)
    expect((await edit(id, `{"value": {"json": ${json}}}`)).status).toBe(200)
    expect((await readMessageRow(database.sql, id)).record_value.toString()).toBe(json.replace('\\ud83d\\ude9a', '🚚'))
  })

  test('of bytes keeps them, whatever they are', async () => {
    const id = await insert(record)
    const bytes = Buffer.from([0, 255, 1, 128])
    await edit(id, { key: { base64: bytes.toString('base64') }, value: { base64: bytes.toString('base64') } })
    expect(await readMessageRow(database.sql, id)).toMatchObject({
      record_key: bytes,
      record_value: bytes,
      payload: null,
    })
    await edit(id, { value: { text: 'nul\0 and 語' } })
    expect((await readMessageRow(database.sql, id)).record_value).toEqual(Buffer.from('nul\0 and 語'))
  })

  test('makes tombstones, and takes keys away', async () => {
    const id = await insert(record)
    await edit(id, { key: null, value: null })
    expect(await outgoing(id)).toEqual({ key: null, value: null, headers: [['trace', 'abc']] })
  })

  test('of a message that never was a record sends what it says', async () => {
    const id = await insert({ payload: { amount: 10 } })
    await edit(id, { key: { text: 'k' } })
    expect(await outgoing(id)).toEqual({ key: 'k', value: '{"amount": 10}', headers: [] })
    const edited = await answerOf(request(`GET ${path(id, '/edits/1')}`))
    expect(edited.body).toMatchObject({ before: { key: null, value: { json: { amount: 10 } }, headers: null } })
  })

  test('of nothing that differs changes nothing', async () => {
    const id = await insert(record)
    const before = await readMessageRow(database.sql, id)
    const same = {
      key: { text: 'order-1' },
      value: { text: '{"amount":10}' },
      headers: [{ name: 'trace', value: { text: 'abc' } }],
      target_topic: null,
    }
    expect((await edit(id, same)).status).toBe(200)
    expect(await readMessageRow(database.sql, id)).toEqual(before)
    expect(await auditOf(id)).toEqual([])
  })

  test('keeps headers whole that refer to the stack trace', async () => {
    const stack = 'java.lang.IllegalStateException: no\n'.repeat(3)
    const headers = encodeHeaders(
      [['kafka_dlt-exception-stacktrace', Buffer.from(stack)]],
      new Map([['error_stacktrace', stack]]),
    )
    const id = await insert({ ...record, error_stacktrace: stack, record_headers: JSON.parse(headers) })
    await edit(id, { value: { text: 'x' } })
    await database.sql`update dlq.dlq_messages set error_stacktrace = 'another' where id = ${id}`
    const [kept] =
      await database.sql`select record_headers::text as json from dlq.dlq_message_edits where message_id = ${id}`
    expect(decodeHeaders(kept!.json)).toEqual([['kafka_dlt-exception-stacktrace', Buffer.from(stack)]])
  })

  test('names another topic to send to, which the policy cannot overrule', async () => {
    const id = await insert(record)
    expect((await edit(id, { target_topic: 'orders.repaired' })).status).toBe(200)
    expect(await readMessageRow(database.sql, id)).toMatchObject({
      target_topic: 'orders.repaired',
      original_topic: 'orders.events.v1',
      edits: 1,
    })
    await edit(id, { target_topic: null })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ target_topic: null, edits: 2 })
  })

  test.each(['orders.dlq.v1', '__consumer_offsets', 'a b', '..', '', 'x'.repeat(250)])(
    'never sends to "%s"',
    async (topic) => {
      const id = await insert(record)
      expect(await answerOf(edit(id, { target_topic: topic }))).toMatchObject({
        status: 400,
        body: { error: { code: 'SYS_DLQ_VALIDATION_ERROR', details: [{ field: 'target_topic' }] } },
      })
      expect(await readMessageRow(database.sql, id)).toMatchObject({ target_topic: null })
    },
  )

  test('is refused for what is being sent or was sent, and leaves it alone', async () => {
    for (const status of ['RETRYING', 'RESOLVED']) {
      const id = await insert({ ...record, status, retry_count: 1 })
      expect(await answerOf(edit(id, { value: { text: 'x' } })), status).toMatchObject({
        status: 409,
        body: errorWith('SYS_DLQ_CONFLICT'),
      })
      expect((await readMessageRow(database.sql, id)).record_value).toEqual(record.record_value)
      expect(await auditOf(id)).toEqual([])
    }
  })

  test('needs the ETag of the message as it is', async () => {
    const id = await insert(record)
    const etag = (await request(`GET ${path(id)}`)).headers.get('etag')!
    expect(await answerOf(edit(id, { value: { text: 'x' } }, {}))).toMatchObject({ status: 428 })
    expect(await answerOf(edit(id, { value: { text: 'x' } }, { 'if-match': '"1"' }))).toMatchObject({ status: 412 })

    const first = await edit(id, { value: { text: 'first' } }, { 'if-match': etag })
    expect(first.status).toBe(200)
    expect(await answerOf(edit(id, { value: { text: 'second' } }, { 'if-match': etag }))).toMatchObject({
      status: 412,
      body: errorWith('SYS_DLQ_PRECONDITION_FAILED'),
    })
    expect((await readMessageRow(database.sql, id)).record_value.toString()).toBe('first')
    const next = first.headers.get('etag')!
    expect(next).not.toBe(etag)
    expect((await edit(id, { value: { text: 'third' } }, { 'if-match': `"0", ${next}` })).status).toBe(200)
  })

  test('by ten at once is won by one', async () => {
    const id = await insert(record)
    const etag = (await request(`GET ${path(id)}`)).headers.get('etag')!
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => edit(id, { value: { text: `edit ${n}` } }, { 'if-match': etag })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(412)])
    expect(await readMessageRow(database.sql, id)).toMatchObject({ edits: 1 })
  })

  test.each([
    [{ value: 'x' }, 'value'],
    [{ value: { text: 'a', base64: 'YQ==' } }, 'value'],
    [{ value: {} }, 'value'],
    [{ value: { base64: 'a' } }, 'value.base64'],
    [{ value: { text: '\ud800' } }, 'value.text'],
    [{ headers: { a: 'b' } }, 'headers'],
    [{ headers: [{ name: 'a' }] }, 'headers.0.value'],
    [{ headers: [{ name: 'a', value: { json: 1 } }] }, 'headers.0.value'],
    [{ max_retries: 0 }, 'max_retries'],
    [{ max_retries: '5' }, 'max_retries'],
    [{ max_retries: 1.5 }, 'max_retries'],
    [{ next_retry_at: 'soon' }, 'next_retry_at'],
    [{ next_retry_at: '2026-02-30T25:00:00Z' }, 'next_retry_at'],
    [{ status: 'DEAD' }, 'status'],
    [{ reason: 5 }, 'reason'],
    [[], ''],
  ])('of %j is refused, and says which field', async (body, field) => {
    const id = await insert(record)
    const answer = await answerOf(edit(id, body))
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'SYS_DLQ_VALIDATION_ERROR', details: [{ field: expect.stringContaining(field) }] } },
    })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ edits: 0 })
  })
})

describe('the schedule', () => {
  test('can be brought forward, put off, and left to people; the budget raised', async () => {
    const id = await insert(record)
    for (const at of ['2026-01-01T00:00:00Z', '2099-12-31T23:59:59.999+02:00', null]) {
      expect((await edit(id, { next_retry_at: at })).status).toBe(200)
      expect((await readMessageRow(database.sql, id)).next_retry_at).toEqual(at && new Date(at))
    }
    await edit(id, { max_retries: 9, reason: 'needs patience' })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ max_retries: 9, next_retry_at: null, edits: 0 })
    expect(await auditOf(id)).toMatchObject([
      { action: 'message.schedule' },
      {},
      {},
      { reason: 'needs patience', after: { max_retries: 9 } },
    ])
  })

  test('is not for messages that are DEAD, RESOLVED or being retried', async () => {
    for (const status of ['DEAD', 'RESOLVED', 'RETRYING']) {
      const id = await insert({ ...record, status, retry_count: 1 })
      expect((await edit(id, { next_retry_at: '2026-01-01T00:00:00Z' })).status, status).toBe(409)
    }
  })
})

describe('giving up and reviving', () => {
  test('are two ways, each with its reason', async () => {
    const id = await insert({ ...record, next_retry_at: new Date(), retry_count: 3 })
    expect(await answerOf(send(`POST ${path(id, '/dead')}`, { reason: 'no use' }))).toMatchObject({
      status: 200,
      body: { status: 'DEAD' },
    })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'DEAD', next_retry_at: null })
    expect(await answerOf(send(`POST ${path(id, '/dead')}`))).toMatchObject({
      status: 409,
      body: errorWith('SYS_DLQ_CONFLICT'),
    })

    // Its budget was spent, and is given anew.
    expect(await answerOf(send(`POST ${path(id, '/revive')}`))).toMatchObject({
      status: 200,
      body: { status: 'PENDING', max_retries: 6 },
    })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ next_retry_at: expect.any(Date) })
    expect((await send(`POST ${path(id, '/revive')}`)).status).toBe(409)
    expect(await auditOf(id)).toMatchObject([
      { action: 'message.dead', reason: 'no use', before: { status: 'PENDING' }, after: { status: 'DEAD' } },
      { action: 'message.revive', reason: null, before: { max_retries: 3 }, after: { max_retries: 6 } },
    ])
  })

  test.each(['RETRYING', 'RESOLVED'])('are not for what is %s', async (status) => {
    const id = await insert({ ...record, status, retry_count: 1 })
    for (const verb of ['/dead', '/revive']) expect((await send(`POST ${path(id, verb)}`)).status).toBe(409)
    expect(await readMessageRow(database.sql, id)).toMatchObject({ status })
  })

  test('take If-Match', async () => {
    const id = await insert(record)
    expect((await send(`POST ${path(id, '/dead')}`, {}, { 'if-match': '"1"' })).status).toBe(412)
    expect((await send(`POST ${path(id, '/dead')}`, {}, { 'if-match': '*' })).status).toBe(200)
  })
})

describe('a forced retry', () => {
  test.each([
    { status: 'DEAD', retry_count: 3 },
    { status: 'RESOLVED', retry_count: 1 },
    { status: 'PENDING', retry_count: 3 },
    { status: 'PENDING', retry_count: 0 },
  ])('of a message that is %o sends it once more, and is written down', async (columns) => {
    const id = await insert({ ...record, ...columns })
    const retrier = startRetrier(service.sql)
    const answer = await answerOf(send(`POST ${path(id, '/retry')}`, { force: true, reason: 'fixed' }))
    await retrier.stop()
    expect(answer).toEqual({ status: 200, body: { id, status: 'RESOLVED', message: 'message retry initiated' } })
    expect(await readMessageRow(database.sql, id)).toMatchObject({
      status: 'RESOLVED',
      retry_count: columns.retry_count + 1,
    })
    expect(await auditOf(id)).toMatchObject([
      { action: 'message.retry_forced', reason: 'fixed', before: { status: columns.status } },
    ])
  })

  test('needs a reason', async () => {
    const id = await insert({ ...record, status: 'DEAD', retry_count: 3 })
    for (const body of [{ force: true }, { force: true, reason: ' ' }]) {
      expect(await answerOf(send(`POST ${path(id, '/retry')}`, body))).toMatchObject({
        status: 400,
        body: { error: { details: [{ field: 'reason', message: 'is required with force' }] } },
      })
    }
    expect((await send(`POST ${path(id, '/retry')}`, { force: false })).status).toBe(409)
  })

  test('takes If-Match', async () => {
    const id = await insert(record)
    const answer = await send(
      `POST ${path(id, '/retry')}`,
      { force: true, reason: 'x' },
      { 'if-match': '"1"', prefer: 'wait=0' },
    )
    expect(answer.status).toBe(412)
    expect(await readMessageRow(database.sql, id)).toMatchObject({ next_retry_at: null })
  })
})

describe('a deletion', () => {
  test.each([
    ['in the query', '?reason=a%20test', undefined],
    ['in a body', '', { reason: 'a test' }],
  ])('takes its reason %s, and takes the history along', async (_, query, body) => {
    const id = await insert(record)
    await edit(id, { value: { text: 'x' } })
    expect(await answerOf(send(`DELETE ${path(id)}${query}`, body))).toMatchObject({
      status: 200,
      body: { success: true },
    })
    expect((await auditOf(id)).at(-1)).toMatchObject({
      action: 'message.delete',
      reason: 'a test',
      before: { status: 'PENDING' },
    })
    expect(await database.sql`select from dlq.dlq_message_edits`).toHaveLength(0)
  })

  test('and a retry at once: one wins', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await insert(record)
      const etag = (await request(`GET ${path(id)}`)).headers.get('etag')!
      const [deleted, retried] = await Promise.all([
        send(`DELETE ${path(id)}`, undefined, { 'if-match': etag }),
        send(`POST ${path(id, '/retry')}`, undefined, { 'if-match': etag, prefer: 'wait=0' }),
      ])
      expect([
        [200, 404],
        [412, 202],
        // It was deleted after it was marked and before the answer was written; the mark had won, and then lost to nobody.
      ]).toContainEqual([deleted!.status, retried!.status])
    }
  })
})

describe('an archived message', () => {
  const archive = async (id: string) => {
    await archiveMessages(service.sql, { ids: [id], now: new Date() })
    expect(await database.sql`select from dlq.dlq_messages where id = ${id}`).toHaveLength(0)
  }

  test('is restored by what changes it', async () => {
    const id = await insert({ ...record, status: 'DEAD', retry_count: 3 })
    await archive(id)
    expect((await send(`POST ${path(id, '/revive')}`, { reason: 'the consumer is fixed' })).status).toBe(200)
    expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'PENDING', retry_count: 3 })
    expect(await database.sql`select from dlq.dlq_messages_archive where id = ${id}`).toHaveLength(0)
  })

  test('stays in the archive where the change is refused', async () => {
    const id = await insert({ ...record, status: 'RESOLVED' })
    await archive(id)
    expect((await send(`POST ${path(id, '/retry')}`)).status).toBe(409)
    expect(await database.sql`select from dlq.dlq_messages_archive where id = ${id}`).toHaveLength(1)
  })
})
