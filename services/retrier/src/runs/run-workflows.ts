// Runs as sagas. One that sends is admitted, takes its messages (a canary of them first, where that is asked
// for), and waits until all that it took are settled; cancelled, it gives back what was not sent. One that
// does not send touches its messages chunk by chunk; what is touched stays so.

import { notifyDue } from 'dlq-core/queries/message-retry.ts'
import { dropUnsendable, giveBack, handOverPulled, holdsMessages } from 'dlq-core/queries/run-messages.ts'
import { admitRun, type HeldRun, holdRun, moveRun, writeProgress } from 'dlq-core/queries/runs.ts'
import { type Canary, refailsTooMuch, runPriority, runWorkflows, waitingOf } from 'dlq-core/run.ts'
import type { Transaction } from 'dlq-core/runtime/database.ts'
import { type Chunk, defineWorkflow, PermanentStepError, type Step, type Workflow } from 'saga-core/workflow.ts'
import { type ChunkDeps, runChunk } from './run-chunk.ts'

export type RunWorkflowDeps = ChunkDeps & { maxActive: number }

type RunPayload = { run_id: string }
type RunStep = Step<RunPayload>

const polling = { isLast: false, afterMs: 500 } as const
/** A resumed run's job is hurried. */
const whilePaused = { isLast: false, afterMs: 5000 } as const
const giveBackSize = 5000
/** Where nobody cancelled it. */
const stepFailed = 'a step failed; the saga has the details'

/** Of one chunk. A database that is away for some minutes is waited for. */
const bounds = { timeoutMs: 30_000, retry: { maxAttempts: 20, delayMs: 500, maxDelayMs: 30_000 } }

export function createRunWorkflows(deps: RunWorkflowDeps): Workflow<RunPayload>[] {
  const take = (name: TakeStep): RunStep => ({
    name,
    ...bounds,
    executeChunk: (sql: Transaction, { payload }) => takeChunk(deps, sql, name, payload),
    compensateChunk: (sql: Transaction, { payload }) => giveBackChunk(sql, payload),
  })
  return [
    defineWorkflow<RunPayload>({
      name: runWorkflows.sent,
      priority: runPriority,
      steps: [admit(deps), take('first'), take('share'), take('all'), settle],
    }),
    defineWorkflow<RunPayload>({
      name: runWorkflows.touched,
      priority: runPriority,
      steps: [
        admit(deps),
        {
          name: 'touch',
          ...bounds,
          executeChunk: (sql: Transaction, { payload }) => touchChunk(deps, sql, payload),
        },
      ],
    }),
  ]
}

async function hold(sql: Transaction, { run_id }: RunPayload): Promise<HeldRun> {
  const run = await holdRun(sql, run_id)
  if (run === null) throw new PermanentStepError(`there is no run ${run_id}`)
  return run
}

function admit({ maxActive }: RunWorkflowDeps): RunStep {
  return {
    name: 'admit',
    ...bounds,
    async executeChunk(sql: Transaction, { payload }) {
      const { id, status } = await hold(sql, payload)
      if (status !== 'queued' || (await admitRun(sql, { id, maxActive }))) return { isLast: true, response: {} }
      return { isLast: false, afterMs: 1000 }
    },
    // The last to be compensated: by then nothing of the run is left to do.
    async compensateChunk(sql: Transaction, { payload }) {
      const { id, status, statusReason } = await hold(sql, payload)
      const isCancelled = status === 'cancelling' && statusReason !== stepFailed
      const [to, reason] = isCancelled ? (['cancelled', statusReason] as const) : (['failed', stepFailed] as const)
      await moveRun(sql, { id, from: ['queued', 'running', 'paused', 'cancelling'], to, reason })
      return { isLast: true }
    },
  }
}

type TakeStep = 'first' | 'share' | 'all'

async function takeChunk(deps: RunWorkflowDeps, sql: Transaction, step: TakeStep, payload: RunPayload): Promise<Chunk> {
  const held = await hold(sql, payload)
  const run = held.step === step ? held : enter(held, step)
  if (run.status !== 'running') return whilePaused
  const canary = run.canary === null ? null : (JSON.parse(run.canary) as Canary)
  const most = mostOf(step, run, canary)
  if (most === 0) return { isLast: true }
  if (!run.isExhausted && run.stepTaken < most) {
    const after = await runChunk(deps, sql, run, most - run.stepTaken)
    await notifyDue(sql)
    const isTaken = after.isExhausted || after.stepTaken >= most
    return { isLast: step === 'all' && isTaken, response: { taken: after.taken, skipped: JSON.parse(after.skipped) } }
  }
  if (step === 'all') return { isLast: true, response: { taken: run.taken } }
  return judge(sql, run, canary!)
}

function enter(run: HeldRun, step: TakeStep): HeldRun {
  const { resolved: baseResolved, failedAgain: baseFailedAgain } = run
  return { ...run, step, stepTaken: 0, isJudged: false, baseResolved, baseFailedAgain }
}

