// How the API shows and adopts originals. What a retrier finds in Kafka stands in the table already.

import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { describe, expect, test } from 'vitest'
import { answerOf } from '../test-app.ts'
import { errorWith, path, record, useChanges } from './messages/test-changes.ts'

const { database, send } = useChanges()

type Found = { state: string; value?: string | null; headers?: readonly unknown[] | null }

async function insert(columns: MessageColumns, found?: Found): Promise<string> {
  const id = await insertMessageRow(database.sql, { ...record, ...columns })
  if (found) {
    const { state, value = null, headers = [] } = found
    await database.sql`
      insert into dlq.dlq_message_origins (message_id, state, record_key, record_value, record_headers)
      values (${id}, ${state}, ${record.record_key}, ${value === null ? null : Buffer.from(value)},
              ${headers === null ? null : JSON.stringify(headers)}::text::json)`
  }
  return id
}

const adopt = async (id: string, more = {}) =>
  answerOf(send(`PATCH ${path(id)}`, { record: 'origin', ...more }, { 'if-match': '*' }))
const lost = { record_value: null, payload: null, origin_state: 18 }

describe('a message whose value was lost', () => {
  test('of a topic that is never retried by itself gets its value back, and no time', async () => {
    const id = await insert({ ...lost, original_topic: 'orders-retry-0' }, { state: 'different', value: '{}' })
    expect(await adopt(id)).toMatchObject({ status: 200 })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ record_source: 'origin', next_retry_at: null })
  })

  test('says why it waits, and is retried only by force with a reason', async () => {
    const id = await insert(lost)
    const { body } = await answerOf(send(`GET ${path(id)}`))
    expect(body).toMatchObject({ origin_state: 'value_lost', retryable: false })
    expect((body as { held_up_by: string[] }).held_up_by).toEqual([expect.stringMatching(/^value_lost: /)])
    const refused = await answerOf(send(`POST ${path(id, '/retry')}`, {}))
    expect(refused).toMatchObject({ status: 409, body: errorWith('SYS_DLQ_CONFLICT') })
    expect((await send(`POST ${path(id, '/retry')}`, { force: true })).status).toBe(400)
    const forced = { force: true, reason: 'it is a deletion' }
    const answer = await send(`POST ${path(id, '/retry')}`, forced, { prefer: 'wait=0' })
    expect(answer.status).toBe(202)
    expect(await readMessageRow(database.sql, id)).toMatchObject({ retry_requested: true })
  })

  test('is left alone by runs, forced ones too, and the survey says what to do', async () => {
    const id = await insert(lost)
    const run = { kind: 'retry', selection: { ids: [id] }, force: true, reason: 'all', dry_run: true }
    const { body } = await answerOf(send('POST /api/v1/runs', run))
    expect(body).toMatchObject({ eligible: 0, ineligible: { held_for_origin: 1 } })
    expect((body as { remedies: object }).remedies).toMatchObject({ held_for_origin: expect.stringContaining('adopt') })
  })

  test('gets no time by a schedule or a revival, until somebody gives it a value', async () => {
    const id = await insert(lost)
    const later = new Date(Date.now() + 1000).toISOString()
    expect(await answerOf(send(`PATCH ${path(id)}`, { next_retry_at: later }, { 'if-match': '*' }))).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('is held and gets no time: value_lost: ') } },
    })
    expect((await readMessageRow(database.sql, id)).next_retry_at).toBeNull()
    await send(`POST ${path(id, '/dead')}`)
    await send(`POST ${path(id, '/revive')}`)
    expect((await readMessageRow(database.sql, id)).next_retry_at).toBeNull()
    await send(`PATCH ${path(id)}`, { value: { json: { amount: 3 } }, next_retry_at: later }, { 'if-match': '*' })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ origin_state: null, next_retry_at: new Date(later) })
  })

  test('gets it back by adopting the original, and is retried by its policy then', async () => {
    const id = await insert(lost, { state: 'different', value: '{"amount":7}', headers: [['trace', 'xyz']] })
    expect(await adopt(id)).toMatchObject({ status: 200, body: { payload: { amount: 7 } } })
    const row = await readMessageRow(database.sql, id)
    expect(row).toMatchObject({
      record_source: 'origin',
      origin_state: 1,
      edits: 1,
      record_headers: [['trace', 'xyz']],
    })
    expect(row.next_retry_at).not.toBeNull()
    const [edit] = await database.sql`select actor, reason from dlq.dlq_message_edits where message_id = ${id}`
    expect(edit).toEqual({ actor: 'system', reason: 'record: origin' })
    const [audit] = await database.sql`select action, actor from dlq.dlq_audit where target_id = ${id}`
    expect(audit).toMatchObject({ action: 'message.adopt_origin', actor: expect.not.stringMatching(/^system$/) })
  })
})

describe('an original', () => {
  test('is shown with its lengths, digests and the patch that makes it of the copy', async () => {
    const id = await insert({}, { state: 'different', value: '{"amount":10.50,"note":"x"}' })
    const { status, body } = await answerOf(send(`GET ${path(id, '/origin')}`))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...{ state: 'different', tries: 1, next_try_at: null },
      copy: { value: { bytes: 13, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
      origin: { value: { bytes: 27 }, key: { bytes: 7 } },
    })
    const text = await (await send(`GET ${path(id, '/origin')}`)).text()
    expect(text).toContain('"value":10.50}')
  })

  test('that nothing proves needs force and a reason', async () => {
    const id = await insert({}, { state: 'unproved', value: '{}' })
    expect(await adopt(id)).toMatchObject({ status: 409 })
    expect(await adopt(id, { force: true })).toMatchObject({ status: 409 })
    expect(await adopt(id, { force: true, reason: 'the key was changed by the consumer' })).toMatchObject({
      status: 200,
    })
  })

  test.each(['mismatch', 'gone', 'unreachable'])('that is %s is never adopted', async (state) => {
    const id = await insert({}, { state, headers: null })
    expect(await adopt(id, { force: true, reason: 'please' })).toMatchObject({ status: 409 })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ edits: 0, record_source: 'dlq' })
  })

  test('goes with its message', async () => {
    const id = await insert({}, { state: 'same', value: '{"amount":10}' })
    await send(`DELETE ${path(id)}`)
    expect(await database.sql`select from dlq.dlq_message_origins where message_id = ${id}`).toHaveLength(0)
  })

  test('that nobody has compared is not found, and a person who sees one topic does not see it', async () => {
    const id = await insert({})
    expect((await send(`GET ${path(id, '/origin')}`)).status).toBe(404)
    expect(await adopt(id)).toMatchObject({ status: 409 })
    expect(
      await answerOf(send(`PATCH ${path(id)}`, { record: 'origin', value: null }, { 'if-match': '*' })),
    ).toMatchObject({
      status: 400,
    })
  })

  test('is asked for where a retrier has Kafka, and 202 says that none has answered', async () => {
    const id = await insert({})
    const answer = await send(`POST ${path(id, '/origin')}`, undefined, { prefer: 'wait=0' })
    expect(answer.status).toBe(202)
    const [job] = await database.sql`select key from graphile_worker.jobs where task_identifier = 'origin.compare'`
    expect(job).toEqual({ key: `origin.compare ${id}` })
    const edited = await insert({ edits: 1 })
    expect((await send(`POST ${path(edited, '/origin')}`)).status).toBe(409)
  })
})
