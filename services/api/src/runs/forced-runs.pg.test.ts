// Runs over messages that nothing else would send: DEAD ones and spent budgets, changed as they are taken, and undone.

import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { describe, expect, test } from 'vitest'
import { answerOf } from '../test-app.ts'
import { startRetrier } from '../test-retrier.ts'
import type { RunJson } from './run-json.ts'
import { orders, thenShare, useRuns } from './test-run-requests.ts'
import { workOnRuns } from './test-runs.ts'

const { database, service, request, insert, ask, begin } = useRuns()

const dead = { status: 'DEAD', retry_count: 3, next_retry_at: null } as const
const force = { force: true, reason: 'the consumer is mended' }
const read = async (id: string) => (await answerOf(request(`GET /api/v1/runs/${id}`))).body as RunJson
const rowOf = (id: string) => readMessageRow(database.sql, id)

/** Lets the run's jobs run, and a retrier publish, until the run has ended. */
async function complete(id: string): Promise<RunJson> {
  const retrier = startRetrier(service.sql)
  await expect
    .poll(() => read(id), { timeout: 50_000 })
    .toMatchObject({ status: 'completed' })
    .finally(retrier.stop)
  return read(id)
}

async function survey(body: object) {
  return (await ask({ kind: 'retry', selection: orders, dry_run: true, ...body })).body as {
    matched: object
    eligible: number
    ineligible: object
    remedies: object
  }
}

test('a dry run tells the number that is compared with the expected one, and what to do about the rest', async () => {
  await insert()
  for (let n = 0; n < 3; n += 1) await insert(dead)
  expect(await survey({})).toMatchObject({
    matched: { value: 1, relation: 'eq' },
    eligible: 1,
    ineligible: { dead: 3 },
    remedies: { dead: '3 are DEAD: send with force, or revive first' },
  })
  const forced = await survey(force)
  expect(forced).toMatchObject({ matched: { value: 4 }, eligible: 4, ineligible: {}, remedies: {} })
  expect((await ask({ kind: 'retry', selection: orders, ...force, expect_count: 1 })).status).toBe(409)
  expect((await ask({ kind: 'retry', selection: orders, ...force, expect_count: 4 })).status).toBe(202)
})

describe('a forced run', () => {
  test('sends DEAD messages of one topic and consumer group, and leaves others alone', async () => {
    const billing = await insert({ ...dead, consumer_group: 'billing' })
    const spent = await insert({ retry_count: 3, consumer_group: 'billing' })
    const other = await insert({ ...dead, consumer_group: 'mail' })
    const id = await begin({ selection: { filter: { topic: 'orders', consumer_group: 'billing' } }, ...force })
    expect(await complete(id)).toMatchObject({ force: true, progress: { taken: 2, resolved: 2, skipped: {} } })
    for (const sent of [billing, spent])
      expect(await rowOf(sent)).toMatchObject({ status: 'RESOLVED', retry_count: 4, max_retries: 4, run_id: null })
    expect(await rowOf(other)).toMatchObject({ status: 'DEAD' })
    expect(await database.sql`select from dlq.dlq_run_undo`).toHaveLength(0)
    const [entry] = await database.sql`select reason, after from dlq.dlq_audit order by id desc limit 1`
    expect(entry).toMatchObject({ reason: force.reason, after: { force: true } })
  })

  test('gives back what it did not send as it was when it is cancelled', async () => {
    const gone = await insert(dead)
    const byHand = await insert({ status: 'DEAD', retry_count: 1, next_retry_at: null })
    const spent = await insert({ retry_count: 3, next_retry_at: new Date(0) })
    const waiting = await insert({ next_retry_at: new Date(4e12) })
    const all = [gone, byHand, spent, waiting]
    // What somebody changes meanwhile stays so.
    const [changed, scheduled] = [await insert(dead), await insert(dead)]
    const before = await Promise.all(all.map(rowOf))
    const id = await begin(force)
    await workOnRuns(service.sql)
    for (const message of all) expect(await rowOf(message)).toMatchObject({ status: 'PENDING', run_id: id })
    for (const [message, change] of [
      [changed, { max_retries: 20 }],
      [scheduled, { next_retry_at: '2100-01-01T00:00:00Z' }],
    ] as const) {
      const headers = { 'content-type': 'application/json', 'if-match': '*' }
      const answer = await request(`PATCH /api/v1/dlq/messages/${message}`, { headers, body: JSON.stringify(change) })
      expect(answer.status).toBe(200)
    }
    await request(`POST /api/v1/runs/${id}/cancel`)
    await workOnRuns(service.sql)
    expect(await read(id)).toMatchObject({ status: 'cancelled', progress: { given_back: 6 } })
    expect(await rowOf(changed)).toMatchObject({ status: 'PENDING', max_retries: 20, run_id: null })
    expect(await rowOf(scheduled)).toMatchObject({ status: 'PENDING', next_retry_at: new Date('2100-01-01T00:00:00Z') })
    const after = await Promise.all(all.map(rowOf))
    const fieldsOf = (rows: typeof after) =>
      rows.map(({ status, max_retries, retry_count, next_retry_at, run_id }) => ({
        ...{ status, max_retries, retry_count, next_retry_at, run_id },
      }))
    expect(fieldsOf(after)).toEqual(fieldsOf(before))
  })
})

