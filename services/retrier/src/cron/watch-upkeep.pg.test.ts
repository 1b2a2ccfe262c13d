// What the gauges of scheduled jobs say of one that fails, and of one that rests at weekends.

import { beginCronRun, deleteOldCronRuns, listCronRuns, requestCronRun } from 'dlq-core/queries/upkeep/cron-runs.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { Registry } from 'prom-client'
import { beforeEach, expect, test } from 'vitest'
import { createUpkeepMetrics, createUpkeepWatch } from './watch-upkeep.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const log = createLog({ service: 'test', level: 'silent' })
const dayMs = 86_400_000
// The first watch makes partitions, so it is a day of now. 1970 began on a Thursday.
const friday = new Date(Math.floor(Date.now() / (7 * dayMs)) * 7 * dayMs + dayMs + 3 * 3_600_000)
const daysLater = (days: number) => new Date(friday.getTime() + days * dayMs)

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_cron_jobs', 'dlq.dlq_cron_runs', 'graphile_worker._private_jobs'))

const run = (days: number, outcome: 'done' | 'failed') => database.sql`
  insert into dlq.dlq_cron_runs (job, tick, started_at, finished_at, outcome)
  values ('archive', ${daysLater(days)}, ${daysLater(days)}, ${daysLater(days)}, ${outcome})`

/** The gauges of a retrier that has just started, in days. */
async function gauges(at: Date, schedule: string) {
  const registry = new Registry()
  const metrics = createUpkeepMetrics(registry)
  const jobs = [{ name: 'archive', schedule, run: async () => ({}) }]
  await createUpkeepWatch({ sql: service.sql, log, metrics, jobs, now: () => at })()
  const value = async (of: keyof typeof metrics) => (await metrics[of].get()).values[0]?.value
  const [interval, success] = [await value('interval'), await value('lastSuccess')]
  return {
    interval: interval && (interval * 1000) / dayMs,
    success: success && (success * 1000 - friday.getTime()) / dayMs,
  }
}

test('a job that has failed for longer than executions are kept still says when it last succeeded', async () => {
  for (const days of [-2, -1, 0]) await run(days, 'done')
  for (let days = 1; days < 20; days += 1) await run(days, 'failed')
  expect(await deleteOldCronRuns(service.sql, daysLater(13))).toBe(14)
  expect(await gauges(daysLater(19), '0 3 * * *')).toEqual({ interval: 1, success: 0 })
})

test('a job that has never succeeded says when it was first due', async () => {
  expect(await gauges(daysLater(0), '0 3 * * *')).toEqual({ interval: 1, success: undefined })
  for (let days = 0; days < 20; days += 1) await run(days, 'failed')
  expect(await deleteOldCronRuns(service.sql, daysLater(13))).toBe(12)
  expect(await gauges(daysLater(19), '0 3 * * *')).toEqual({ interval: 1, success: 0 })
})

test.each([
  ['on Thursday', -0.9, 1],
  ['on Sunday, since Friday', 2, 3],
  ['while it is executed on Monday', 3.01, 3],
  ['on Tuesday', 4.01, 1],
])('the interval of a job that rests at weekends is never shorter than its rest: %s', async (_, days, interval) => {
  expect((await gauges(daysLater(days), '0 3 * * 1-5')).interval).toBe(interval)
})

test('an execution whose last try died with its retrier has failed; one that has another try is under way', async () => {
  const { sql } = database
  await sql`insert into dlq.dlq_cron_jobs (name) values ('archive')`
  const tick = await requestCronRun(service.sql, { job: 'archive', actor: 'ann', now: friday })
  await beginCronRun(service.sql, { job: 'archive', tick: tick!, retrier: 'one' })
  const outcome = async () => {
    await gauges(daysLater(0), '0 3 * * *')
    const [run] = await listCronRuns(service.sql, { job: 'archive', limit: 1 })
    return [run!.outcome, run!.error]
  }
  expect(await outcome()).toEqual([null, null])
  await sql`update graphile_worker._private_jobs set attempts = max_attempts, locked_at = now(), locked_by = 'one'`
  expect(await outcome()).toEqual([null, null])
  await sql`update graphile_worker._private_jobs set locked_at = null, locked_by = null`
  expect(await outcome()).toEqual(['failed', 'its last try did not end: its retrier died'])
})
