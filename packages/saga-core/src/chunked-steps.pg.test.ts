// Steps in chunks: each chunk is one transaction with its log.

import postgres from 'postgres'
import { beforeEach, describe, expect, test } from 'vitest'
import { cancelSaga } from './cancel-saga.ts'
import { once, useSagas } from './testing/test-sagas.ts'
import { claimJob, runAll, runClaimed } from './testing/test-worker.ts'
import { defineWorkflow, PermanentStepError, type Step } from './workflow.ts'

const { database, start, workerOf, readSaga } = useSagas()

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

  test('performs each chunk in one transaction with its log, which is one row that is updated', async () => {
    const workflow = defineWorkflow({ name: 'chunks', steps: [counting(3)] })
    const id = await start(workflow)
    const worker = workerOf(workflow)
    await runClaimed(worker, (await claimJob(database.sql, workflow))!)
    expect((await readSaga(id)).steps).toMatchObject([{ status: 'SUCCESS', response_payload: '1', completed_at: null }])
    expect(await runAll(worker)).toBe(2)
    expect(await readSaga(id)).toMatchObject({ status: 'COMPLETED', log: ['count EXECUTE SUCCESS'] })
    expect(await done()).toEqual([1, 2, 3])
  })

  test('is prepared outside of its transaction, anew for each chunk', async () => {
    const seen: unknown[] = []
    let answers = 0
    const workflow = defineWorkflow({
      name: 'chunks-prepared',
      steps: [
        { ...counting(1), name: 'before' },
        {
          ...once,
          name: 'asking',
          async prepareChunk({ payload }) {
            // A transaction of its own would wait for the saga's row here.
            await database.sql`select from saga.saga_states for update nowait`
            answers += 1
            if (answers === 2) throw new Error('no answer')
            return { payload, answers }
          },
          retry: { maxAttempts: 2, delayMs: 0 },
          async executeChunk(_, __, prepared) {
            seen.push(prepared)
            return { isLast: seen.length === 2 }
          },
        },
      ],
    })
    const id = await start(workflow, 'order')
    await runAll(workerOf(workflow))
    expect((await readSaga(id)).status).toBe('COMPLETED')
    expect(seen).toEqual([
      { payload: 'order', answers: 1 },
      { payload: 'order', answers: 3 },
    ])
  })

  test('has limits of time that end with its transaction', async () => {
    const limitsOf = async (sql: Pick<typeof database.sql, 'unsafe'>) => {
      const names = ['statement_timeout', 'transaction_timeout']
      return sql.unsafe(`select name, setting from pg_settings where name = any('{${names}}') order by name`).values()
    }
    const alone = postgres(database.url, { max: 1 })
    try {
      const before = await limitsOf(alone)
      let within: unknown
      const step = counting(1, {
        executeChunk: async (sql) => {
          within = await limitsOf(sql as never)
          return { isLast: true }
        },
      })
      const workflow = defineWorkflow({ name: 'chunks-limited', steps: [step] })
      await start(workflow)
      await runAll({ ...workerOf(workflow), pool: alone })
      const [{ version }] = await alone<
        [{ version: number }]
      >`select current_setting('server_version_num')::int as version`
      const transactionMs = ['transaction_timeout', '15000']
      expect(within).toEqual([['statement_timeout', '5000'], ...(version < 170_000 ? [] : [transactionMs])])
      expect(await limitsOf(alone)).toEqual(before)
    } finally {
      await alone.end()
    }
  })

  test('is rolled back when it fails, and tried again', async () => {
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

  test('waits before the next chunk as long as it says, and is not tried again where it cannot succeed', async () => {
    const workflow = defineWorkflow({
      name: 'chunks-permanent',
      steps: [
        counting(3, {
          retry: { maxAttempts: 9, delayMs: 0 },
          async executeChunk(sql, context) {
            if (context.progress === 1) throw new PermanentStepError('no such order')
            return { ...(await counting(3).executeChunk!(sql, context)), afterMs: 3_600_000 }
          },
        }),
      ],
    })
    const id = await start(workflow)
    const worker = workerOf(workflow)
    await runClaimed(worker, (await claimJob(database.sql, workflow))!)
    const [next] = await database.sql`select run_at > now() + interval '50 minutes' as waits from graphile_worker.jobs`
    expect(next).toEqual({ waits: true })
    // The failure, and the compensation.
    expect(await runAll(worker)).toBe(2)
    expect(await readSaga(id)).toMatchObject({
      status: 'FAILED',
      error_message: 'step count failed: no such order',
      log: ['count EXECUTE FAILED', 'count COMPENSATE SUCCESS'],
    })
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
