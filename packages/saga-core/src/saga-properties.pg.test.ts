// Sagas of random steps that fail, time out and are cancelled, in processes that die between any two statements. Each
// saga ends, its executed steps are compensated, and its log and state agree.
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import fc from 'fast-check'
import { runMigrations } from 'graphile-worker'
import type postgres from 'postgres'
import { beforeAll, expect, test } from 'vitest'
import { cancelSaga } from './cancel-saga.ts'
import { startSaga } from './start-saga.ts'
import { getSaga } from './store/saga-list.ts'
import { type CrashingPool, crashingPool } from './testing/crashing-pool.ts'
import { claimJob, releaseJobs, runClaimed } from './testing/test-worker.ts'
import { defineWorkflow, type Step, type Workflow } from './workflow.ts'

const soak = process.env.DLQ_SOAK === '1'
const database = useDatabase()

beforeAll(async () => {
  await runMigrations({ connectionString: database.url })
  await database.sql`create table effects (step int, chunk int, primary key (step, chunk))`
})

/** The effect of one call of a step's function. Calls beyond the list succeed. */
const behaviours = ['ok', 'throw', 'hang', 'effect-and-hang', 'die', 'effect-and-die', 'cancelled-meanwhile'] as const
type Behaviour = (typeof behaviours)[number]

type StepPlan = {
  chunks: number
  hasCompensation: boolean
  maxAttempts: number
  execute: readonly Behaviour[]
  compensate: readonly Behaviour[]
}

type Plan = {
  steps: readonly StepPlan[]
  /** The number of statements after which the first process dies, the second, and so on. Later processes live. */
  lives: readonly number[]
  /** Before the job of this number the saga is cancelled. */
  cancelAt: number | null
}

const behaviour = fc.oneof(
  { weight: 3, arbitrary: fc.constant('ok' as const) },
  { weight: 4, arbitrary: fc.constantFrom(...behaviours) },
)
const stepPlan: fc.Arbitrary<StepPlan> = fc.record({
  chunks: fc.constantFrom(0, 0, 1, 3),
  hasCompensation: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  execute: fc.array(behaviour, { maxLength: 4 }),
  compensate: fc.array(behaviour, { maxLength: 3 }),
})
const plan: fc.Arbitrary<Plan> = fc.record({
  steps: fc.array(stepPlan, { minLength: 1, maxLength: 4 }),
  lives: fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 6 }),
  cancelAt: fc.option(fc.integer({ min: 0, max: 8 }), { freq: 2 }),
})

/** The effects that the outside world saw, independent of any log. */
class World {
  readonly effects = new Set<number>()
  readonly begun = new Set<number>()
  /** Steps for which it was unknown whether they had happened. */
  readonly unsure = new Set<number>()
  readonly compensations: number[] = []
  isCancelled = false
  crashes = 0
  process: CrashingPool | null = null
  private readonly calls = new Map<string, number>()

  next(key: string, of: readonly Behaviour[]): Behaviour {
    const call = this.calls.get(key) ?? 0
    this.calls.set(key, call + 1)
    return of[call] ?? 'ok'
  }
}

async function cancel(world: World, sql: postgres.Sql, id: string): Promise<void> {
  const { outcome } = await sql.begin((sql) => cancelSaga(sql, { id, by: 'test' }))
  if (outcome === 'cancelling') world.isCancelled = true
}

/** A step that acts on the world outside. */
function outsideStep(
  world: World,
  sql: postgres.Sql,
  index: number,
  { execute, compensate, hasCompensation }: StepPlan,
): Partial<Step> {
  const act = async (behaviour: Behaviour, id: string, effect: () => void) => {
    if (behaviour === 'throw') throw new Error('refused')
    if (behaviour === 'effect-and-hang' || behaviour === 'effect-and-die') effect()
    if (behaviour.endsWith('hang') || behaviour.endsWith('die')) world.unsure.add(index)
    if (behaviour.endsWith('hang')) await new Promise(() => {})
    if (behaviour.endsWith('die')) world.process!.die()
    if (behaviour === 'cancelled-meanwhile') await cancel(world, sql, id)
    effect()
    return behaviour
  }
  return {
    async execute({ sagaId, idempotencyKey }) {
      world.begun.add(index)
      const behaviour = world.next(idempotencyKey, execute)
      // A call that throws has no effect.
      if (behaviour === 'throw') world.effects.delete(index)
      return act(behaviour, sagaId, () => world.effects.add(index))
    },
    ...(hasCompensation && {
      async compensate({ sagaId, idempotencyKey }) {
        world.compensations.push(index)
        return act(world.next(idempotencyKey, compensate), sagaId, () => world.effects.delete(index))
      },
    }),
  }
}

