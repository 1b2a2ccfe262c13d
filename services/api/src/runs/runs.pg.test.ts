// Bulk runs through the API, carried on job by job, with a retrier that counts every record as published.

import { createHash, randomUUID } from 'node:crypto'
import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import { recordFailedAgain } from 'dlq-core/queries/ingest/message-reopen.ts'
import { listOutstandingMessages, releaseBatch } from 'dlq-core/queries/retry/batches.ts'
import { archiveMessages } from 'dlq-core/queries/upkeep/archive.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { claimDue } from 'dlq-testing/rows/claim-due.ts'
import { describe, expect, test } from 'vitest'
import { answerOf, createTestApp } from '../test-app.ts'
import { startRetrier } from '../test-retrier.ts'
import type { RunJson } from './run-json.ts'
import { orders, thenShare, useRuns } from './test-run-requests.ts'
import { workOnRuns } from './test-runs.ts'

const { database, service, request, insert, insertMany, begin } = useRuns()

const change = (id: string, to: 'pause' | 'resume' | 'cancel') => answerOf(request(`POST /api/v1/runs/${id}/${to}`))

async function read(id: string): Promise<RunJson> {
  return (await answerOf(request(`GET /api/v1/runs/${id}`))).body as RunJson
}

async function sagaOf(id: string) {
  const list = (await answerOf(request(`GET /api/v1/sagas?correlation_id=${id}`))).body as { sagas: { id: string }[] }
  const saga = (await answerOf(request(`GET /api/v1/sagas/${list.sagas[0]!.id}`))).body as {
    status: string
    steps: { step_name: string; action: string; status: string }[]
  }
  return {
    status: saga.status,
    steps: saga.steps.map(({ step_name, action, status }) => `${step_name} ${action} ${status}`),
  }
}

/** Lets a retrier work, and the run's jobs run, until the run shows this. */
async function until(id: string, wanted: object): Promise<RunJson> {
  const retrier = startRetrier(service.sql)
  await expect
    .poll(() => read(id), { timeout: 50_000 })
    .toMatchObject(wanted)
    .finally(retrier.stop)
  return read(id)
}

