// Edits of a dead letter's key, value, headers and target topic.
import { decodeHeaders, encodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { describe, expect, test } from 'vitest'
import { answerOf } from '../../test-app.ts'
import { retryDueOnce } from '../../test-retrier.ts'
import { errorWith, path, record, useChanges } from './test-changes.ts'

const { database, service, request, insert, edit, auditOf } = useChanges()

/** The record that a retrier would send now. */
async function outgoing(id: string) {
  await database.sql`update dlq.dlq_messages set next_retry_at = now() where id = ${id}`
  const { key, value, headers } = (await retryDueOnce(service.sql)).find((record) => record.id === id)!
  const own = headers.filter(([name]) => !name.startsWith('dlq-')).map(([name, value]) => [name, value?.toString()])
  return { key: key?.toString() ?? null, value: value?.toString() ?? null, headers: own }
}

describe('an edit', () => {
  test('changes the record that is sent, and keeps the original one', async () => {
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

  test('of a message without a record sends the values of the edit', async () => {
    const id = await insert({ payload: { amount: 10 } })
    await edit(id, { key: { text: 'k' } })
    expect(await outgoing(id)).toEqual({ key: 'k', value: '{"amount": 10}', headers: [] })
    const edited = await answerOf(request(`GET ${path(id, '/edits/1')}`))
    expect(edited.body).toMatchObject({ before: { key: null, value: { json: { amount: 10 } }, headers: null } })
  })

  test('without a difference changes nothing', async () => {
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

  test('keeps the full text of headers that refer to the stack trace', async () => {
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

  test('is refused for a message that is being sent or was sent, and leaves it unchanged', async () => {
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

  test('needs the present ETag of the message', async () => {
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

  test('by ten clients at once succeeds for one', async () => {
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
