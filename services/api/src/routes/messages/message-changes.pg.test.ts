// Giving up, reviving, rescheduling, forcing and deleting one dead letter. Edits: message-edits.pg.test.ts.
import { orderKey } from 'dlq-core/domain/record/order-key.ts'
import { archiveMessages } from 'dlq-core/queries/upkeep/archive.ts'
import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { describe, expect, test } from 'vitest'
import { answerOf, createTestApp } from '../../test-app.ts'
import { startRetrier } from '../../test-retrier.ts'
import { errorWith, path, record, useChanges } from './test-changes.ts'

const { database, service, request, send, insert, edit, auditOf } = useChanges()

describe('the schedule', () => {
  test('can be moved earlier, later, or left to people, and the budget can be raised', async () => {
    const id = await insert({ ...record, next_retry_at: null })
    for (const at of ['2026-01-01T00:00:00Z', '2099-12-31T23:59:59.999+02:00', null]) {
      expect((await edit(id, { next_retry_at: at })).status).toBe(200)
      expect((await readMessageRow(database.sql, id)).next_retry_at).toEqual(at && new Date(at))
    }
    await edit(id, { next_retry_at: '2099-12-31T00:00:00Z' })
    await edit(id, { max_retries: 9, reason: 'needs patience' })
    const time = '2099-12-31T00:00:00.000Z'
    expect(await readMessageRow(database.sql, id)).toMatchObject({ max_retries: 9, next_retry_at: new Date(time) })
    const audited = await auditOf(id)
    expect(audited.map(({ action }) => action)).toEqual(Array(5).fill('message.schedule'))
    expect(audited.slice(3)).toMatchObject([
      { before: { max_retries: 3, next_retry_at: null }, after: { max_retries: 3, next_retry_at: time } },
      {
        ...{ reason: 'needs patience', before: { max_retries: 3, next_retry_at: time } },
        after: { max_retries: 9, next_retry_at: time },
      },
    ])
  })

  test('is not for messages that are DEAD, RESOLVED or being retried', async () => {
    for (const status of ['DEAD', 'RESOLVED', 'RETRYING']) {
      const id = await insert({ ...record, status, retry_count: 1 })
      expect((await edit(id, { next_retry_at: '2026-01-01T00:00:00Z' })).status, status).toBe(409)
    }
  })
})

test('a retry that nobody performs asks the database ever more rarely, and still ends in time', async () => {
  const id = await insert(record)
  let asked = 0
  const counting = new Proxy(service.sql, {
    apply(sql, self, args) {
      const [text] = args as [unknown]
      if (Array.isArray(text) && text.join('').includes('from dlq.dlq_attempts')) asked += 1
      return Reflect.apply(sql as never, self, args)
    },
  })
  const startedAt = performance.now()
  const headers = { prefer: 'wait=4', 'if-match': '*' }
  const { status } = await createTestApp(counting)(`POST ${path(id, '/retry')}`, { headers })
  expect(status).toBe(202)
  expect(performance.now() - startedAt).toBeGreaterThan(3900)
  // Every 25 ms they would be 160.
  expect(asked).toBeGreaterThan(5)
  expect(asked).toBeLessThan(60)
})

test.each([
  ['/retry', { force: true, reason: 'the consumer is mended' }],
  ['/revive', { reason: 'the consumer is mended' }],
])(
  'a DEAD message that waits again (%s) has its place in the order of keys, where the policy asks for it',
  async (rest, body) => {
    await database.sql`insert into dlq.dlq_policies (pattern, ordering) values ('orders', 'per-key')`
    const id = await insert({ ...record, original_topic: 'orders', status: 'DEAD' })
    expect((await send(`POST ${path(id, rest)}`, body, { 'if-match': '*', prefer: 'wait=0' })).status).toBeLessThan(300)
    expect(await readMessageRow(database.sql, id)).toMatchObject({
      status: 'PENDING',
      order_key: String(orderKey(record.record_key)),
    })
  },
)

test('a message whose key is edited has no place by its former key, also where no order is asked for', async () => {
  const id = await insert({ ...record, original_topic: 'orders', order_key: '77' })
  expect((await edit(id, { key: { text: 'order-2' } })).status).toBe(200)
  expect(await readMessageRow(database.sql, id)).toMatchObject({ order_key: null })
})