describe('a retry', () => {
  test('sends the messages that existed at the request, and none that arrives later', async () => {
    const ids = await insertMany(12)
    const id = await begin({})
    // A message with the time of a record that was written long ago.
    const late = await insert({ id: '01900000-0000-7000-8000-000000000001' })
    const later = await insert()
    expect(await until(id, { status: 'completed' })).toMatchObject({
      matched: { value: 12, relation: 'eq' },
      progress: { taken: 12, waiting: 0, resolved: 12 },
    })
    const left = await database.sql`select id from dlq.dlq_messages where status = 'PENDING'`
    expect(left.map((row) => row.id).toSorted()).toEqual([late, later].toSorted())
    const attempts = await database.sql`select message_id from dlq.dlq_attempts where run_id = ${id}`
    expect(attempts.map((row) => row.message_id).toSorted()).toEqual(ids.toSorted())
    expect(await sagaOf(id)).toMatchObject({ status: 'COMPLETED' })
  })

  test('of ids says why it left some alone', async () => {
    const good = await insert()
    const spent = await insert({ retry_count: 3 })
    const dead = await insert({ status: 'DEAD' })
    const id = await begin({ selection: { ids: [good, spent, dead, randomUUID()] } })
    expect(await until(id, { status: 'completed' })).toMatchObject({
      progress: { taken: 1, resolved: 1, skipped: { budget_spent: 1, dead: 1 } },
    })
    const items = async (outcome: string) =>
      ((await answerOf(request(`GET /api/v1/runs/${id}/items?outcome=${outcome}`))).body as { items: object[] }).items
    expect(await items('resolved')).toEqual([{ id: good, outcome: 'resolved', detail: null }])
    expect(await items('skipped')).toHaveLength(2)
    const all = (await answerOf(request(`GET /api/v1/runs/${id}/items`))).body as { items: { outcome: string }[] }
    expect(all.items.map(({ outcome }) => outcome).toSorted()).toEqual(['resolved', 'skipped', 'skipped'])
  })

  test('lets single retries go first', async () => {
    await insertMany(30)
    await begin({})
    await workOnRuns(service.sql)
    const single = await insert()
    const retrier = startRetrier(service.sql)
    const answer = await answerOf(request(`POST /api/v1/dlq/messages/${single}/retry`)).finally(retrier.stop)
    expect(answer).toMatchObject({ status: 200, body: { status: 'RESOLVED' } })
  })

  test('does not wait for a message that somebody retries, gives up or deletes meanwhile', async () => {
    const [retried, dead, deleted, rest] = await insertMany(4)
    const id = await begin({})
    await workOnRuns(service.sql)
    await request(`POST /api/v1/dlq/messages/${retried}/retry`, { headers: { prefer: 'wait=0' } })
    await request(`POST /api/v1/dlq/messages/${dead}/dead`)
    await request(`DELETE /api/v1/dlq/messages/${deleted}`)
    expect(await until(id, { status: 'completed' })).toMatchObject({
      progress: { taken: 4, resolved: 1, withdrawn: 3, waiting: 0 },
    })
    const [row] = await database.sql`select status, run_id from dlq.dlq_messages where id = ${rest!}`
    expect(row).toEqual({ status: 'RESOLVED', run_id: null })
  })

  test('counts re-failures, and another run retries only these', async () => {
    const ids = await insertMany(4)
    const id = await begin({})
    await until(id, { status: 'completed', progress: { resolved: 4 } })
    const back = ids.slice(0, 2)
    await recordFailedAgain(
      service.sql,
      back.map((message_id) => ({
        ...{ message_id, number: 1, attempt_id: deriveAttemptId(message_id, 1), cluster: 'c', topic: 'orders.dlq.v1' },
        ...{ partition: 0, offset: 1n, error_class: null, error_message: 'again', error_changed: false },
        group_id: null,
      })),
    )
    await database.sql`update dlq.dlq_messages set status = 'PENDING' where id = any(${back})`
    expect(await read(id)).toMatchObject({ progress: { resolved: 2, failed_again: 2, waiting: 0 } })
    const again = await begin({ selection: { failed_again_in: id } })
    expect(await until(again, { status: 'completed' })).toMatchObject({ progress: { taken: 2, resolved: 2 } })
  })
})

