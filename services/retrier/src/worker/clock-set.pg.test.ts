// The timetable of a retrier whose clock is set while it runs. Only Date is another one here; timers are real.
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { followLogin } from 'dlq-core/runtime/database/database-login.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { Registry } from 'prom-client'
import { afterEach, expect, test, vi } from 'vitest'
import { toCronItem } from '../cron/cron-job.ts'
import { runWorker } from './run-worker.ts'
import { createWorkerMetrics } from './worker-metrics.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const dayMs = 86_400_000
/** A moment before a minute, at which the timetable looks. */
const beforeTick = Math.floor(Date.now() / 60_000) * 60_000 + 59_700
let stopping = new AbortController()
let running: Promise<void> = Promise.resolve()

afterEach(async () => {
  vi.useRealTimers()
  stopping.abort()
  await running
})

test.each([
  ['back', 30 * dayMs, 0],
  ['forward', 0, 30 * dayMs],
])('after its clock was set %s by a month, the timetable begins anew by the present time', async (way, first, then) => {
  const { config } = loadConfig({ env: { DATABASE_URL: database.url }, yaml: null, needs: ['database'] })
  const notes: object[] = []
  const note = (fields: object, event: string) => void notes.push({ event, ...fields })
  const log = { trace: () => {}, debug: () => {}, info: note, warn: note, error: note } as never
  const login = followLogin(config.database, { reread: () => null, prove: async () => {}, log })
  const job = { name: 'sweep', schedule: '* * * * *', run: async () => ({}) }
  vi.useFakeTimers({ toFake: ['Date'], now: beforeTick + first })
  stopping = new AbortController()
  const { signal } = stopping
  running = runWorker({
    ...{ sql: service.sql, database: config.database, login, settings: config.worker, retrierId: 'test', log, signal },
    tasks: {},
    cronItems: () => [toCronItem(job, new Date())!],
    metrics: createWorkerMetrics(new Registry()),
  })
  const started = () => notes.filter((one) => 'event' in one && one.event === 'worker_started')
  await eventually(() => expect(started()).toHaveLength(1))
  vi.setSystemTime(beforeTick + then)
  await eventually(() => expect(started()).toHaveLength(2))
  expect(notes).toContainEqual(expect.objectContaining({ event: 'worker_stopped', reason: `the clock was set ${way}` }))
  // The first minute at most, and not all that lie between.
  const [row] = await database.sql`select count(*)::int as jobs from graphile_worker.jobs`
  expect(row!.jobs).toBeLessThanOrEqual(1)
})
