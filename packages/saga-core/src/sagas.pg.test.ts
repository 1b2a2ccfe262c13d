// Sagas step by step, with a worker that does what the test says.

import { emptyTables } from 'dlq-testing/empty-tables.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import { runMigrations } from 'graphile-worker'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cancelSaga } from './cancel-saga.ts'
import { recoverSagas } from './recover-sagas.ts'
import { getSaga, listSagas } from './saga-list.ts'
import { startSaga } from './start-saga.ts'
import { claimJob, releaseJobs, runAll, runClaimed } from './test-worker.ts'
import { defineWorkflow, type Json, PermanentStepError, type Step, type StepContext } from './workflow.ts'

const database = useDatabase()
beforeAll(() => runMigrations({ connectionString: database.url }))
beforeEach(() => emptyTables(database.sql, 'saga.saga_step_logs', 'graphile_worker._private_jobs', 'saga.saga_states'))

const once = { timeoutMs: 5000, retry: { maxAttempts: 1, delayMs: 0 } }

/** A step that notes what it was called for, and answers with its name. */
function noting(calls: string[], name: string, rest: Partial<Step> = {}): Step {
  return {
    name,
    ...once,
    async execute() {
      calls.push(`execute ${name}`)
      return name
    },
    async compensate() {
      calls.push(`compensate ${name}`)
      return undefined
    },
    ...rest,
  }
}

async function start(workflow: ReturnType<typeof defineWorkflow>, payload: Json = null): Promise<string> {
  const { id } = await database.sql.begin((sql) => startSaga(sql, workflow, { payload, initiatedBy: 'test' }))
  return id
}

function workerOf(workflow: ReturnType<typeof defineWorkflow>) {
  return { sql: database.sql, pool: database.sql, workflow }
}

async function readSaga(id: string) {
  const saga = await getSaga(database.sql, id)
  return { ...saga!, log: saga!.steps.map(({ step_name, action, status }) => `${step_name} ${action} ${status}`) }
}

/** A point that a step reaches, and a gate that lets it go on. */
function createGate() {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    open: opened.resolve,
    async pass() {
      reached.resolve()
      await opened.promise
    },
  }
}

