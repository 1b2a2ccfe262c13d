// What may be asked of runs, and what is refused.
import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/empty-tables.ts'
import { insertMessageRow } from 'dlq-testing/message-rows.ts'
import { useServiceDatabase } from 'dlq-testing/service-database.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import type { RunJson } from './run-json.ts'
import { answerOf, createTestApp, type TestApp } from './test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const request: TestApp = (methodAndPath, init) => createTestApp(service.sql)(methodAndPath, init)

beforeEach(() =>
  emptyTables(
    database.sql,
    'saga.saga_step_logs',
    'graphile_worker._private_jobs',
    'dlq.dlq_messages',
    'dlq.dlq_runs',
    'saga.saga_states',
  ),
)

const insert = (columns = {}) => insertMessageRow(database.sql, { original_topic: 'orders', ...columns })

async function insertMany(count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => insert()))
}

const orders = { filter: { topic: 'orders' } }
// As people write it; nobody awaits it.
const thenShare = (share: string | number) => Object.fromEntries([['then', share]])

async function ask(body: object): Promise<{ status: number; body: never }> {
  const init = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  return (await answerOf(request('POST /api/v1/runs', init))) as never
}

async function begin(body: object): Promise<string> {
  const { status, body: run } = await ask({ kind: 'retry', selection: orders, ...body })
  expect(status, JSON.stringify(run)).toBe(202)
  return (run as RunJson).id
}

describe('asking', () => {
  test('for a dry run changes nothing and tells what would be done', async () => {
    const [id] = await insertMany(3)
    await insert({ status: 'DEAD' })
    await insert({ retry_count: 3 })
    const { status, body } = await ask({ kind: 'retry', selection: orders, dry_run: true })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...{ complete: true, eligible: 3, ineligible: { dead: 1, budget_spent: 1 } },
      ...{ topics: { orders: 3 }, groups: { none: 3 }, ages: { 'under 1d': 3 }, sample: expect.arrayContaining([id]) },
    })
    expect(await database.sql`select from dlq.dlq_runs`).toHaveLength(0)
  })

  test('guards against what means more than was thought', async () => {
    await insertMany(10)
    const expecting = (expect_count: number, expect_tolerance = '0%') =>
      ask({ kind: 'retry', selection: orders, expect_count, expect_tolerance })
    expect(await expecting(5)).toMatchObject({ status: 409, body: { error: { message: '10 messages match, not 5' } } })
    expect((await expecting(9, '20%')).status).toBe(202)
    expect(await ask({ kind: 'dead', selection: { filter: {} } })).toMatchObject({ status: 400 })
    expect(await ask({ kind: 'dead', selection: { filter: { status: 'PENDING' } } })).toMatchObject({ status: 400 })
    expect((await ask({ kind: 'dead', selection: { filter: {} }, all: true })).status).toBe(202)
  })

  test.each([
    [{ kind: 'retry', selection: {} }, 'exactly one'],
    [{ kind: 'retry', selection: { ...orders, ids: [randomUUID()] } }, 'exactly one'],
    [{ kind: 'redirect', selection: orders }, 'redirect'],
    [{ kind: 'redirect', selection: orders, target_topic: 'orders.dlq.v1' }, 'DLQ topic'],
    [{ kind: 'dead', selection: { filter: { topic: 'x', archived: true } } }, 'archive'],
    [{ kind: 'edit', selection: orders }, 'edit'],
    [{ kind: 'edit', selection: orders, patch: [] }, 'empty'],
    [{ kind: 'retry', selection: orders, patch: [{ op: 'remove', path: '/a' }] }, 'edit'],
    [{ kind: 'purge', selection: orders }, 'archive'],
    [{ kind: 'retry', selection: orders, rate_per_second: 0 }, 'from 0.0001'],
    [{ kind: 'retry', selection: orders, canary: thenShare('101%') }, 'share'],
    [{ kind: 'explode', selection: orders }, 'must be one of retry'],
  ])('for %j is refused', async (body, why) => {
    expect(await ask(body)).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining(why) } } })
  })

  test('for a run that is not there answers 404', async () => {
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
