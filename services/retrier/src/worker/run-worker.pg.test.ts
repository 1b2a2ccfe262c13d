// graphile-worker in processes that are killed, frozen and stopped, on a separate PostgreSQL that is restarted and
// frozen.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { addJob } from 'dlq-core/queries/upkeep/workers.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { migrateUp } from 'dlq-db/migrate.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { layCluster } from 'dlq-testing/fleet/kept-cluster.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { connectAsService } from 'dlq-testing/postgres/service-database.ts'
import { freezeProcess } from 'dlq-testing/process/process-tree.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { startWatchedProcess, type WatchedProcess } from 'dlq-testing/process/watched-process.ts'
import { type Stack, startStack } from 'dlq-testing/stack.ts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'dlq-worker-'))
const logs = useLogFolder()
const reaper = createReaper()
/** Longer than any test: such a job runs until it is released. */
const forever = 3_600_000
/** The lease of a worker is 2 s here. */
const longerThanLeaseMs = 3000
const bundles = process.env.DLQ_TEST_SERVICES
const workerMain = bundles
  ? join(bundles, 'test-worker.mjs')
  : fileURLToPath(new URL('./test-worker.ts', import.meta.url))
let stack: Stack
let sql: Database
let workers: WatchedProcess[] = []

beforeAll(async () => {
  const postgresSettings = { fsync: 'off', shared_buffers: '16MB' }
  await layCluster(join(folder, 'postgres'))
  stack = await startStack({ dataDir: folder, reaper, withoutKafka: true, postgresSettings, ports: {} })
  await migrateUp({ databaseUrl: stack.databaseUrl })
  sql = connectAsService(stack.databaseUrl)
  await sql`
    create table test_runs (
      id int generated always as identity, key text, job bigint, pid int,
      started_at timestamptz default clock_timestamp(), ended_at timestamptz)`
  await sql`create table test_released (key text)`
})

afterAll(async () => {
  await sql?.end({ timeout: 5 })
  await stack?.stop({ discard: true })
  await reaper.close()
  rmSync(folder, { recursive: true, force: true })
})

beforeEach(async () => {
  await emptyTables(sql, 'graphile_worker._private_jobs', 'test_runs', 'test_released', 'dlq.dlq_workers')
})

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop('SIGTERM', 60_000)))
  workers = []
})

async function startWorker({ lease = '2s', concurrency = 2 } = {}): Promise<WatchedProcess> {
  const worker = await startWatchedProcess({
    command: [process.execPath, workerMain],
    logFile: `${logs.path}/worker.log`,
    reaper,
    env: {
      ...process.env,
      DATABASE_URL: stack.databaseUrl,
      KAFKA_BROKERS: '',
      DLQ_WORKER_LEASE: lease,
      DLQ_APP_SHUTDOWN_TIMEOUT: '60s',
      DLQ_WORKER_CONCURRENCY: String(concurrency),
      NODE_NO_WARNINGS: '1',
    },
  })
  workers.push(worker)
  await eventually(async () => {
    expect(await sql`select from dlq.dlq_workers where retrier = ${`test-${worker.pid}`}`).toHaveLength(1)
  })
  return worker
}

const release = (...keys: string[]) => sql`insert into test_released select unnest(${sql.array(keys)}::text[])`
const note = (key: string, ms = 0) => addJob(sql, { task: 'note', payload: { key, ms } })
const runsOf = async (key: string) =>
  sql<{ pid: number; ended: boolean }[]>`
    select pid, ended_at is not null as ended from test_runs where key = ${key} order by id`
const untilRunning = (key: string) => eventually(async () => expect(await runsOf(key)).toHaveLength(1))
const untilDone = (...keys: string[]) =>
  eventually(async () => {
    const [row] = await sql`
      select (select count(*)::int from graphile_worker.jobs) as jobs,
             (select count(distinct key)::int from test_runs where ended_at is not null and key = any(${sql.array(keys)}::text[])) as keys`
    expect(row).toEqual({ jobs: 0, keys: keys.length })
  })