describe('while it runs', () => {
  const held = () => database.sql`select id from dlq.dlq_messages where run_id is not null`

  test('it can be paused and resumed, and no message of a paused run is sent', async () => {
    await insertMany(10)
    const id = await begin({})
    await workOnRuns(service.sql)
    expect(await change(id, 'pause')).toMatchObject({ status: 200, body: { status: 'paused' } })
    expect(await change(id, 'pause')).toMatchObject({ status: 409 })
    const single = await insert()
    const retrier = startRetrier(service.sql)
    await request(`POST /api/v1/dlq/messages/${single}/retry`).finally(retrier.stop)
    expect(await read(id)).toMatchObject({ status: 'paused', progress: { waiting: 10, resolved: 0 } })
    expect(await change(id, 'resume')).toMatchObject({ body: { status: 'running' } })
    await until(id, { status: 'completed', progress: { resolved: 10 } })
    const audited = await database.sql`
      select before ->> 'status' as before, after ->> 'status' as after from dlq.dlq_audit
      where target_id = ${id} and action in ('run.pause', 'run.resume') order by id`
    expect([...audited]).toEqual([
      { before: 'running', after: 'paused' },
      { before: 'paused', after: 'running' },
    ])
  })

  test('it can be cancelled, and the messages that were not sent are given back as they were', async () => {
    const waits = new Date(Date.now() + 3_600_000)
    await insertMany(10)
    await database.sql`update dlq.dlq_messages set next_retry_at = ${waits}`
    const before = await database.sql`select id, status, retry_count, next_retry_at from dlq.dlq_messages order by id`
    const id = await begin({})
    await workOnRuns(service.sql)
    expect(await held()).toHaveLength(10)
    expect(await change(id, 'cancel')).toMatchObject({ body: { status: 'cancelling' } })
    await workOnRuns(service.sql)
    expect(await read(id)).toMatchObject({
      status: 'cancelled',
      status_reason: 'cancelled by anonymous',
      progress: { taken: 10, given_back: 10, waiting: 0 },
    })
    expect(await database.sql`select id, status, retry_count, next_retry_at from dlq.dlq_messages order by id`).toEqual(
      before,
    )
    expect(await held()).toHaveLength(0)
    const { status, steps } = await sagaOf(id)
    expect(status).toBe('CANCELLED')
    expect(steps).toEqual(
      expect.arrayContaining(['settle EXECUTE SKIPPED', 'all COMPENSATE SUCCESS', 'admit COMPENSATE SUCCESS']),
    )
    expect(await change(id, 'cancel')).toMatchObject({ status: 409 })
  })

  test('it can be cancelled before it begins', async () => {
    await insertMany(2)
    const id = await begin({})
    expect(await change(id, 'cancel')).toMatchObject({ body: { status: 'cancelled' } })
    await workOnRuns(service.sql)
    expect(await sagaOf(id)).toMatchObject({ status: 'CANCELLED' })
    expect(await held()).toHaveLength(0)
  })

  test('its rate can be changed', async () => {
    await insertMany(2)
    const id = await begin({ rate_per_second: 1 })
    const init = { method: 'PATCH', body: '{"rate_per_second": 50}', headers: { 'content-type': 'application/json' } }
    expect(await answerOf(request(`PATCH /api/v1/runs/${id}`, init))).toMatchObject({ body: { rate_per_second: 50 } })
    await until(id, { status: 'completed' })
    const refused = async (run: string) => {
      const { status, body } = await answerOf(request(`PATCH /api/v1/runs/${run}`, init))
      return [status, (body as { error: { message: string } }).error.message]
    }
    expect(await refused(id)).toEqual([409, `run ${id} is completed: it sends nothing any more`])
    const dead = await begin({ kind: 'dead' })
    expect(await refused(dead)).toEqual([409, `run ${dead} is of kind dead: it sends nothing, so it has no rate`])
  })

  test('its progress is streamed until it ends', async () => {
    await insertMany(3)
    const id = await begin({})
    const stream = request(`GET /api/v1/runs/${id}/events`)
    await until(id, { status: 'completed' })
    const events = (await (await stream).text()).split('\n\n').filter(Boolean)
    const last = JSON.parse(
      events
        .at(-1)!
        .split('\n')
        .find((line) => line.startsWith('data: '))!
        .slice(6),
    )
    expect(last).toMatchObject({ status: 'completed', progress: { resolved: 3 } })
  })

  test('its stream ends with the token, though the run goes on, and a token holds ten of them at most', async () => {
    await insertMany(1)
    const id = await begin({})
    const sha256 = createHash('sha256').update('short').digest('hex')
    const expires_at = new Date(Date.now() + 8000).toISOString()
    const ask = createTestApp(service.sql, {
      auth: { tokens: [{ name: 'op', sha256, role: 'sys_auditor', expires_at }] },
    })
    const init = { headers: { authorization: 'Bearer short' } }
    const streams = Array.from({ length: 10 }, () => ask(`GET /api/v1/runs/${id}/events`, init))
    const answers = await Promise.all([...streams, ask(`GET /api/v1/runs/${id}/events`, init)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 10 }, () => 200), 429])
    expect(answers.find(({ status }) => status === 429)!.headers.get('retry-after')).toMatch(/^[1-3]$/)
    // Each comes to its end.
    await Promise.all(answers.map((answer) => answer.text()))
    expect(Date.now()).toBeGreaterThan(Date.parse(expires_at))
    expect((await read(id)).ended_at).toBeNull()
  })

  test('the number of runs that are active at once is bounded', async () => {
    await insertMany(2)
    const first = await begin({})
    const second = await begin({ selection: { filter: { topic: 'payments' } } })
    await workOnRuns(service.sql, { maxActive: 1 })
    expect([(await read(first)).status, (await read(second)).status].toSorted()).toEqual(['queued', 'running'])
  })
})

