// Sagas step by step, with a worker that the test controls.

import { describe, expect, test } from 'vitest'
import { cancelSaga } from './cancel-saga.ts'
import { startSaga } from './start-saga.ts'
import { listSagas } from './store/saga-list.ts'
import { createGate, noting, once, useSagas } from './testing/test-sagas.ts'
import { claimJob, releaseJobs, runAll, runClaimed } from './testing/test-worker.ts'
import { defineWorkflow, PermanentStepError, type Step, type StepContext } from './workflow.ts'

const { database, start, workerOf, readSaga } = useSagas()

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

  test('does not try a step again that cannot succeed', async () => {
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

  test('writes TIMEOUT where the step did not answer in time, and compensates it too, because it may have happened', async () => {
    const calls: string[] = []
    const late: Step['execute'] = ({ signal }) =>
      new Promise(() => signal.addEventListener('abort', () => calls.push('told of the time')))
    const workflow = defineWorkflow({
      name: 'timeout',
      steps: [noting(calls, 'a'), noting(calls, 'b', { timeoutMs: 20, execute: late })],
    })
    const id = await start(workflow)
    await runAll(workerOf(workflow))
    expect(await readSaga(id)).toMatchObject({
      status: 'FAILED',
      error_message: 'step b failed: no answer within 20 ms',
      log: ['a EXECUTE SUCCESS', 'a COMPENSATE SUCCESS', 'b EXECUTE TIMEOUT', 'b COMPENSATE SUCCESS'],
    })
    expect(calls).toEqual(['execute a', 'told of the time', 'compensate b', 'compensate a'])
  })

  test('tries a step again that did not answer in time, while it has tries left', async () => {
    let calls = 0
    const execute: Step['execute'] = () => (++calls === 1 ? new Promise(() => {}) : Promise.resolve('in time'))
    const retry = { maxAttempts: 2, delayMs: 0 }
    const workflow = defineWorkflow({ name: 'slow-once', steps: [noting([], 'a', { timeoutMs: 50, retry, execute })] })
    const id = await start(workflow)
    await runAll(workerOf(workflow))
    expect(await readSaga(id)).toMatchObject({ status: 'COMPLETED', log: ['a EXECUTE SUCCESS'] })
  })

  test('hears no more of a step that fails when its time is over', async () => {
    const failed = Promise.withResolvers<void>()
    const late: Step['execute'] = ({ signal }) =>
      new Promise((_, reject) => {
        const fail = () => {
          reject(new Error('too late'))
          // A rejection that nobody waits for would end the process behind this.
          setTimeout(failed.resolve, 5)
        }
        signal.addEventListener('abort', () => setTimeout(fail, 60))
      })
    const workflow = defineWorkflow({ name: 'late', steps: [noting([], 'a', { timeoutMs: 20, execute: late })] })
    const id = await start(workflow)
    await runAll(workerOf(workflow))
    await failed.promise
    expect(await readSaga(id)).toMatchObject({ log: ['a EXECUTE TIMEOUT', 'a COMPENSATE SUCCESS'] })
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

  test('fails at an answer that PostgreSQL cannot hold, and stores such an error in a form that it can', async () => {
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

test('a step that ends because the process stops has not failed: another process executes it again', async () => {
  const stop = new AbortController()
  let calls = 0
  const execute: Step['execute'] = ({ signal }) => {
    calls += 1
    if (calls > 1) return Promise.resolve('done')
    stop.abort(new Error('stopping'))
    return signal.aborted ? Promise.reject(signal.reason) : Promise.resolve('not told')
  }
  const workflow = defineWorkflow({ name: 'stopped', steps: [noting([], 'a', { execute })] })
  const id = await start(workflow)
  const worker = workerOf(workflow)
  const job = (await claimJob(database.sql, workflow))!
  await expect(runClaimed(worker, job, { signal: stop.signal })).rejects.toThrow('stopping')
  expect(await readSaga(id)).toMatchObject({ status: 'RUNNING', log: [] })
  await releaseJobs(database.sql)
  await runAll(worker)
  expect(await readSaga(id)).toMatchObject({ status: 'COMPLETED', log: ['a EXECUTE SUCCESS'] })
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

  test('while it has no job gets one, and compensates the step that may have been under way', async () => {
    const calls: string[] = []
    const workflow = defineWorkflow({ name: 'cancelled-jobless', steps: [noting(calls, 'a')] })
    const id = await start(workflow)
    await database.sql`delete from graphile_worker._private_jobs`
    await cancel(id)
    await runAll(workerOf(workflow))
    expect(await readSaga(id)).toMatchObject({ status: 'CANCELLED' })
    expect(calls).toEqual(['compensate a'])
  })

  test('before its first step performs no step', async () => {
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
