// Bulk runs as sagas. A run that sends is admitted, takes its messages (a canary first, where it has one), and waits
// until all of them are settled. Cancelled, it gives back the messages that were not sent. A run that does not send
// changes its messages chunk by chunk; a cancel does not undo the changes.

import {
  beyondScope,
  type Canary,
  canaryOf,
  refailsTooMuch,
  runPriority,
  runWorkflows,
  stepSize,
  type TakeStep,
  waitingOf,
} from 'dlq-core/domain/message/run.ts'
import { forgetCanaryRead } from 'dlq-core/queries/readers/verdicts.ts'
import { notifyDue } from 'dlq-core/queries/retry/due-topics.ts'
import { countOwnRuns } from 'dlq-core/queries/runs/own-runs.ts'
import { admitRun } from 'dlq-core/queries/runs/run-admission.ts'
import { dropUnsendable, giveBack, handOverPulled, holdsMessages } from 'dlq-core/queries/runs/run-messages.ts'
import { forgetUndo } from 'dlq-core/queries/runs/run-undo.ts'
import { type HeldRun, holdRun, moveRun, writeProgress } from 'dlq-core/queries/runs/runs.ts'
import type { Database, Transaction } from 'dlq-core/runtime/database/database.ts'
import { type Chunk, defineWorkflow, PermanentStepError, type Step, type Workflow } from 'saga-core/workflow.ts'
import { eraseWorkflow } from '../erase/erase-workflow.ts'
import type { OriginDeps } from '../origins/origin-jobs.ts'
import { originWorkflow } from '../origins/origin-workflow.ts'
import { canaryAnswer } from './canary-answer.ts'
import { type PreparedChunk, prepareEdits } from './prepare-edits.ts'
import { type ChunkDeps, runChunk } from './run-chunk.ts'
import { whilePaused } from './while-paused.ts'

export type RunWorkflowDeps = ChunkDeps & {
  sql: Database
  maxActive: number
  /** A canary that nobody has read after this time pauses its run. */
  readTimeoutMs: number
  /** For runs that compare; null without Kafka. */
  originals?: OriginDeps | null
}

type RunPayload = { run_id: string }
type RunStep = Step<RunPayload>

const polling = { isLast: false, afterMs: 500 } as const
/** Queued runs look for a place: each at least so often, those of one actor together no more often than this. */
const whileQueued = { leastMs: 1000, apartMs: 100 }
const giveBackSize = 5000
/** The reason of a run that failed without a cancellation. */
const stepFailed = 'a step failed; the saga has the details'

/** For one chunk. The retries outlast a database that is unavailable for some minutes. */
const bounds = { timeoutMs: 30_000, retry: { maxAttempts: 20, delayMs: 500, maxDelayMs: 30_000 } }

export function createRunWorkflows(deps: RunWorkflowDeps): Workflow<RunPayload>[] {
  const take = (name: TakeStep): RunStep => ({
    name,
    ...bounds,
    prepareChunk: ({ payload, signal }) =>
      prepareEdits(deps, { runId: payload.run_id, signal, most: (run) => mostOf(entered(run, name), name) }),
    executeChunk: (sql: Transaction, { payload }, prepared) =>
      takeChunk(deps, sql, { step: name, payload, prepared: prepared as PreparedChunk | null }),
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
          prepareChunk: ({ payload, signal }) =>
            prepareEdits(deps, { runId: payload.run_id, signal, most: () => Number.POSITIVE_INFINITY }),
          executeChunk: (sql: Transaction, { payload }, prepared) =>
            touchChunk(deps, sql, payload, prepared as PreparedChunk | null),
        },
      ],
    }),
    eraseWorkflow(admit(deps)),
    ...(deps.originals ? [originWorkflow(deps.originals, admit(deps))] : []),
  ]
}

async function hold(sql: Transaction, { run_id }: RunPayload): Promise<HeldRun> {
  const run = await holdRun(sql, run_id)
  if (run === null) throw new PermanentStepError(`there is no run ${run_id}`)
  return run
}

