import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import {
  addJob,
  beatWorker,
  countJobDeaths,
  countJobs,
  deleteFailedJobs,
  forgetWorker,
  registerWorker,
  releaseDeadWorkers,
} from './workers.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(async () => {
  await emptyTables(
    database.sql,
    'graphile_worker._private_jobs',
    'dlq.dlq_workers',
    'graphile_worker._private_job_queues',
  )
})

/** A job that a pool locked `secondsAgo`. */
async function insertTaken(pool: string, { secondsAgo = 60, attempts = 1, queue = '' } = {}): Promise<bigint> {
  const id = await addJob(service.sql, { task: 'test', payload: {}, maxAttempts: 3, ...(queue && { queue }) })
  await database.sql`
    update graphile_worker._private_jobs set locked_by = ${pool}, attempts = ${attempts}, locked_at = now() - ${secondsAgo} * interval '1 s'
    where id = ${String(id)}`
  await database.sql`
    update graphile_worker._private_job_queues set locked_by = ${pool}, locked_at = now() where queue_name = ${queue}`
  return id
}

const seen = (id: string, secondsAgo: number) =>
  database.sql`update dlq.dlq_workers set seen_at = now() - ${secondsAgo} * interval '1 s' where id = ${id}`
const takers = async () =>
  (await database.sql`select locked_by from graphile_worker._private_jobs order by id`).map(
    ({ locked_by }) => locked_by,
  )

test('jobs and queues of pools that were not seen for a lease are given back, those of live pools are not', async () => {
  for (const pool of ['dead', 'living']) await registerWorker(service.sql, { id: pool, retrier: 'r' })
  const id = await insertTaken('dead', { queue: 'q' })
  await insertTaken('living')
  await seen('dead', 11)
  await seen('living', 9)

  expect(await releaseDeadWorkers(service.sql, { leaseMs: 10_000 })).toEqual([{ id, task: 'test', is_spent: false }])
  expect(await takers()).toEqual([null, 'living'])
  const [queue] = await database.sql`select locked_by from graphile_worker._private_job_queues`
  expect(queue!.locked_by).toBe(null)
  // A dead pool that continues learns of it.
  expect([await beatWorker(service.sql, 'dead'), await beatWorker(service.sql, 'living')]).toEqual([false, true])
})

test('a job of an unknown pool is given back after a lease, and tells when it has no try left', async () => {
  await insertTaken('unknown', { secondsAgo: 9 })
  const spent = await insertTaken('unknown', { secondsAgo: 11, attempts: 3 })
  expect(await releaseDeadWorkers(service.sql, { leaseMs: 10_000 })).toEqual([
    { id: spent, task: 'test', is_spent: true },
  ])
})

test.each(['died', 'gave its jobs back'])(
  'a saga’s job that was replaced while it ran is no failed job after its pool %s',
  async (end) => {
    const saga = { task: 'saga/run.send', payload: {}, key: 'saga:1' }
    await addJob(service.sql, saga)
    await database.sql`update graphile_worker._private_jobs set locked_by = 'one', locked_at = now() - interval '1 min'`
    const next = await addJob(service.sql, saga)
    if (end !== 'died') await forgetWorker(service.sql, 'one')
    expect(await releaseDeadWorkers(service.sql, { leaseMs: 10_000 })).toEqual([])
    expect(await countJobs(service.sql)).toEqual({ waiting: 1, running: 0, scheduled: 0, failed: 0 })
    const jobs = await database.sql`select id from graphile_worker._private_jobs`
    expect(jobs.map(({ id }) => BigInt(id))).toEqual([next])
  },
)

test('how often a job’s pool died is counted; a job that its pool gave back by itself is not', async () => {
  const id = await insertTaken('one')
  for (const pool of ['one', 'two']) {
    await database.sql`update graphile_worker._private_jobs set locked_by = ${pool}, locked_at = now() - interval '1 min'`
    await releaseDeadWorkers(service.sql, { leaseMs: 10_000 })
  }
  expect(await countJobDeaths(service.sql, String(id))).toBe(2)
  const other = await insertTaken('three')
  await forgetWorker(service.sql, 'three')
  expect(await countJobDeaths(service.sql, String(other))).toBe(0)
})

test('a pool that is forgotten gives its jobs back', async () => {
  await registerWorker(service.sql, { id: 'gone', retrier: 'r' })
  await insertTaken('gone')
  await forgetWorker(service.sql, 'gone')
  expect(await takers()).toEqual([null])
  expect(await database.sql`select from dlq.dlq_workers`).toHaveLength(0)
})

test('jobs are counted by their state, and jobs without a try left are deleted when they are old', async () => {
  await insertTaken('pool')
  await addJob(service.sql, { task: 'test', payload: {} })
  await addJob(service.sql, { task: 'test', payload: {}, runAt: new Date(Date.now() + 60_000) })
  await addJob(service.sql, { task: 'test', payload: {}, maxAttempts: 1 })
  await database.sql`update graphile_worker._private_jobs set attempts = 1 where max_attempts = 1`

  expect(await countJobs(service.sql)).toEqual({ waiting: 1, running: 1, scheduled: 1, failed: 1 })
  expect(await deleteFailedJobs(service.sql, new Date(Date.now() - 60_000))).toBe(0)
  expect(await deleteFailedJobs(service.sql, new Date(Date.now() + 60_000))).toBe(1)
  expect(await countJobs(service.sql)).toMatchObject({ failed: 0, waiting: 1 })
})

test('a job of a key replaces the one that waits', async () => {
  const first = await addJob(service.sql, { task: 'test', payload: { n: 1 }, key: 'k' })
  expect(await addJob(service.sql, { task: 'test', payload: { n: 2 }, key: 'k' })).toBe(first)
  const jobs = await database.sql`select payload from graphile_worker._private_jobs`
  expect([...jobs]).toEqual([{ payload: { n: 2 } }])
})

test('a request is added even if its waiting job is taken at that moment', async () => {
  await addJob(service.sql, { task: 'test', payload: { n: 1 }, key: 'k' })
  let adding: Promise<bigint> | undefined
  await database.sql.begin(async (sql) => {
    // Takes the job as a worker does. add_job() first sees the job as it was, and later waits for this transaction.
    await sql`update graphile_worker._private_jobs set locked_by = 'pool', locked_at = now(), attempts = 1`
    adding = addJob(service.sql, { task: 'test', payload: { n: 2 }, key: 'k' })
    await sql`select pg_sleep(0.5)`
  })
  await adding
  const jobs = await database.sql`select payload, key, locked_by from graphile_worker._private_jobs order by id`
  expect([...jobs]).toEqual([
    { payload: { n: 1 }, key: null, locked_by: 'pool' },
    { payload: { n: 2 }, key: 'k', locked_by: null },
  ])
})
