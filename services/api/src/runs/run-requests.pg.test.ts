// Requests for runs: those that are accepted, and those that are refused.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { answerOf } from '../test-app.ts'
import type { RunJson } from './run-json.ts'
import { orders, thenShare, useRuns } from './test-run-requests.ts'

const { database, request, insert, insertMany, ask, begin } = useRuns()

describe('a request', () => {
  test('for a dry run changes nothing and answers with a preview', async () => {
    const hoursAgo = (hours: number) => ({ created_at: new Date(Date.now() - hours * 3_600_000) })
    const ids = [...(await insertMany(3)), await insert(hoursAgo(23)), await insert(hoursAgo(7 * 24 - 1))]
    await insert({ status: 'DEAD' })
    await insert({ retry_count: 3 })
    const { status, body } = await ask({ kind: 'retry', selection: orders, dry_run: true })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...{ complete: true, eligible: 5, ineligible: { dead: 1, budget_spent: 1 } },
      ...{ topics: { orders: 5 }, groups: { none: 5 }, ages: { 'under 1d': 4, '1d to 7d': 1 }, sample: ids.toSorted() },
    })
    expect(await database.sql`select from dlq.dlq_runs`).toHaveLength(0)
  })

  test('is refused where it matches another number of messages than expected, or everything without "all"', async () => {
    await insertMany(10)
    const expecting = (expect_count: number, expect_tolerance = '0%') =>
      ask({ kind: 'retry', selection: orders, expect_count, expect_tolerance })
    expect(await expecting(5)).toMatchObject({ status: 409, body: { error: { message: '10 messages match, not 5' } } })
    expect((await expecting(9, '20%')).status).toBe(202)
    expect(await ask({ kind: 'dead', selection: { filter: {} } })).toMatchObject({ status: 400 })
    expect(await ask({ kind: 'dead', selection: { filter: { status: 'PENDING' } } })).toMatchObject({ status: 400 })
    expect((await ask({ kind: 'dead', selection: { filter: {} }, all: true })).status).toBe(202)
  })

  test('starts one run for each Idempotency-Key, also where what it matches has changed meanwhile', async () => {
    await insertMany(3)
    const wanted = { kind: 'dead', selection: orders, expect_count: 3 }
    const start = (body: object, key: string) =>
      request('POST /api/v1/runs', {
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
      })
    const key = randomUUID()
    expect((await start({ ...wanted, dry_run: true }, key)).status).toBe(200)
    const answers = await Promise.all([start(wanted, key), start(wanted, key), start(wanted, key)])
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
    expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1)
    await insertMany(3)
    const again = await start(wanted, key)
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true'])
    const { id } = (await again.json()) as RunJson
    expect(await answerOf(start({ ...wanted, expect_count: 6 }, key))).toMatchObject({
      status: 409,
      body: {
        error: {
          message: `the Idempotency-Key was used for another request, which made run ${id}`,
          details: [{ field: 'idempotency-key' }],
        },
      },
    })
    // A refused request uses up no key.
    const next = randomUUID()
    expect((await start(wanted, next)).status).toBe(409)
    expect((await start({ ...wanted, expect_count: 6 }, next)).status).toBe(202)
    expect(await database.sql`select from dlq.dlq_runs`).toHaveLength(2)
  })

  test('is answered with the remedy where the database lacks the schema of the jobs', async () => {
    await database.sql`alter schema graphile_worker rename to hidden_worker`
    try {
      expect(await ask({ kind: 'retry', selection: orders })).toMatchObject({
        status: 503,
        body: { error: { message: 'the schema graphile_worker is missing: run db/migrate.ts up' } },
      })
    } finally {
      await database.sql`alter schema hidden_worker rename to graphile_worker`
    }
  })

  test.each([
    [{ kind: 'retry', selection: {} }, 'exactly one'],
    [{ kind: 'retry', selection: { ...orders, ids: [randomUUID()] } }, 'exactly one'],
    [{ kind: 'redirect', selection: orders }, 'redirect'],
    [{ kind: 'redirect', selection: orders, target_topic: 'orders.dlq.v1' }, 'DLQ topic'],
    [{ kind: 'redirect', selection: orders, target_topic: '{topic}.{name}' }, 'may hold {topic}'],
    [{ kind: 'dead', selection: orders, max_lag: 10 }, 'goes with kind'],
    [{ kind: 'retry', selection: orders, max_lag: -1 }, 'must not be negative'],
    [{ kind: 'dead', selection: orders, staleness: 'send' }, 'goes with kind'],
    [{ kind: 'delete', selection: orders, canary: { first: 1 } }, 'goes with kind'],
    [{ kind: 'delete', selection: orders, rate_per_second: 1 }, 'goes with kind'],
    [{ kind: 'dead', selection: orders, on_refailure: 'pause' }, 'goes with kind'],
    [{ kind: 'retry', selection: orders, staleness: 'hold' }, 'must be "send"'],
    [{ kind: 'dead', selection: { filter: { topic: 'x', archived: true } } }, 'archive'],
    [{ kind: 'edit', selection: orders }, 'edit'],
    [{ kind: 'edit', selection: orders, patch: [] }, 'empty'],
    [{ kind: 'dead', selection: orders, patch: [{ op: 'remove', path: '/a' }] }, 'edit'],
    [{ kind: 'retry', selection: orders, force: true }, 'is required with force'],
    [{ kind: 'dead', selection: orders, force: true, reason: 'why' }, 'goes with kind'],
    [{ kind: 'retry', selection: orders, adopt: true }, 'belongs to kind "origin"'],
    [{ kind: 'origin', selection: orders, patch: [{ op: 'remove', path: '/a' }] }, 'edit'],
    [{ kind: 'origin', selection: { filter: { topic: 'x', archived: true } } }, 'archive'],
    [{ kind: 'restore', selection: orders }, 'archive'],
    [{ kind: 'purge', selection: orders }, 'archive'],
    [{ kind: 'retry', selection: orders, rate_per_second: 0 }, 'from 0.0001'],
    [{ kind: 'retry', selection: orders, canary: thenShare('101%') }, 'share'],
    [{ kind: 'explode', selection: orders }, 'must be one of retry'],
  ])('for %j is refused', async (body, why) => {
    expect(await ask(body)).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining(why) } } })
  })

  test('may compare messages with their originals, and adopt these', async () => {
    await insertMany(2)
    await insert({ status: 'RESOLVED' })
    const run = { kind: 'origin', selection: orders, adopt: true, reason: 'ticket 17' }
    expect((await ask({ ...run, dry_run: true })).body).toMatchObject({ eligible: 2, ineligible: { resolved: 1 } })
    const { status, body } = await ask({ ...run, expect_count: 2 })
    expect(status).toBe(202)
    expect(body).toMatchObject({ kind: 'origin', adopt: true, progress: { origins: null } })
    // Only a retrier with Kafka has such a job.
    const [saga] = await database.sql`select workflow_name from saga.saga_states`
    expect(saga).toEqual({ workflow_name: 'run.compare' })
  })

  test('may name a lag to wait for, and a topic per message to redirect to', async () => {
    await insertMany(1)
    const run = { kind: 'redirect', selection: orders, target_topic: '{topic}.{group}.retry', max_lag: 100 }
    expect(await ask({ ...run, staleness: 'send' })).toMatchObject({ body: { staleness: 'send' } })
    expect(await ask(run)).toMatchObject({
      status: 202,
      body: { staleness: null, max_lag: 100, target_topic: '{topic}.{group}.retry' },
    })
  })

  test('for a missing run answers 404', async () => {
    const id = randomUUID()
    for (const path of [`GET /api/v1/runs/${id}`, `POST /api/v1/runs/${id}/cancel`, `GET /api/v1/sagas/${id}`])
      expect((await request(path)).status, path).toBe(404)
    expect((await ask({ kind: 'retry', selection: { failed_again_in: id } })).status).toBe(404)
  })

  test('for the list shows runs newest first', async () => {
    const [first, second] = [await begin({}), await begin({ kind: 'dead' })]
    const list = async (query: string) =>
      ((await answerOf(request(`GET /api/v1/runs${query}`))).body as { runs: RunJson[] }).runs.map(({ id }) => id)
    expect(await list('')).toEqual([second, first])
    expect(await list('?kind=dead')).toEqual([second])
    expect(await list('?status=running')).toEqual([])
  })
})