test('a retry with a patch changes each message as it takes it, the canary first, and sends none that it does not fit', async () => {
  const patch = [
    { op: 'test', path: '/amount', value: -5 },
    { op: 'replace', path: '/amount', value: 5 },
  ]
  const poison = () => insert({ ...dead, record_value: Buffer.from('{"amount":-5}') })
  const ids = [await poison(), await poison(), await poison()].toSorted()
  const misfit = await insert({ ...dead, record_value: Buffer.from('{"amount":7}') })
  const id = await begin({
    ...{ ...force, patch, canary: { first: 1, ...thenShare('1%'), wait: '0s', max_refailure: 0 } },
  })
  await workOnRuns(service.sql)
  const changed = async () =>
    (await Promise.all(ids.map(rowOf))).filter(({ record_value: value }) => String(value) === '{"amount":5}').length
  expect(await changed()).toBe(1)
  const run = await complete(id)
  expect(run).toMatchObject({
    ...{ patch, canary: { first: 1, wait: '0s', max_refailure: 0 } },
    progress: { resolved: 3, skipped: { patch_does_not_fit: 1 } },
  })
  expect(await changed()).toBe(3)
  expect(await rowOf(misfit)).toMatchObject({ status: 'DEAD', edits: 0 })
})

describe('what a run did can be undone', () => {
  test('a run of kind dead by reviving just what it gave up, with a budget where that was spent', async () => {
    const earlier = await insert(dead)
    const given = [await insert({ retry_count: 3 }), await insert()]
    const id = await begin({ kind: 'dead' })
    await workOnRuns(service.sql)
    for (const message of given) expect(await rowOf(message)).toMatchObject({ status: 'DEAD' })
    const undo = await begin({ kind: 'revive', selection: { changed_in: id } })
    await workOnRuns(service.sql)
    expect(await read(undo)).toMatchObject({ matched: { value: 2 }, progress: { done: 2 }, status: 'completed' })
    expect(await rowOf(given[0]!)).toMatchObject({ status: 'PENDING', retry_count: 3, max_retries: 6 })
    expect(await rowOf(given[1]!)).toMatchObject({ status: 'PENDING', max_retries: 3, next_retry_at: expect.any(Date) })
    expect(await rowOf(earlier)).toMatchObject({ status: 'DEAD' })
  })

  test('a run of kind archive by restoring its messages as they were', async () => {
    const message = await insert(dead)
    const id = await begin({ kind: 'archive' })
    await workOnRuns(service.sql)
    expect(await database.sql`select from dlq.dlq_messages`).toHaveLength(0)
    const undo = await begin({ kind: 'restore', selection: { changed_in: id } })
    await workOnRuns(service.sql)
    expect(await read(undo)).toMatchObject({ progress: { done: 1 }, status: 'completed' })
    expect(await rowOf(message)).toMatchObject({ status: 'DEAD', retry_count: 3 })
  })
})

test('a run says in which step it is, why it stands still and what came in since', async () => {
  await insert()
  await insert()
  const id = await begin({
    canary: { first: 1, ...thenShare('1%'), wait: '60s' },
    max_refailure: 0.2,
    rate_per_second: 5,
  })
  expect(await read(id)).toMatchObject({
    ...{ status: 'queued', step: null, max_refailure: 0.2, saga_id: expect.any(String) },
    held_up_by: ['no retrier is running', expect.stringContaining('queued')],
  })
  await workOnRuns(service.sql)
  await insert()
  // The pause of its topic is not among the first thousand.
  await database.sql`
    insert into dlq.dlq_topic_pauses (topic, what, paused_by, reason, since)
    select 'topic-' || n, 'retries', 'jo', 'maintenance', now() - interval '1 day' from generate_series(1, 1000) n
    union all select 'orders', 'retries', 'jo', 'maintenance', now()`
  const run = await read(id)
  expect(run).toMatchObject({
    selection: orders,
    step: { name: 'first', taken: 1, of: 1, entered_at: expect.any(String), judged_at: null },
    arrived_since: { value: 1, relation: 'eq' },
  })
  expect(run.held_up_by).toContain('its canary waits for the outcome of 1 messages')
  expect(run.held_up_by).toContain('its rate: 5 a second')
  expect(run.held_up_by).toContain('topic orders is paused by jo: maintenance')
  const list = (await answerOf(request('GET /api/v1/runs'))).body as { runs: RunJson[] }
  expect(list.runs[0]).toMatchObject({ id, held_up_by: null, arrived_since: null })
})
