import { listCronJobs, listCronRuns, requestCronRun, writeCronJobs } from 'dlq-core/queries/upkeep/cron-runs.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import type { CronJob } from './cron-job.ts'
import { cronTasks } from './cron-tasks.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const tick = new Date('2031-05-06T03:00:00Z')

beforeEach(async () => {
  await emptyTables(database.sql, 'graphile_worker._private_jobs', 'dlq.dlq_cron_jobs', 'dlq.dlq_cron_runs')
})

/** Hands the tick out as graphile-worker does. */
function handOut(
  run: CronJob['run'],
  { attempts = 1, maxAttempts = 3, payload = { _cron: { ts: tick.toISOString() } } as object } = {},
) {
  const deps = { sql: service.sql, log: createLog({ service: 'retrier', level: 'silent' }), retrierId: 'r' }
  const tasks = cronTasks([{ name: 'job', schedule: 'off', run }], deps)
  const helpers = { job: { attempts, max_attempts: maxAttempts }, abortSignal: new AbortController().signal }
  return tasks.cron_job!(payload, helpers as never)
}

const runs = () => listCronRuns(service.sql, { job: 'job', limit: 10 })
const done = async () => ({ moved: 3 })
const fail = async () => {
  throw new Error('no room')
}

test('the result of a tick is stored with its duration', async () => {
  await handOut(done)
  expect(await runs()).toMatchObject([
    { tick, retrier: 'r', attempts: 1, outcome: 'done', result: '{"moved": 3}', error: null, requested_by: null },
  ])
  expect((await runs())[0]!.duration_ms).toBeGreaterThanOrEqual(0)
})

test('a tick that is handed out again after its execution ended is not executed again', async () => {
  await handOut(done)
  await handOut(fail)
  expect(await runs()).toMatchObject([{ attempts: 1, outcome: 'done' }])
})

test('a tick that fails shows why and is tried again, and shows no error once it has succeeded', async () => {
  await expect(handOut(fail)).rejects.toThrow('no room')
  expect(await runs()).toMatchObject([{ attempts: 1, outcome: null, finished_at: null, error: 'no room' }])
  await handOut(done, { attempts: 2 })
  expect(await runs()).toMatchObject([{ attempts: 2, outcome: 'done', error: null }])
})

test('the last failure is stored, and no failed job stays', async () => {
  await handOut(fail, { attempts: 3 })
  expect(await runs()).toMatchObject([{ outcome: 'failed', error: 'no room', finished_at: expect.any(Date) }])
})

test('a requested execution becomes a job, and is shown as under way until it ends', async () => {
  await writeCronJobs(service.sql, [{ name: 'job', schedule: null, next_tick: null }])
  const now = new Date('2031-05-06T14:15:16.789Z')
  expect(await requestCronRun(service.sql, { job: 'job', actor: 'ada', now })).toEqual(now)
  expect(await requestCronRun(service.sql, { job: 'other', actor: 'ada', now })).toBe(null)
  expect(await listCronJobs(service.sql)).toMatchObject([{ name: 'job', last: null, current: { requested_by: 'ada' } }])

  const [job] = await database.sql`
    select payload from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = task_id and identifier = 'cron_job'`
  await handOut(done, { payload: job!.payload })
  expect(await listCronJobs(service.sql)).toMatchObject([
    { current: null, last: { tick: now, requested_by: 'ada', outcome: 'done' } },
  ])
})
