// The ticks of hours over several retriers, one of which is killed.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { type ServiceProcess, startService } from 'dlq-testing/fleet/service-process.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { afterAll, expect, test, vi } from 'vitest'

const database = useDatabase()
const logs = useLogFolder()
const reaper = createReaper()
const running: ServiceProcess[] = []
afterAll(async () => {
  await Promise.all(running.map((service) => service.stop('SIGTERM', 10_000)))
  await reaper.close()
})

const hourMs = 3_600_000
const minuteMs = 60_000
/** All ticks are in the past, because PostgreSQL's clock decides which are due. */
const to = Math.floor(Date.now() / hourMs) * hourMs - hourMs
const from = to - 4 * hourMs - minuteMs / 2
// A URL has no spaces, at which NODE_OPTIONS are split.
const fastClock = import.meta.resolve('dlq-testing/fleet/fast-clock.ts')

async function startRetrier(): Promise<ServiceProcess> {
  const service = await startService({
    ...{ name: 'retrier', databaseUrl: database.url, kafkaBrokers: [], reaper, logFile: `${logs.path}/retrier.log` },
    env: {
      NODE_OPTIONS: `--import=${fastClock}`,
      NODE_NO_WARNINGS: '1',
      TEST_CLOCK_FILE: join(logs.path, 'begin'),
      TEST_CLOCK_FACTOR: '1000',
      TEST_CLOCK_FROM: String(from),
      TEST_CLOCK_TO: String(to + 1000),
      DLQ_WORKER_LEASE: '2s',
      DLQ_CRON_FOLD: '*/15 * * * *',
      DLQ_CRON_PURGE: 'off',
      DLQ_CRON_RECONCILE: 'off',
      // By this clock nothing is archived: it is not the database's.
      DLQ_CRON_ARCHIVE: 'off',
      DLQ_CRON_PAYLOADS: 'off',
      DLQ_CRON_SAGAS: 'off',
    },
  })
  running.push(service)
  await service.ready()
  return service
}

/** Every `stepMinutes` minutes of the four hours. */
function ticks(stepMinutes: number, offsetMinutes = 0): string[] {
  const count = (4 * 60) / stepMinutes + (offsetMinutes === 0 ? 1 : 0)
  const first = to - 4 * hourMs + offsetMinutes * minuteMs
  return Array.from({ length: count }, (_, n) => new Date(first + n * stepMinutes * minuteMs).toISOString())
}

const runs = async (job: string) =>
  database.sql<{ tick: Date; attempts: number; outcome: string; requested_by: string | null }[]>`
    select tick, attempts, outcome, requested_by from dlq.dlq_cron_runs where job = ${job} order by tick`

test('over four hours and two retriers, one of them killed on the way, each tick of each job is executed once', {
  timeout: 180_000,
}, async () => {
  const [first] = await Promise.all([startRetrier(), startRetrier()])
  await vi.waitFor(async () => expect(await database.sql`select from dlq.dlq_workers`).toHaveLength(2), {
    timeout: 60_000,
    interval: 100,
  })
  writeFileSync(join(logs.path, 'begin'), String(Date.now()))

  await vi.waitFor(async () => expect((await runs('sweep')).length).toBeGreaterThan(60), {
    timeout: 60_000,
    interval: 50,
  })
  await first.stop('SIGKILL', 0)
  await startRetrier()
  const expected = { sweep: ticks(1), fold: ticks(15), partitions: ticks(60, 10) }
  for (const [job, due] of Object.entries(expected)) {
    await vi.waitFor(
      async () =>
        expect((await runs(job)).map(({ tick, outcome }) => `${tick.toISOString()} ${outcome}`)).toEqual(
          due.map((tick) => `${tick} done`),
        ),
      { timeout: 90_000, interval: 200 },
    )
  }
  // No tick is even added twice, and only the killed retrier's tick is begun twice.
  const [{ name }] = await database.sql<[{ name: string }]>`
    select pg_get_serial_sequence('graphile_worker._private_jobs', 'id') as name`
  const [row] = await database.sql.unsafe(`select last_value::int as entered from ${name}`)
  expect(row!.entered).toBe(Object.values(expected).flat().length)
  const again = (await Promise.all(Object.keys(expected).map(runs))).flat().filter(({ attempts }) => attempts > 1)
  expect(again.length).toBeLessThanOrEqual(4)
  const [table] = await database.sql`select count(distinct retrier)::int as retriers from dlq.dlq_cron_runs`
  expect(table!.retriers).toBeGreaterThanOrEqual(2)
})
