// What somebody did to one dead letter, taken back.

import { archiveMessages } from 'dlq-core/queries/upkeep/archive.ts'
import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { describe, expect, test } from 'vitest'
import { answerOf } from '../../test-app.ts'
import { errorWith, path, record, useChanges } from './test-changes.ts'

const { database, service, insert, edit, send, auditOf } = useChanges()

test('an archived message comes back as it was, once', async () => {
  const id = await insert({ ...record, status: 'DEAD', retry_count: 3, next_retry_at: null })
  await archiveMessages(service.sql, { ids: [id], now: new Date() })
  const answer = await answerOf(send(`POST ${path(id, '/restore')}`, { reason: 'the customer asks' }))
  expect(answer).toMatchObject({ status: 200, body: { id, status: 'DEAD', retry_count: 3 } })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'DEAD', next_retry_at: null })
  expect(await auditOf(id)).toMatchObject([{ action: 'message.restore', reason: 'the customer asks' }])
  const again = await answerOf(send(`POST ${path(id, '/restore')}`))
  expect(again).toMatchObject({ status: 409, body: errorWith('SYS_DLQ_CONFLICT') })
  const missing = await answerOf(send(`POST ${path('01900000-0000-7000-8000-00000000beef', '/restore')}`))
  expect(missing).toMatchObject({ status: 404 })
})

test('an archived message that was erased comes back, as a run brings it back', async () => {
  const id = await insert({ status: 'DEAD', next_retry_at: null, erased_at: new Date() })
  await archiveMessages(service.sql, { ids: [id], now: new Date() })
  expect((await send(`POST ${path(id, '/restore')}`)).status).toBe(200)
  expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'DEAD' })
})

describe('an archived message is changed by the ETag that it has in the archive', () => {
  const archiveOf = (id: string) => database.sql`select from dlq.dlq_messages_archive where id = ${id}`
  const archived = async () => {
    const id = await insert({ ...record, status: 'DEAD', retry_count: 3, next_retry_at: null })
    await archiveMessages(service.sql, { ids: [id], now: new Date() })
    const etag = (await send(`GET ${path(id)}`)).headers.get('etag')!
    return { id, etag, isArchived: async () => (await archiveOf(id)).length > 0 }
  }

  test.each([
    ['restore it', 'POST', '/restore', {}],
    ['revive it', 'POST', '/revive', {}],
    ['retry it by force', 'POST', '/retry', { force: true, reason: 'mended' }],
    ['change its budget', 'PATCH', '', { max_retries: 5 }],
    ['edit its text', 'PATCH', '', { value: { text: '{ "amount": 11 }' } }],
    ['edit its JSON', 'PATCH', '', { value: { decoded: { amount: 11 } } }],
    ['delete it', 'DELETE', '', undefined],
  ])('to %s', async (_, method, under, body) => {
    const { id, etag, isArchived } = await archived()
    const change = (tag: string) => send(`${method} ${path(id, under)}`, body, { 'if-match': tag, prefer: 'wait=0' })
    expect(await answerOf(change('"0"'))).toMatchObject({
      status: 412,
      body: errorWith('SYS_DLQ_PRECONDITION_FAILED'),
    })
    expect(await isArchived()).toBe(true)
    expect((await change(etag)).ok).toBe(true)
  })
})

test('a message goes back to the content before any edit, byte for byte, and that is an edit too', async () => {
  const id = await insert(record)
  const fieldsOf = async () => {
    const { record_key, record_value, record_headers, payload, target_topic } = await readMessageRow(database.sql, id)
    return { key: String(record_key), value: String(record_value), record_headers, payload, target_topic }
  }
  const original = await fieldsOf()
  await edit(id, { value: { text: '{ "amount": 11 }' }, headers: [], target_topic: 'orders-2' })
  const second = await fieldsOf()
  await edit(id, { key: { text: 'order-9' }, value: { text: 'no JSON' } })

  expect((await send(`POST ${path(id, '/edits/2/undo')}`)).status).toBe(200)
  expect(await fieldsOf()).toEqual(second)
  expect((await send(`POST ${path(id, '/edits/1/undo')}`, { reason: 'back' })).status).toBe(200)
  expect(await fieldsOf()).toEqual(original)
  expect((await send(`POST ${path(id, '/edits/1/undo')}`)).status).toBe(200)
  expect(await readMessageRow(database.sql, id)).toMatchObject({ edits: 4 })
  expect((await auditOf(id)).at(-1)).toMatchObject({ reason: 'back', after: { undoes: 1 } })
  // Of any version that is kept, also of one that was undone.
  expect((await send(`POST ${path(id, '/edits/4/undo')}`)).status).toBe(200)
  expect(await fieldsOf()).toEqual(second)

  expect((await send(`POST ${path(id, '/edits/99/undo')}`)).status).toBe(404)
  expect((await send(`POST ${path(id, '/edits/1/undo')}`, {}, { 'if-match': '"0"' })).status).toBe(412)
  await database.sql`update dlq.dlq_messages set status = 'RESOLVED' where id = ${id}`
  expect((await send(`POST ${path(id, '/edits/1/undo')}`)).status).toBe(409)
})