/** A step that acts on tables, chunk by chunk. */
function chunkStep(
  world: World,
  index: number,
  { chunks, execute, compensate, hasCompensation }: StepPlan,
): Partial<Step> {
  const act = async (sql: postgres.TransactionSql, behaviour: Behaviour) => {
    if (behaviour === 'throw') throw new Error('refused')
    if (behaviour.endsWith('hang')) await sql`select pg_sleep(60)`
    if (behaviour.endsWith('die')) world.process!.die()
  }
  return {
    async executeChunk(sql, { progress, idempotencyKey }) {
      const chunk = Number(progress ?? 0) + 1
      await sql`insert into effects (step, chunk) values (${index}, ${chunk})`
      await act(sql, world.next(idempotencyKey, execute))
      return { isLast: chunk === chunks, response: chunk }
    },
    ...(hasCompensation && {
      async compensateChunk(sql, { progress, idempotencyKey }) {
        if (progress === null) world.compensations.push(index)
        await sql`delete from effects where step = ${index} and chunk = (select max(chunk) from effects where step = ${index})`
        await act(sql, world.next(idempotencyKey, compensate))
        const [row] = await sql<{ left: number }[]>`select count(*)::int as left from effects where step = ${index}`
        return { isLast: row!.left === 0, response: row!.left }
      },
    }),
  }
}

function workflowOf(world: World, sql: postgres.Sql, { steps }: Plan): Workflow {
  return defineWorkflow({
    name: 'random',
    steps: steps.map((step, index) => ({
      name: `step-${index}`,
      timeoutMs: step.chunks > 0 ? 250 : 10,
      retry: { maxAttempts: step.maxAttempts, delayMs: 0 },
      ...(step.chunks > 0 ? chunkStep(world, index, step) : outsideStep(world, sql, index, step)),
    })),
  })
}

/** Runs the plan to its end. Returns the saga as it is stored then. */
async function live(plan: Plan, world: World) {
  const { sql } = database
  await emptyTables(sql, 'saga.saga_step_logs', 'graphile_worker._private_jobs', 'effects', 'saga.saga_states')
  const workflow = workflowOf(world, sql, plan)
  const { id } = await sql.begin((sql) => startSaga(sql, workflow, { payload: { n: 1 } }))
  const lives = [...plan.lives]
  const newProcess = () => crashingPool(sql, lives.shift() ?? Number.POSITIVE_INFINITY)
  world.process = newProcess()
  for (let jobs = 0; ; jobs += 1) {
    if (jobs > 200) throw new Error('the saga does not end')
    if (jobs === plan.cancelAt) await cancel(world, sql, id)
    const job = await claimJob(sql, workflow)
    if (job === null) break
    const run = runClaimed({ sql, workflow, pool: world.process.pool }, job)
    await run.catch((error) => {
      if (!world.process!.isDead()) throw error
    })
    if (!world.process.isDead()) continue
    world.crashes += 1
    world.process = newProcess()
    await releaseJobs(sql)
  }
  for (const { step } of await sql<{ step: number }[]>`select distinct step from effects`) world.effects.add(step)
  return (await getSaga(sql, id))!
}

test('a saga ends, has compensated exactly what was executed, and its log and state agree', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (plan) => {
      const world = new World()
      const saga = await live(plan, world)
      const row = (action: string, index: number) =>
        saga.steps.find((step) => step.action === action && step.step_index === index)
      const faults = saga.steps.filter(({ status }) => status === 'FAILED' || status === 'TIMEOUT')

      // It ended, as its log says.
      const rows = saga.steps.map(({ action, step_index }) => `${action} ${step_index}`)
      expect(new Set(rows).size).toBe(rows.length)
      expect(saga.steps.every(({ completed_at }) => completed_at !== null)).toBe(true)
      expect(saga.status).toBe(
        saga.steps.every(({ action, status }) => action === 'EXECUTE' && status === 'SUCCESS') && !world.isCancelled
          ? 'COMPLETED'
          : faults.length > 0
            ? 'FAILED'
            : 'CANCELLED',
      )
      expect(saga.error_message === null).toBe(saga.status === 'COMPLETED')

      const last = Math.max(...saga.steps.map(({ step_index }) => step_index))
      if (saga.status === 'COMPLETED') {
        expect(last).toBe(plan.steps.length - 1)
        expect(world.effects.size).toBe(plan.steps.length)
        expect(world.compensations).toEqual([])
        return
      }
      // Every step before the last was executed and is compensated. The row of the last step tells about that one.
      for (const [index, step] of plan.steps.entries()) {
        const executed = row('EXECUTE', index)
        const compensated = row('COMPENSATE', index)
        expect(executed === undefined).toBe(index > last)
        if (index < last || executed?.status === 'SUCCESS') expect(compensated).toBeDefined()
        if (compensated?.status === 'SUCCESS') expect(world.effects.has(index)).toBe(false)
        if (compensated === undefined) expect(world.effects.has(index)).toBe(false)
        if (compensated !== undefined) expect(compensated.status === 'SKIPPED').toBe(!step.hasCompensation)
        if (step.chunks === 0 && !world.begun.has(index) && world.crashes === 0) expect(compensated).toBeUndefined()
        if (executed?.status === 'FAILED' && step.chunks === 0 && world.crashes === 0 && !world.unsure.has(index))
          expect(compensated).toBeUndefined()
      }
      // In reverse order, attempts of one compensation next to each other.
      expect(world.compensations).toEqual(world.compensations.toSorted((a, b) => b - a))
    }),
    { numRuns: soak ? 1000 : 60, ...(process.env.FC_SEED && { seed: Number(process.env.FC_SEED) }) },
  )
})