/** As `hold`. The API has checked the run's topics too; here the row counts, whoever has written it. */
async function holdWithinScope(sql: Transaction, payload: RunPayload): Promise<HeldRun> {
  const run = await hold(sql, payload)
  const fault = beyondScope(run, run.scope)
  if (fault !== null) throw new PermanentStepError(fault)
  return run
}

function admit({ maxActive }: RunWorkflowDeps): RunStep {
  return {
    name: 'admit',
    ...bounds,
    async executeChunk(sql: Transaction, { payload }) {
      const { id, status, actor } = await hold(sql, payload)
      if (status !== 'queued' || (await admitRun(sql, { id, maxActive }))) return { isLast: true, response: {} }
      // Else thousands of queued runs would keep the workers busy, and no other run would go on.
      const { queued } = await countOwnRuns(sql, { actor })
      return { isLast: false, afterMs: Math.max(whileQueued.leastMs, whileQueued.apartMs * queued) }
    },
    // Compensated last, when nothing of the run is left to do.
    async compensateChunk(sql: Transaction, { payload }) {
      const { id, status, status_reason: statusReason } = await hold(sql, payload)
      const isCancelled = status === 'cancelling' && statusReason !== stepFailed
      const [to, reason] = isCancelled ? (['cancelled', statusReason] as const) : (['failed', stepFailed] as const)
      await moveRun(sql, { id, from: ['queued', 'running', 'paused', 'cancelling'], to, reason })
      return { isLast: true }
    },
  }
}

type Taking = { step: TakeStep; payload: RunPayload; prepared: PreparedChunk | null }

async function takeChunk(deps: RunWorkflowDeps, sql: Transaction, { step, payload, prepared }: Taking): Promise<Chunk> {
  const held = await holdWithinScope(sql, payload)
  const run = entered(held, step)
  if (run !== held) await forgetCanaryRead(sql, run.id)
  if (run.status !== 'running') return whilePaused
  const most = mostOf(run, step)
  if (run.step_taken + most === 0) return { isLast: true }
  if (!run.is_exhausted && most > 0) {
    const after = await runChunk(deps, sql, run, { limit: most, prepared })
    await notifyDue(sql)
    const isTaken = after.is_exhausted || after.step_taken >= run.step_taken + most
    return { isLast: step === 'all' && isTaken, response: { taken: after.taken, skipped: JSON.parse(after.skipped) } }
  }
  if (step === 'all') return { isLast: true, response: { taken: run.taken } }
  return judge(deps, sql, run, canaryOf(run)!)
}

/** How many messages the step may still take. */
function mostOf(run: HeldRun, step: TakeStep): number {
  const size = stepSize(step, { matched: run.matched, canary: canaryOf(run) }) ?? Number.POSITIVE_INFINITY
  return Math.max(0, size - run.step_taken)
}

function entered(run: HeldRun, step: TakeStep): HeldRun {
  if (run.step === step) return run
  const { resolved: baseResolved, failed_again: baseFailedAgain } = run
  return {
    ...run,
    step,
    step_taken: 0,
    is_judged: false,
    base_resolved: baseResolved,
    base_failed_again: baseFailedAgain,
  }
}

/**
 * A topic's policy may change to `pull` while a run holds its messages. The run then makes these messages due for the
 * application that pulls them, and counts them as done.
 */
async function handOver(sql: Transaction, run: HeldRun): Promise<HeldRun> {
  // A redirect sends such messages anyway.
  const count = run.kind === 'retry' ? await handOverPulled(sql, { runId: run.id, limit: giveBackSize }) : 0
  return { ...run, taken: run.taken - count, done: run.done + count }
}

/**
 * Waits for the canary's outcome. Pauses the run, once, where too many of its messages failed again, or where nobody
 * reads them: silence says nothing while no consumer is there.
 */