/** How many messages the step takes. */
function mostOf(step: TakeStep, { matched }: HeldRun, canary: Canary | null): number {
  if (step === 'all') return Number.POSITIVE_INFINITY
  if (canary === null) return 0
  return step === 'first' ? canary.first : Math.ceil(matched * canary.share)
}

/** Makes due for the programs that pull them what a retry took before its topics were theirs: it is done with those. */
async function handOver(sql: Transaction, run: HeldRun): Promise<HeldRun> {
  // A redirect sends them all the same.
  const count = run.kind === 'retry' ? await handOverPulled(sql, { runId: run.id, limit: giveBackSize }) : 0
  return { ...run, taken: run.taken - count, done: run.done + count }
}

/** Waits for what became of the canary; pauses the run once where too much of it came back. */
async function judge(sql: Transaction, held: HeldRun, { waitMs, maxRefailure }: Canary): Promise<Chunk> {
  const run = await handOver(sql, held)
  const { id } = run
  const response = { taken: run.taken, failed_again: run.failedAgain }
  // Resumed by somebody who knows.
  if (run.isJudged) {
    await writeProgress(sql, run)
    return { isLast: true, response }
  }
  const own = { resolved: run.resolved - run.baseResolved, failedAgain: run.failedAgain - run.baseFailedAgain }
  const tooMuch = refailsTooMuch(own, { maxRefailure, sample: 1 })
  if (!tooMuch && ((await holdsMessages(sql, id)) || run.quietMs < waitMs)) {
    await writeProgress(sql, run)
    return polling
  }
  await writeProgress(sql, { ...run, isJudged: true })
  if (!tooMuch) return { isLast: true, response }
  await moveRun(sql, { id, from: ['running'], to: 'paused', reason: `canary: ${refailures(own)}` })
  return { ...whilePaused, response }
}

const settle: RunStep = {
  name: 'settle',
  ...bounds,
  async executeChunk(sql: Transaction, { payload }) {
    const held = await hold(sql, payload)
    const { id } = held
    if (held.status !== 'running') return whilePaused
    const lost = await dropUnsendable(sql, { runId: id, limit: giveBackSize })
    let run = await handOver(sql, { ...held, step: 'settle', withdrawn: held.withdrawn + lost })
    if (!(await holdsMessages(sql, id))) {
      // Once more, because the last of it may have been settled since: what is missing then was deleted.
      run = { ...run, ...pickSettled((await holdRun(sql, id))!) }
      await writeProgress(sql, { ...run, withdrawn: run.withdrawn + waitingOf(run) })
      await moveRun(sql, { id, from: ['running'], to: 'completed' })
      return { isLast: true, response: { ...pickSettled(run), withdrawn: run.withdrawn } }
    }
    await writeProgress(sql, run)
    if (run.onRefailure === 'continue' || !refailsTooMuch(run, run)) return polling
    const reason = refailures(run)
    if (run.onRefailure === 'pause' && !run.isJudged) {
      await writeProgress(sql, { ...run, isJudged: true })
      await moveRun(sql, { id, from: ['running'], to: 'paused', reason })
      return whilePaused
    }
    if (run.onRefailure === 'pause') return polling
    await moveRun(sql, { id, from: ['running'], to: 'cancelling', reason })
    return { isLast: false, cancel: reason }
  },
}

function pickSettled({ resolved, failed, failedAgain }: HeldRun) {
  return { resolved, failed, failedAgain }
}

function refailures({ resolved, failedAgain }: Pick<HeldRun, 'resolved' | 'failedAgain'>): string {
  return `${failedAgain} of ${resolved + failedAgain} retries failed again`
}

/** Gives back what was not sent, and waits for what is under way. */
async function giveBackChunk(sql: Transaction, payload: RunPayload): Promise<Chunk> {
  const run = await hold(sql, payload)
  const { id } = run
  await moveRun(sql, { id, from: ['running', 'paused'], to: 'cancelling', reason: stepFailed })
  const count = await giveBack(sql, { runId: id, limit: giveBackSize })
  const lost = await dropUnsendable(sql, { runId: id, limit: giveBackSize })
  await writeProgress(sql, { ...run, givenBack: run.givenBack + count, withdrawn: run.withdrawn + lost })
  const response = { given_back: run.givenBack + count }
  if (count + lost > 0) return { isLast: false, response }
  if (await holdsMessages(sql, id)) return { isLast: false, afterMs: 200 }
  const settled = (await holdRun(sql, id))!
  await writeProgress(sql, { ...settled, withdrawn: settled.withdrawn + waitingOf(settled) })
  return { isLast: true, response }
}

async function touchChunk(deps: RunWorkflowDeps, sql: Transaction, payload: RunPayload): Promise<Chunk> {
  const held = await hold(sql, payload)
  if (held.status !== 'running') return whilePaused
  const run = await runChunk(deps, sql, { ...held, step: 'touch' })
  if (run.isExhausted) await moveRun(sql, { id: run.id, from: ['running'], to: 'completed' })
  return { isLast: run.isExhausted, response: { done: run.done, skipped: JSON.parse(run.skipped) } }
}
