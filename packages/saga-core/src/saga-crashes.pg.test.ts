// Sagas whose process died, or was declared dead.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { describe, expect, test } from 'vitest'
import { cancelSaga } from './cancel-saga.ts'
import { recoverSagas } from './recover-sagas.ts'
import { createGate, noting, useSagas } from './testing/test-sagas.ts'
import { claimJob, releaseJobs, runAll, runClaimed } from './testing/test-worker.ts'
import { defineWorkflow } from './workflow.ts'

const { database, start, workerOf, readSaga } = useSagas()

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
    // The process dies here, and this execution never answers.
    void runClaimed(workerOf(workflow), (await claimJob(database.sql, workflow))!)
    await expect.poll(() => keys.length, { timeout: 30_000 }).toBe(1)
    expect(await claimJob(database.sql, workflow)).toBeNull()
    await releaseJobs(database.sql)
    await runAll(workerOf(workflow))
    expect(await readSaga(id)).toMatchObject({ status: 'COMPLETED', log: ['a EXECUTE SUCCESS'] })
    expect(keys[0]).toBe(keys[1])
  })

  test('a live process that was declared dead changes nothing when it continues', async () => {
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

  test('recovery adds one job for every unfinished saga without one, however many processes recover', async () => {
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

  test('recovery goes on as the state says, and takes a step for one that may have been under way', async () => {
    const calls: string[] = []
    const fails = noting(calls, 'b', { execute: async () => Promise.reject(new Error('no stock')) })
    const workflow = defineWorkflow({ name: 'recovered-half', steps: [noting(calls, 'a'), fails] })
    const worker = workerOf(workflow)
    const compensating = await start(workflow)
    for (let n = 0; n < 2; n += 1) await runClaimed(worker, (await claimJob(database.sql, workflow))!)
    const underWay = await start(workflow)
    await emptyTables(database.sql, 'graphile_worker._private_jobs')
    expect(await recoverSagas(database.sql, { workflows: [workflow] })).toBe(2)
    await database.sql.begin((sql) => cancelSaga(sql, { id: underWay, by: 'anna' }))
    await runAll(worker)
    expect(await readSaga(compensating)).toMatchObject({
      ...{ status: 'FAILED', log: ['a EXECUTE SUCCESS', 'a COMPENSATE SUCCESS', 'b EXECUTE FAILED'] },
    })
    expect(await readSaga(underWay)).toMatchObject({ status: 'CANCELLED' })
    expect(calls).toEqual(['execute a', 'compensate a', 'compensate a'])
  })

  test('recovery makes a job due that waits after an error, and leaves running jobs alone', async () => {
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

  test('a step that kills every process fails in the end', async () => {
    const calls: string[] = []
    const workflow = defineWorkflow({ name: 'deadly', steps: [noting(calls, 'a')] })
    const interrupted = async (times: number) => {
      const id = await start(workflow)
      await database.sql`update graphile_worker._private_jobs set attempts = ${times}`
      await runAll(workerOf(workflow))
      return readSaga(id)
    }
    expect(await interrupted(24)).toMatchObject({ status: 'COMPLETED' })
    expect(await interrupted(25)).toMatchObject({
      ...{ status: 'FAILED', log: ['a EXECUTE FAILED', 'a COMPENSATE SUCCESS'] },
      error_message: 'step a failed: it was interrupted 25 times',
    })
    expect(calls).toEqual(['execute a', 'compensate a'])
  })
})

test('a job whose process died four times is failed with the reason, and not tried again', async () => {
  let tries = 0
  const workflow = defineWorkflow({
    name: 'deadly',
    steps: [noting([], 'a', { execute: async () => (tries += 1) })],
  })
  const id = await start(workflow)
  const job = (await claimJob(database.sql, workflow))!
  await runClaimed(workerOf(workflow), job, { deaths: 4 })
  await runAll(workerOf(workflow))
  expect(tries).toBe(0)
  expect(await readSaga(id)).toMatchObject({
    status: 'FAILED',
    error_message: 'step a failed: its process died 4 times',
  })
})