test('messages that applications pull are made due at once, and leave the run', async () => {
  await database.sql`insert into dlq.dlq_policies (pattern, delivery) values ('orders', 'pull')`
  const [id] = await insertMany(1)
  const run = await begin({})
  await workOnRuns(service.sql)
  await database.sql`update graphile_worker._private_jobs set run_at = now()`
  await workOnRuns(service.sql)
  expect(await read(run)).toMatchObject({ status: 'completed', progress: { taken: 0, done: 1, waiting: 0 } })
  expect([...(await database.sql`select id from dlq.claim_messages('orders')`)]).toEqual([{ id }])
  await emptyTables(database.sql, 'dlq.dlq_policies')
})

test('messages whose delivery became "pull" after the run took them are made due, and leave the run', async () => {
  const [id] = await insertMany(1)
  const run = await begin({})
  const afterItsJobs = async () => {
    await database.sql`update graphile_worker._private_jobs set run_at = now()`
    await workOnRuns(service.sql)
    return read(run)
  }
  await expect.poll(afterItsJobs, { timeout: 50_000 }).toMatchObject({ status: 'running', progress: { waiting: 1 } })
  await database.sql`insert into dlq.dlq_policies (pattern, delivery) values ('orders', 'pull')`
  await expect.poll(afterItsJobs, { timeout: 50_000 }).toMatchObject({
    ...{ status: 'completed', progress: { taken: 0, done: 1, waiting: 0, withdrawn: 0 } },
  })
  expect([...(await database.sql`select id from dlq.claim_messages('orders')`)]).toEqual([{ id }])
  await emptyTables(database.sql, 'dlq.dlq_policies')
})

describe('an edit', () => {
  const patch = [
    { op: 'test', path: '/currency', value: 'EUR' },
    { op: 'replace', path: '/currency', value: 'USD' },
  ]
  const insertValue = (value: string) => insert({ record_value: Buffer.from(value), record_headers: [] })

  test('patches values without rounding, keeps the replaced values, and has reasons for skipped messages', async () => {
    const edited = await insertValue('{"amount": 12345678901234567890.12, "currency": "EUR"}')
    for (const value of ['{"currency": "GBP"}', 'no json']) await insertValue(value)
    const run = await begin({ kind: 'edit', patch })
    await workOnRuns(service.sql)
    expect(await read(run)).toMatchObject({
      status: 'completed',
      progress: { done: 1, skipped: { patch_does_not_fit: 1, no_json: 1 } },
    })
    const [row] = await database.sql`
      select m.record_value, e.record_value as before, e.actor, e.request_id
      from dlq.dlq_messages m join dlq.dlq_message_edits e on e.message_id = m.id where m.id = ${edited}`
    expect(String(row!.record_value)).toBe('{"amount":12345678901234567890.12,"currency":"USD"}')
    expect(String(row!.before)).toBe('{"amount": 12345678901234567890.12, "currency": "EUR"}')
    expect(row!.request_id).toBe(`run ${run}`)
  })

  test('shows its result in a dry run, and changes nothing', async () => {
    const id = await insertValue('{"amount":12345678901234567890.12,"currency":"EUR"}')
    const init = {
      body: JSON.stringify({ kind: 'edit', selection: orders, patch, dry_run: true }),
      headers: { 'content-type': 'application/json' },
    }
    const text = await (await request('POST /api/v1/runs', init)).text()
    expect(text).toContain('"after":{"amount":12345678901234567890.12,"currency":"USD"}')
    expect(JSON.parse(text).diff).toMatchObject([{ id, problem: null }])
    expect(await database.sql`select from dlq.dlq_message_edits`).toHaveLength(0)
  })
})

test('archived messages are restored and retried', async () => {
  const ids = [await insert({ status: 'RESOLVED' }), await insert({ status: 'DEAD', retry_count: 3 })]
  await archiveMessages(service.sql, { ids, now: new Date() })
  const other = await insert()
  const run = await begin({ selection: { filter: { topic: 'orders', archived: true } } })
  expect(await until(run, { status: 'completed' })).toMatchObject({
    matched: { value: 2 },
    progress: { taken: 2, resolved: 2, waiting: 0 },
  })
  expect(await database.sql`select from dlq.dlq_messages_archive`).toHaveLength(0)
  const [row] = await database.sql`select status from dlq.dlq_messages where id = ${other}`
  expect(row).toEqual({ status: 'PENDING' })
})