describe('a saga whose steps succeed', () => {
  test('executes them in order, hands answers on, and is COMPLETED', async () => {
    const seen: StepContext[] = []
    const see = (name: string): Step => ({
      name,
      ...once,
      async execute(context) {
        seen.push(context)
        return { of: name }
      },
    })
    const workflow = defineWorkflow({ name: 'three', steps: [see('a'), see('b'), see('c')] })
    const id = await start(workflow, { order: 7 })
    await runAll(workerOf(workflow))

    const saga = await readSaga(id)
    expect(saga).toMatchObject({ status: 'COMPLETED', current_step: 3, error_message: null, initiated_by: 'test' })
    expect(saga.log).toEqual(['a EXECUTE SUCCESS', 'b EXECUTE SUCCESS', 'c EXECUTE SUCCESS'])
    expect(saga.steps.map(({ request_payload, response_payload }) => [request_payload, response_payload])[1]).toEqual([
      '{"order": 7}',
      '{"of": "b"}',
    ])
    expect(seen[2]).toMatchObject({ payload: { order: 7 }, results: { a: { of: 'a' }, b: { of: 'b' } }, attempt: 1 })
    expect(new Set(seen.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3)
    expect(saga.steps.every(({ started_at, completed_at }) => started_at <= completed_at!)).toBe(true)
  })

  test('is RUNNING while a step runs, and STARTED before', async () => {
    const gate = createGate()
    const workflow = defineWorkflow({ name: 'slow', steps: [noting([], 'a', { execute: () => gate.pass() as never })] })
    const id = await start(workflow)
    expect(await readSaga(id)).toMatchObject({ status: 'STARTED', current_step: 0 })
    const running = runAll(workerOf(workflow))
    await gate.reached
    expect(await readSaga(id)).toMatchObject({ status: 'RUNNING', current_step: 0, log: [] })
    gate.open()
    await running
    expect(await readSaga(id)).toMatchObject({ status: 'COMPLETED' })
  })
})

describe('a saga with a step that fails', () => {
  test('compensates what was executed, in reverse order, skips what has no compensation, and is FAILED', async () => {
    const calls: string[] = []
    const { compensate: _, ...uncompensable } = noting(calls, 'b')
    const workflow = defineWorkflow({
      name: 'fails',
      steps: [
        noting(calls, 'a'),
        uncompensable,
        noting(calls, 'c'),
        noting(calls, 'd', { execute: async () => Promise.reject(new Error('no stock')) }),
        noting(calls, 'e'),
      ],
    })
    const id = await start(workflow)
    await runAll(workerOf(workflow))

    const saga = await readSaga(id)
    expect(saga).toMatchObject({ status: 'FAILED', error_message: 'step d failed: no stock' })
    expect(calls).toEqual(['execute a', 'execute b', 'execute c', 'compensate c', 'compensate a'])
    expect(saga.log.toSorted()).toEqual(
      [
        ...['a EXECUTE SUCCESS', 'b EXECUTE SUCCESS', 'c EXECUTE SUCCESS', 'd EXECUTE FAILED'],
        ...['c COMPENSATE SUCCESS', 'b COMPENSATE SKIPPED', 'a COMPENSATE SUCCESS'],
      ].toSorted(),
    )
  })

  test('tries it as often as its policy says, under one idempotency key', async () => {
    const contexts: StepContext[] = []
    const workflow = defineWorkflow({
      name: 'retried',
      steps: [
        {
          ...{ name: 'a', timeoutMs: 1000, retry: { maxAttempts: 3, delayMs: 1000 } },
          async execute(context) {
            contexts.push(context)
            if (context.attempt < 3) throw new Error('not yet')
            return 'at last'
          },
        },
      ],
    })
    const id = await start(workflow)
    const worker = workerOf(workflow)
    await runClaimed(worker, (await claimJob(database.sql, workflow))!)
    const [waiting] = await database.sql`select extract(epoch from run_at - now()) as seconds from graphile_worker.jobs`
    expect(Number(waiting!.seconds)).toBeGreaterThan(0)
    expect(await readSaga(id)).toMatchObject({ status: 'RUNNING', error_message: 'step a failed: not yet', log: [] })
    await runAll(worker)
    expect(await readSaga(id)).toMatchObject({ status: 'COMPLETED', error_message: null, log: ['a EXECUTE SUCCESS'] })
    expect(new Set(contexts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
  })

  test('does not try again what cannot succeed', async () => {
    let calls = 0
    const workflow = defineWorkflow({
      name: 'permanent',
      steps: [
        {
          ...{ name: 'a', timeoutMs: 1000, retry: { maxAttempts: 9, delayMs: 0 } },
          async execute() {
            calls += 1
            throw new PermanentStepError('card declined')
          },
        },
      ],
    })
    const id = await start(workflow)
    await runAll(workerOf(workflow))
    expect(calls).toBe(1)
    expect(await readSaga(id)).toMatchObject({ status: 'FAILED', log: ['a EXECUTE FAILED'] })
  })

  test('writes TIMEOUT where it did not answer in time, and compensates it too, because it may have happened', async () => {
    const calls: string[] = []
    const workflow = defineWorkflow({
      name: 'timeout',
      steps: [noting(calls, 'a'), noting(calls, 'b', { timeoutMs: 20, execute: () => new Promise(() => {}) })],
    })
    const id = await start(workflow)
    await runAll(workerOf(workflow))
    expect(await readSaga(id)).toMatchObject({
      status: 'FAILED',
      error_message: 'step b failed: no answer within 20 ms',
      log: ['a EXECUTE SUCCESS', 'a COMPENSATE SUCCESS', 'b EXECUTE TIMEOUT', 'b COMPENSATE SUCCESS'],
    })
    expect(calls).toEqual(['execute a', 'compensate b', 'compensate a'])
  })

  test('goes on compensating when one compensation fails for good', async () => {
    const calls: string[] = []
    const workflow = defineWorkflow({
      name: 'half-compensated',
      steps: [
        noting(calls, 'a'),
        noting(calls, 'b', { compensate: async () => Promise.reject(new Error('locked')) }),
        noting(calls, 'c', { execute: async () => Promise.reject(new Error('broken')) }),
      ],
    })
    const id = await start(workflow)
    await runAll(workerOf(workflow))
    const saga = await readSaga(id)
    expect(saga).toMatchObject({
      status: 'FAILED',
      error_message: 'step c failed: broken; compensation of step b failed: locked',
    })
    expect(saga.log).toContain('b COMPENSATE FAILED')
    expect(calls).toEqual(['execute a', 'execute b', 'compensate a'])
  })

  test('takes an answer or an error that PostgreSQL cannot hold for what it is', async () => {
    const workflow = defineWorkflow({
      name: 'unwritable',
      steps: [noting([], 'a', { execute: async () => 'nul \u0000' })],
    })
    const id = await start(workflow)
    await runAll(workerOf(workflow))
    expect(await readSaga(id)).toMatchObject({ status: 'FAILED', log: ['a EXECUTE FAILED', 'a COMPENSATE SUCCESS'] })

    const nul = defineWorkflow({
      name: 'nul',
      steps: [noting([], 'a', { execute: async () => Promise.reject(new Error('\u0000\ud800')) })],
    })
    const other = await start(nul)
    await runAll(workerOf(nul))
    expect(await readSaga(other)).toMatchObject({ status: 'FAILED', error_message: 'step a failed: \ufffd\ufffd' })
  })
})

describe('a saga that is cancelled', () => {
  const cancel = (id: string) => database.sql.begin((sql) => cancelSaga(sql, { id, by: 'anna', reason: 'wrong order' }))

  test('between two steps compensates what was executed, says which step was skipped, and is CANCELLED', async () => {
    const calls: string[] = []
    const workflow = defineWorkflow({
      name: 'cancelled',
      steps: [noting(calls, 'a'), noting(calls, 'b'), noting(calls, 'c')],
    })
    const id = await start(workflow)
    const worker = workerOf(workflow)
    await runClaimed(worker, (await claimJob(database.sql, workflow))!)
    expect(await cancel(id)).toEqual({ outcome: 'cancelling', status: 'COMPENSATING' })
    expect(await cancel(id)).toEqual({ outcome: 'compensating_already', status: 'COMPENSATING' })
    await runAll(worker)

    expect(await readSaga(id)).toMatchObject({
      status: 'CANCELLED',
      error_message: 'cancelled by anna: wrong order',
      log: ['a EXECUTE SUCCESS', 'a COMPENSATE SUCCESS', 'b EXECUTE SKIPPED'],
    })
    expect(calls).toEqual(['execute a', 'compensate a'])
    expect(await cancel(id)).toEqual({ outcome: 'ended', status: 'CANCELLED' })
    expect((await cancel('00000000-0000-0000-0000-000000000000')).outcome).toBe('not_found')
  })

  test('before its first step does nothing else', async () => {
    const calls: string[] = []
    const workflow = defineWorkflow({ name: 'cancelled-early', steps: [noting(calls, 'a')] })
    const id = await start(workflow)
    await cancel(id)
    await runAll(workerOf(workflow))
    expect(await readSaga(id)).toMatchObject({ status: 'CANCELLED', log: ['a EXECUTE SKIPPED'] })
    expect(calls).toEqual([])
  })

  test('while a step runs lets it end, and compensates it first', async () => {
    const calls: string[] = []
    const gate = createGate()
    const workflow = defineWorkflow({
      name: 'cancelled-running',
      steps: [noting(calls, 'a'), noting(calls, 'b', { execute: () => gate.pass() as never }), noting(calls, 'c')],
    })
    const id = await start(workflow)
    const running = runAll(workerOf(workflow))
    await gate.reached
    await cancel(id)
    expect(await readSaga(id)).toMatchObject({ status: 'COMPENSATING', log: ['a EXECUTE SUCCESS'] })
    gate.open()
    await running
    expect(await readSaga(id)).toMatchObject({ status: 'CANCELLED' })
    expect(calls).toEqual(['execute a', 'compensate b', 'compensate a'])
  })

  test('while a step waits for its next attempt does not wait', async () => {
    const workflow = defineWorkflow({
      name: 'cancelled-waiting',
      steps: [
        noting([], 'a', {
          retry: { maxAttempts: 2, delayMs: 3_600_000, maxDelayMs: 3_600_000 },
          execute: async () => Promise.reject(new Error('later')),
        }),
      ],
    })
    const id = await start(workflow)
    const worker = workerOf(workflow)
    await runClaimed(worker, (await claimJob(database.sql, workflow))!)
    await cancel(id)
    const [due] = await database.sql`select run_at <= now() as is_due from graphile_worker.jobs`
    expect(due).toEqual({ is_due: true })
    await runAll(worker)
    expect(await readSaga(id)).toMatchObject({ status: 'CANCELLED', log: ['a EXECUTE SKIPPED'] })
  })
})

describe('a step in chunks', () => {
  const counting = (chunks: number, rest: Partial<Step> = {}): Step => ({
    name: 'count',
    ...once,
    async executeChunk(sql, { progress }) {
      const n = Number(progress ?? 0) + 1
      await sql`insert into done (n) values (${n})`
      return { isLast: n === chunks, response: n }
    },
    async compensateChunk(sql) {
      const [row] = await sql`delete from done where n = (select max(n) from done) returning n`
      const [left] = await sql<{ left: number }[]>`select count(*)::int as left from done`
      return { isLast: left!.left === 0, response: Number(row!.n) }
    },
    ...rest,
  })
  const done = async () => (await database.sql<{ n: number }[]>`select n from done order by n`).map(({ n }) => n)

  beforeEach(() =>
    database.sql`drop table if exists done`.then(() => database.sql`create table done (n int primary key)`),
  )

  test('makes each chunk in one transaction with its log, of one row that moves on', async () => {
    const workflow = defineWorkflow({ name: 'chunks', steps: [counting(3)] })
    const id = await start(workflow)
    const worker = workerOf(workflow)
    await runClaimed(worker, (await claimJob(database.sql, workflow))!)
    expect((await readSaga(id)).steps).toMatchObject([{ status: 'SUCCESS', response_payload: '1', completed_at: null }])
    expect(await runAll(worker)).toBe(2)
    expect(await readSaga(id)).toMatchObject({ status: 'COMPLETED', log: ['count EXECUTE SUCCESS'] })
    expect(await done()).toEqual([1, 2, 3])
  })

  test('is rolled back where it fails, and tried again', async () => {
    let failures = 2
    const workflow = defineWorkflow({
      name: 'chunks-failing',
      steps: [
        counting(2, {
          retry: { maxAttempts: 3, delayMs: 0 },
          async executeChunk(sql, context) {
            const chunk = await counting(2).executeChunk!(sql, context)
            if (failures-- > 0) await sql`select 1 / 0`
            return chunk
          },
        }),
      ],
    })
    const id = await start(workflow)
    expect(await runAll(workerOf(workflow))).toBe(4)
    expect(await readSaga(id)).toMatchObject({ status: 'COMPLETED', error_message: null })
    expect(await done()).toEqual([1, 2])
  })

  test('is a TIMEOUT where its statement takes too long, and its earlier chunks are compensated', async () => {
    const workflow = defineWorkflow({
      name: 'chunks-slow',
      steps: [
        counting(5, {
          timeoutMs: 200,
          async executeChunk(sql, context) {
            if (context.progress === 2) await sql`select pg_sleep(60)`
            return counting(5).executeChunk!(sql, context)
          },
        }),
      ],
    })
    const id = await start(workflow)
    await runAll(workerOf(workflow))
    expect(await readSaga(id)).toMatchObject({
      status: 'FAILED',
      log: ['count EXECUTE TIMEOUT', 'count COMPENSATE SUCCESS'],
    })
    expect(await done()).toEqual([])
  })

  test('can be cancelled between two chunks', async () => {
    const workflow = defineWorkflow({ name: 'chunks-cancelled', steps: [counting(1000)] })
    const id = await start(workflow)
    const worker = workerOf(workflow)
    for (let n = 0; n < 3; n += 1) await runClaimed(worker, (await claimJob(database.sql, workflow))!)
    await database.sql.begin((sql) => cancelSaga(sql, { id, by: 'test' }))
    await runAll(worker)
    expect(await readSaga(id)).toMatchObject({
      status: 'CANCELLED',
      log: ['count EXECUTE SUCCESS', 'count COMPENSATE SUCCESS'],
    })
    expect(await done()).toEqual([])
  })
})

describe('starting', () => {
  const workflow = defineWorkflow({ name: 'started', steps: [noting([], 'a')] })

  test('twice with one correlation id, at the same time too, starts one saga', async () => {
    const begin = () => database.sql.begin((sql) => startSaga(sql, workflow, { payload: 1, correlationId: 'order-1' }))
    const started = await Promise.all([begin(), begin(), begin(), begin()])
    expect(new Set(started.map(({ id }) => id)).size).toBe(1)
    expect(started.filter(({ isNew }) => isNew)).toHaveLength(1)
    await runAll(workerOf(workflow))
    expect(await begin()).toEqual({ id: started[0]!.id, isNew: false })
    const other = { ...workflow, name: 'other' }
    const elsewhere = await database.sql.begin((sql) => startSaga(sql, other, { payload: 1, correlationId: 'order-1' }))
    expect(elsewhere.isNew).toBe(true)
  })

  test('in a transaction that is rolled back starts nothing', async () => {
    const failed = database.sql.begin(async (sql) => {
      await startSaga(sql, workflow, { payload: null })
      throw new Error('changed my mind')
    })
    await expect(failed).rejects.toThrow('changed my mind')
    expect(await claimJob(database.sql, workflow)).toBeNull()
    expect(await listSagas(database.sql, { limit: 10, offset: 0 })).toEqual({ sagas: [], total: 0 })
  })
})

describe('after a crash', () => {
  test('a step that ran, but whose log was not committed, is run again under its key', async () => {
    const keys: string[] = []
    const workflow = defineWorkflow({
      name: 'again',
      steps: [
        noting([], 'a', {
          async execute({ idempotencyKey }) {
            keys.push(idempotencyKey)
            return keys.length === 1 ? new Promise(() => {}) : 'done'
          },
        }),
      ],
    })
    const id = await start(workflow)
    // The process stops being; nobody ever hears of this run again.
    void runClaimed(workerOf(workflow), (await claimJob(database.sql, workflow))!)
    await expect.poll(() => keys.length, { timeout: 30_000 }).toBe(1)
    expect(await claimJob(database.sql, workflow)).toBeNull()
    await releaseJobs(database.sql)
    await runAll(workerOf(workflow))
    expect(await readSaga(id)).toMatchObject({ status: 'COMPLETED', log: ['a EXECUTE SUCCESS'] })
    expect(keys[0]).toBe(keys[1])
  })

  test('a process that was taken for dead, and was not, changes nothing when it comes back', async () => {
    const gate = createGate()
    const calls: string[] = []
    const workflow = defineWorkflow({
      name: 'zombie',
      steps: [
        noting(calls, 'a', {
          async execute() {
            calls.push('execute a')
            if (calls.length === 1) await gate.pass()
            return calls.length
          },
        }),
        noting(calls, 'b'),
      ],
    })
    const id = await start(workflow)
    const zombie = runClaimed(workerOf(workflow), (await claimJob(database.sql, workflow))!)
    await gate.reached
    await releaseJobs(database.sql)
    await runClaimed(workerOf(workflow), (await claimJob(database.sql, workflow))!)
    gate.open()
    await zombie
    await runAll(workerOf(workflow))
    expect(await readSaga(id)).toMatchObject({ status: 'COMPLETED', log: ['a EXECUTE SUCCESS', 'b EXECUTE SUCCESS'] })
    expect(calls).toEqual(['execute a', 'execute a', 'execute b'])
  })

  test('recovery gives every unfinished saga without a job one, once, however many ask', async () => {
    const calls: string[] = []
    const workflow = defineWorkflow({ name: 'recovered', steps: [noting(calls, 'a'), noting(calls, 'b')] })
    const ids = [await start(workflow), await start(workflow), await start(workflow)]
    await emptyTables(database.sql, 'graphile_worker._private_jobs')
    const recover = () => recoverSagas(database.sql, { workflows: [workflow] })
    const recovered = await Promise.all([recover(), recover(), recover()])
    expect(recovered.reduce((sum, n) => sum + n)).toBe(3)
    expect(await recover()).toBe(0)
    await runAll(workerOf(workflow))
    for (const id of ids) expect(await readSaga(id)).toMatchObject({ status: 'COMPLETED' })
    expect(calls).toHaveLength(6)
  })

  test('recovery lets a job run now that an error of its own holds up, and leaves those alone that run', async () => {
    const workflow = defineWorkflow({ name: 'held-up', steps: [noting([], 'a')] })
    await start(workflow)
    await start(workflow)
    const running = (await claimJob(database.sql, workflow))!
    await database.sql`
      update graphile_worker._private_jobs set run_at = now() + interval '6 hours', last_error = 'the database was away', attempts = 10
      where id <> ${running.id}`
    expect(await recoverSagas(database.sql, { workflows: [workflow] })).toBe(1)
    expect(await recoverSagas(database.sql, { workflows: [workflow] })).toBe(0)
    const [job] =
      await database.sql`select run_at <= now() as is_due from graphile_worker.jobs where id <> ${running.id}`
    expect(job).toEqual({ is_due: true })
  })

  test('a step that no process survives fails in the end', async () => {
    const calls: string[] = []
    const workflow = defineWorkflow({ name: 'deadly', steps: [noting(calls, 'a')] })
    const id = await start(workflow)
    await database.sql`update graphile_worker._private_jobs set attempts = 25`
    await runAll(workerOf(workflow))
    expect(await readSaga(id)).toMatchObject({ status: 'FAILED', log: ['a EXECUTE FAILED', 'a COMPENSATE SUCCESS'] })
    expect(calls).toEqual(['compensate a'])
  })
})

test('sagas are listed by workflow, status and correlation id, newest first, with totals', async () => {
  const one = defineWorkflow({ name: 'one', steps: [noting([], 'a')] })
  const two = defineWorkflow({ name: 'two', steps: [noting([], 'a')] })
  const begin = (workflow: typeof one, correlationId: string) =>
    database.sql.begin((sql) => startSaga(sql, workflow, { payload: null, correlationId }))
  const first = await begin(one, 'x')
  const second = await begin(one, 'y')
  const third = await begin(two, 'x')
  await runAll(workerOf(two))
  const list = async (filter: Parameters<typeof listSagas>[1]) => {
    const { sagas, total } = await listSagas(database.sql, filter)
    return { ids: sagas.map(({ id }) => id), total }
  }
  const page = { limit: 10, offset: 0 }
  expect(await list(page)).toEqual({ ids: [third.id, second.id, first.id], total: 3 })
  expect(await list({ limit: 1, offset: 1 })).toEqual({ ids: [second.id], total: 3 })
  expect(await list({ ...page, workflow: 'one' })).toEqual({ ids: [second.id, first.id], total: 2 })
  expect(await list({ ...page, status: 'COMPLETED' })).toEqual({ ids: [third.id], total: 1 })
  expect(await list({ ...page, correlationId: 'x' })).toEqual({ ids: [third.id, first.id], total: 2 })
  expect(await list({ ...page, workflow: 'two', status: 'STARTED' })).toEqual({ ids: [], total: 0 })
})