async function judge(
  { readTimeoutMs }: RunWorkflowDeps,
  sql: Transaction,
  held: HeldRun,
  { waitMs, maxRefailure }: Canary,
): Promise<Chunk> {
  const { id } = held
  const lost = await dropUnsendable(sql, { runId: id, limit: giveBackSize })
  const run = await handOver(sql, { ...held, withdrawn: held.withdrawn + lost })
  const response = { taken: run.taken, failed_again: run.failed_again }
  // Somebody resumed the run after seeing the canary fail.
  if (run.is_judged) {
    await writeProgress(sql, run)
    return { isLast: true, response }
  }
  const own = { resolved: run.resolved - run.base_resolved, failed_again: run.failed_again - run.base_failed_again }
  const tooMuch = refailsTooMuch(own, { maxRefailure, sample: 1 })
  const answer = tooMuch
    ? ({ kind: 'pause', reason: refailures(own) } as const)
    : (await holdsMessages(sql, id))
      ? ({ kind: 'wait' } as const)
      : await canaryAnswer(sql, run, { waitMs, readTimeoutMs })
  await writeProgress(sql, { ...run, is_judged: answer.kind !== 'wait' })
  if (answer.kind === 'wait') return polling
  if (answer.kind === 'go on') return { isLast: true, response }
  await moveRun(sql, { id, from: ['running'], to: 'paused', reason: `canary: ${answer.reason}` })
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
    const run = await handOver(sql, { ...held, step: 'settle', withdrawn: held.withdrawn + lost })
    if (!(await holdsMessages(sql, id))) {
      if ((await forgetUndo(sql, { runId: id, limit: giveBackSize })) > 0) return { isLast: false }
      // Counted once more, because the last messages may have been settled since. A message missing then was deleted.
      await writeProgress(sql, run)
      const settled = (await holdRun(sql, id))!
      const withdrawn = settled.withdrawn + waitingOf(settled)
      await writeProgress(sql, { ...settled, withdrawn })
      await moveRun(sql, { id, from: ['running'], to: 'completed' })
      return { isLast: true, response: { ...pickSettled(settled), withdrawn } }
    }
    await writeProgress(sql, run)
    if (run.on_refailure === 'continue' || !refailsTooMuch(run, { maxRefailure: run.max_refailure })) return polling
    const reason = refailures(run)
    if (run.on_refailure === 'pause' && !run.is_judged) {
      await writeProgress(sql, { ...run, is_judged: true })
      await moveRun(sql, { id, from: ['running'], to: 'paused', reason })
      return whilePaused
    }
    if (run.on_refailure === 'pause') return polling
    await moveRun(sql, { id, from: ['running'], to: 'cancelling', reason })
    return { isLast: false, cancel: reason }
  },
}

function pickSettled({ resolved, failed, failed_again }: HeldRun) {
  return { resolved, failed, failed_again }
}

function refailures({ resolved, failed_again }: Pick<HeldRun, 'resolved' | 'failed_again'>): string {
  return `${failed_again} of ${resolved + failed_again} retries failed again`
}

/** Gives back messages that were not sent, and waits for those in flight. */
async function giveBackChunk(sql: Transaction, payload: RunPayload): Promise<Chunk> {
  const run = await hold(sql, payload)
  const { id } = run
  await moveRun(sql, { id, from: ['running', 'paused'], to: 'cancelling', reason: stepFailed })
  const count = await giveBack(sql, { runId: id, limit: giveBackSize })
  const lost = await dropUnsendable(sql, { runId: id, limit: giveBackSize })
  await writeProgress(sql, { ...run, given_back: run.given_back + count, withdrawn: run.withdrawn + lost })
  const response = { given_back: run.given_back + count }
  if (count + lost > 0) return { isLast: false, response }
  if (await holdsMessages(sql, id)) return { isLast: false, afterMs: 200 }
  if ((await forgetUndo(sql, { runId: id, limit: giveBackSize })) > 0) return { isLast: false }
  const settled = (await holdRun(sql, id))!
  await writeProgress(sql, { ...settled, withdrawn: settled.withdrawn + waitingOf(settled) })
  return { isLast: true, response }
}

async function touchChunk(
  deps: RunWorkflowDeps,
  sql: Transaction,
  payload: RunPayload,
  prepared: PreparedChunk | null,
): Promise<Chunk> {
  const held = await holdWithinScope(sql, payload)
  if (held.status !== 'running') return whilePaused
  const run = await runChunk(deps, sql, { ...held, step: 'touch' }, { prepared })
  if (run.is_exhausted) await moveRun(sql, { id: run.id, from: ['running'], to: 'completed' })
  return { isLast: run.is_exhausted, response: { done: run.done, skipped: JSON.parse(run.skipped) } }
}