describe('a RETRYING message that nobody holds', () => {
  /** As the specification's own query leaves it. */
  const insertUnheld = (columns = {}) =>
    insert({
      ...record,
      status: 'RETRYING',
      lease_slot: null,
      lease_batch: null,
      next_retry_at: new Date(),
      ...columns,
    })

  test('says so, and is retried when somebody asks', async () => {
    const id = await insertUnheld()
    expect((await answerOf(request(`GET ${path(id)}`))).body).toMatchObject({
      status: 'RETRYING',
      retryable: true,
      held_up_by: [expect.stringContaining('no retrier and no application holds it')],
    })
    const retrier = startRetrier(service.sql)
    const answer = await answerOf(send(`POST ${path(id, '/retry')}`, {}, { prefer: 'wait=20' })).finally(retrier.stop)
    expect(answer).toMatchObject({ status: 200, body: { status: 'RESOLVED' } })
  })

  test('can be given up, edited and deleted like a PENDING one', async () => {
    const [dead, edited, deleted] = await Promise.all([insertUnheld(), insertUnheld(), insertUnheld()])
    expect((await answerOf(send(`POST ${path(dead, '/dead')}`))).body).toMatchObject({ status: 'DEAD' })
    expect((await answerOf(edit(edited, { max_retries: 9 }))).body).toMatchObject({ status: 'PENDING', max_retries: 9 })
    expect((await send(`DELETE ${path(deleted)}`)).status).toBe(200)
  })

  test('is not retryable with its budget spent, and both answers say so', async () => {
    const id = await insertUnheld({ retry_count: 3 })
    expect((await answerOf(request(`GET ${path(id)}`))).body).toMatchObject({ retryable: false, held_up_by: [] })
    expect(await answerOf(send(`POST ${path(id, '/retry')}`))).toMatchObject({
      status: 409,
      body: errorWith('SYS_DLQ_CONFLICT'),
    })
  })
})

describe('the changes to DEAD and back', () => {
  test('go both ways, each with its reason in the audit', async () => {
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

    // Its budget was spent, and is renewed.
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

  test.each(['RETRYING', 'RESOLVED'])('are refused for a message that is %s', async (status) => {
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
  ])('of a message that is %o sends it again, and is audited', async (columns) => {
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

  test('and a retry at the same time: one of them wins', async () => {
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
        // The message was deleted after it was marked due and before the answer. The retry had won first.
      ]).toContainEqual([deleted!.status, retried!.status])
    }
  })
})

describe('an archived message', () => {
  const archive = async (id: string) => {
    await archiveMessages(service.sql, { ids: [id], now: new Date() })
    expect(await database.sql`select from dlq.dlq_messages where id = ${id}`).toHaveLength(0)
  }

  test('is restored by a change', async () => {
    const id = await insert({ ...record, status: 'DEAD', retry_count: 3 })
    await archive(id)
    expect((await send(`POST ${path(id, '/revive')}`, { reason: 'the consumer is fixed' })).status).toBe(200)
    expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'PENDING', retry_count: 3 })
    expect(await database.sql`select from dlq.dlq_messages_archive where id = ${id}`).toHaveLength(0)
  })

  test('waits as long as its policy says by the database’s clock', async () => {
    const id = await insert({ ...record, status: 'DEAD', retry_count: 3 })
    await archive(id)
    const now = new Date(Date.now() - 30 * 86_400_000)
    await createTestApp(service.sql, { now: () => now })(`POST ${path(id, '/revive')}`)
    const { next_retry_at: at } = await readMessageRow(database.sql, id)
    expect(Math.abs((at as Date).getTime() - now.getTime())).toBeLessThan(86_400_000)
  })

  test('stays in the archive where the change is refused', async () => {
    const id = await insert({ ...record, status: 'RESOLVED' })
    await archive(id)
    expect((await send(`POST ${path(id, '/retry')}`)).status).toBe(409)
    expect(await database.sql`select from dlq.dlq_messages_archive where id = ${id}`).toHaveLength(1)
  })
})