describe('a redirect', () => {
  test('sends to another topic, and leaves the messages as they were when it is cancelled', async () => {
    const id = await insert({ target_topic: 'orders.edited' })
    const run = await begin({ kind: 'redirect', target_topic: 'orders.repair' })
    await workOnRuns(service.sql)
    const { messages, ...claim } = await claimDue(service.sql)
    expect(messages).toMatchObject([{ id, target_topic: 'orders.repair', run_id: run }])
    expect(await listOutstandingMessages(service.sql, claim)).toMatchObject([{ id, target_topic: 'orders.repair' }])
    await releaseBatch(service.sql, claim)
    await change(run, 'cancel')
    await workOnRuns(service.sql)
    const [row] = await database.sql`select status, retry_count, run_id, target_topic from dlq.dlq_messages`
    expect(row).toEqual({ status: 'PENDING', retry_count: 0, run_id: null, target_topic: 'orders.edited' })
  })
})

describe('a canary', () => {
  test('is sent first; the run pauses by itself where it fails again, and continues when somebody resumes it', async () => {
    await insertMany(20)
    const id = await begin({ canary: { first: 2, ...thenShare('10%'), wait: '0s', max_refailure: '5%' } })
    await workOnRuns(service.sql)
    expect(await read(id)).toMatchObject({ progress: { step: 'first', taken: 2 } })
    await database.sql`insert into dlq.dlq_run_deltas values (${id}, 'failed_again', 1), (${id}, 'resolved', 1)`
    await database.sql`update dlq.dlq_messages set run_id = null, status = 'RESOLVED' where run_id is not null`
    await database.sql`update graphile_worker._private_jobs set run_at = now()`
    await workOnRuns(service.sql)
    expect(await read(id)).toMatchObject({ status: 'paused', status_reason: 'canary: 1 of 2 retries failed again' })
    await change(id, 'resume')
    await until(id, { status: 'completed', progress: { taken: 20, resolved: 19, failed_again: 1, waiting: 0 } })
  })

  test('that does not fail again is followed by the rest', async () => {
    await insertMany(20)
    const id = await begin({ canary: { first: 1, ...thenShare(0.1), wait: '0s' } })
    await until(id, { status: 'completed', progress: { taken: 20, resolved: 20 } })
    expect((await sagaOf(id)).steps).toEqual(
      ['admit', 'first', 'share', 'all', 'settle'].map((step) => `${step} EXECUTE SUCCESS`),
    )
  })
})

describe('a run that does not send', () => {
  test.each([
    ['dead', { status: ['PENDING'] }, { status: 'DEAD' }],
    ['delete', { status: ['PENDING'] }, undefined],
  ] as const)('of kind %s touches its messages', async (kind, filter, after) => {
    const id = await insert()
    await insert({ original_topic: 'payments' })
    const run = await begin({ kind, selection: { filter: { topic: 'orders', ...filter } } })
    await workOnRuns(service.sql)
    expect(await read(run)).toMatchObject({ status: 'completed', progress: { done: 1 } })
    const [row] = await database.sql`select status from dlq.dlq_messages where id = ${id}`
    expect(row).toEqual(after)
  })

  test('archives, and purges the archive', async () => {
    await insert({ status: 'RESOLVED' })
    await insert({ status: 'DEAD' })
    const pending = await insert()
    const archive = await begin({ kind: 'archive' })
    await workOnRuns(service.sql)
    expect(await read(archive)).toMatchObject({ status: 'completed', progress: { done: 2 } })
    expect(await database.sql`select id from dlq.dlq_messages`).toEqual([{ id: pending }])
    const purge = await begin({ kind: 'purge', selection: { filter: { topic: 'orders', archived: true } } })
    await workOnRuns(service.sql)
    expect(await read(purge)).toMatchObject({ status: 'completed', progress: { done: 2 } })
    expect(await database.sql`select id from dlq.dlq_messages_archive`).toHaveLength(0)
  })
})