test('a job whose worker is killed is run by another, long before graphile-worker would give it back', async () => {
  const [dead, living] = [await startWorker({ concurrency: 1 }), await startWorker({ concurrency: 1 })]
  await Promise.all([note('one', forever), note('two', forever)])
  await eventually(async () => expect(await sql`select from test_runs`).toHaveLength(2))
  await dead.stop('SIGKILL', 0)
  await release('one', 'two')
  await untilDone('one', 'two')

  const runs = await sql`select pid, ended_at is not null as ended, key from test_runs order by id`
  expect(runs).toHaveLength(3)
  const lost = runs.find(({ pid }) => pid === dead.pid)!
  expect(lost.ended).toBe(false)
  // The live worker kept its other job.
  expect(runs.filter(({ pid }) => pid === living.pid).map(({ ended }) => ended)).toEqual([true, true])
  const rows = await sql`select retrier from dlq.dlq_workers`
  expect([...rows]).toEqual([{ retrier: `test-${living.pid}` }])
})

test('a worker that is stopped asks its jobs to end, leaves none locked, and removes its row', async () => {
  const worker = await startWorker()
  await note('long', forever)
  await untilRunning('long')
  await worker.stop('SIGTERM', 60_000)

  expect(await worker.exited).toEqual({ code: 0, signal: null })
  const [job] = await sql`select locked_by, attempts, last_error from graphile_worker.jobs`
  expect(job).toEqual({ locked_by: null, attempts: 1, last_error: 'The operation was aborted' })
  expect(await sql`select from dlq.dlq_workers`).toHaveLength(0)
})

test('a worker that was frozen loses its jobs to another, notices, and continues as a new one', async () => {
  const frozen = await startWorker()
  await note('taken', forever)
  await untilRunning('taken')
  const thaw = freezeProcess(frozen.pid)
  try {
    await startWorker()
    await eventually(async () => expect((await runsOf('taken')).length).toBeGreaterThan(1))
  } finally {
    thaw()
  }
  await release('taken')
  await untilDone('taken')
  await eventually(async () => {
    const [row] = await sql`select count(*)::int from dlq.dlq_workers where retrier = ${`test-${frozen.pid}`}`
    expect(row).toEqual({ count: 1 })
  })
  await workers[1]!.stop('SIGTERM', 60_000)
  await note('after')
  await untilDone('after')
  expect((await runsOf('after')).map(({ pid }) => pid)).toEqual([frozen.pid])
})

test.each<[what: string, fault: () => Promise<void>]>([
  ['is restarted', () => stack.postgres!.restart()],
  [
    'is killed and started again',
    async () => {
      process.kill(stack.postgres!.pid, 'SIGKILL')
      await stack.postgres!.restart()
    },
  ],
  [
    'is frozen for longer than the lease',
    async () => {
      const thaw = freezeProcess(stack.postgres!.pid)
      await sleep(longerThanLeaseMs)
      thaw()
    },
  ],
])('a database that %s ends no worker and loses no job', async (_, fault) => {
  const worker = await startWorker()
  const keys = Array.from({ length: 40 }, (_, n) => `job ${n}`)
  for (const key of keys) await note(key, 200)
  await eventually(async () => expect((await sql`select from test_runs`).length).toBeGreaterThan(2))
  await fault()
  await untilDone(...keys)
  expect(worker.hasExited()).toBe(false)
})

test('each of several requests with the same key, added while workers take the jobs, is followed by an execution', async () => {
  await startWorker()
  const keys = ['a', 'b', 'c']
  const adders = Array.from({ length: 9 }, async (_, n) => {
    const key = keys[n % 3]!
    const job = { task: 'note', payload: { key, ms: 0 }, key }
    for (let round = 0; round < 60; round += 1) await addJob(sql, job)
    // The time before the last one is committed: a worker may begin at any moment after that.
    return sql.begin(async (sql) => {
      await addJob(sql, job)
      const [row] = await sql<{ at: Date }[]>`select clock_timestamp() as at`
      return { key, at: row!.at }
    })
  })
  const lastRequests = await Promise.all(adders)
  await untilDone(...keys)
  for (const { key, at } of lastRequests) {
    const later = await sql`select from test_runs where key = ${key} and started_at > ${at}::timestamptz`
    expect(later.length, key).toBeGreaterThan(0)
  }
})
