import { beginCronRun, failCronRun, finishCronRun, writeCronJobs } from 'dlq-core/queries/upkeep/cron-runs.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { lazyTestApp } from '../../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const request = lazyTestApp(service)
const nextTick = new Date('2031-01-02T03:00:00Z')

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_cron_jobs', 'dlq.dlq_cron_runs', 'dlq.dlq_audit')
  await writeCronJobs(service.sql, [
    { name: 'archive', schedule: '0 3 * * *', next_tick: nextTick },
    { name: 'purge', schedule: null, next_tick: null },
  ])
})

test('the cron jobs are listed with their schedules, the last execution that ended and the one under way', async () => {
  const [first, second, third] = [1, 2, 3].map((day) => new Date(`2031-01-0${day}T03:00:00Z`)) as [Date, Date, Date]
  for (const tick of [first, second, third]) await beginCronRun(service.sql, { job: 'archive', tick, retrier: 'r' })
  await finishCronRun(service.sql, { job: 'archive', tick: first, result: { archived: 7 } })
  await failCronRun(service.sql, { job: 'archive', tick: second, error: 'no room', isLast: true })
  await failCronRun(service.sql, { job: 'archive', tick: third, error: 'once more', isLast: false })
  const response = await request('GET /api/v1/cron')
  const { jobs } = (await response.json()) as { jobs: unknown[] }

  expect(jobs).toEqual([
    {
      name: 'archive',
      schedule: '0 3 * * *',
      next_tick: nextTick.toISOString(),
      last: expect.objectContaining({ tick: second.toISOString(), outcome: 'failed', error: 'no room', result: null }),
      current: expect.objectContaining({ tick: third.toISOString(), outcome: null, error: 'once more' }),
    },
    { name: 'purge', schedule: null, next_tick: null, last: null, current: null },
  ])
  const runs = (await (await request('GET /api/v1/cron/archive/runs?limit=9')).json()) as {
    runs: { result: unknown }[]
  }
  expect(runs.runs.map(({ result }) => result)).toEqual([null, null, { archived: 7 }])
})

test('a requested execution waits for a retrier under its tick, and is audited', async () => {
  const response = await request('POST /api/v1/cron/purge/run', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ reason: 'the disk is full' }),
  })
  const { tick } = (await response.json()) as { tick: string }

  expect(response.status).toBe(202)
  const jobs = await database.sql`select task_identifier, queue_name from graphile_worker.jobs`
  expect([...jobs]).toEqual([{ task_identifier: 'cron_purge', queue_name: 'cron_purge' }])
  const runs = await database.sql`select job, tick, requested_by, outcome from dlq.dlq_cron_runs`
  expect([...runs]).toEqual([{ job: 'purge', tick: new Date(tick), requested_by: expect.any(String), outcome: null }])
  const audit = await database.sql`select action, target_id, reason from dlq.dlq_audit`
  expect([...audit]).toEqual([{ action: 'cron.run', target_id: 'purge', reason: 'the disk is full' }])
})

test('a job that no retrier has is not found', async () => {
  const response = await request('POST /api/v1/cron/nonsense/run', { method: 'POST' })
  expect(response.status).toBe(404)
  expect(await database.sql`select from dlq.dlq_cron_runs`).toHaveLength(0)
  expect((await request('GET /api/v1/cron/nonsense/runs')).status).toBe(404)
  expect(await (await request('GET /api/v1/cron/purge/runs')).json()).toEqual({ runs: [] })
})
