// One job of a saga: one try of a step's action, or one chunk of it.
//
// An action outside of transactions needs two: one finds the action, and one writes its outcome. In between a
// cancel may have changed the state, and another process may have taken the job, so the second transaction checks
// again. A chunk has one transaction for everything.

import { decide, isEnded, type Outcome, type StepAction, type Task } from './decide.ts'
import { type Performed, performChunk, performOutside, StepFailed } from './perform-step.ts'
import { addSagaJob, ownsSaga, type SagaJobPayload } from './store/saga-jobs.ts'
import {
  type LockedSaga,
  lockSaga,
  type MessageChange,
  readAnswers,
  readPlace,
  updateSaga,
  writeStepLog,
} from './store/saga-store.ts'
import type { Pool, Transaction } from './store/sql.ts'
import type { Json, Step, StepContext, Workflow } from './workflow.ts'

export type SagaDeps = { sql: Pool; workflow: Workflow }

/**
 * How graphile-worker performs the job: `claims` counts its tries, this one included; `deaths` those that ended with the
 * death of their process.
 */
export type JobRun = { jobId: string; claims: number; deaths?: number; signal: AbortSignal }

/** A job that was interrupted this often, by whatever, is not tried again. */
const maxClaims = 25
/** Nor is one whose process died this often. Fewer deaths may be accidents: every job of a process that dies counts one. */
const maxDeaths = 4

/** `hasProgress`: chunks of the step were executed already. */
type Opened = {
  saga: LockedSaga
  task: Task
  step: Step
  context: StepContext
  prepared?: () => unknown
  hasProgress: boolean
  startedAt: string
}

/** Performs the job, and adds the saga's next one. Does nothing if the job is not the saga's any more. */
export async function runSagaJob(deps: SagaDeps, payload: SagaJobPayload, run: JobRun): Promise<void> {
  const { sql } = deps
  const prepared = await prepare(deps, payload, run)
  const opened = await sql.begin((sql) => open(deps, sql, { ...payload, prepared }, run)).catch(failedChunk)
  if (opened === null) return
  const { action, performed } =
    'performed' in opened ? opened : { action: opened, performed: await performOutside(opened, run.signal) }
  await sql.begin(async (sql) => {
    const saga = await lockOwned(sql, payload.sagaId, run)
    if (saga !== null) await settle(deps, sql, { ...action, saga }, performed)
  })
}

type Prepared = { step: Step; result: () => unknown }

/** Asks other systems for what the next chunk needs, outside of any transaction. Null where it needs nothing. */
async function prepare(
  { sql, workflow }: SagaDeps,
  { sagaId, task }: SagaJobPayload,
  { signal: stop, claims, deaths = 0 }: JobRun,
): Promise<Prepared | null> {
  if (
    task.action !== 'EXECUTE' ||
    isGivenUp({ claims, deaths }) ||
    !workflow.steps.some(({ prepareChunk }) => prepareChunk)
  )
    return null
  const saga = await readPlace(sql, sagaId)
  const step = saga === null ? undefined : workflow.steps[saga.currentStep]
  if (saga === null || step?.prepareChunk === undefined) return null
  const signal = AbortSignal.any([AbortSignal.timeout(step.timeoutMs), stop])
  try {
    const found = await step.prepareChunk({ payload: parse(saga.payload), signal })
    return { step, result: () => found }
  } catch (error) {
    if (stop.aborted) throw error
    return {
      step,
      result: () => {
        throw error
      },
    }
  }
}

type FailedChunk = { action: Opened; performed: Performed }

/** Logs the failure of a chunk, which was rolled back with its transaction. */
function failedChunk(error: unknown): FailedChunk {
  if (error instanceof StepFailed) return { action: error.action as Opened, performed: error.performed }
  throw error
}

/** Returns the action to perform outside of the transaction, or null if there is none. @throws {StepFailed} */
async function open(
  deps: SagaDeps,
  sql: Transaction,
  { sagaId, task: asked, prepared }: SagaJobPayload & { prepared: Prepared | null },
  run: JobRun,
): Promise<Opened | null> {
  const saga = await lockOwned(sql, sagaId, run)
  if (saga === null) return null
  const step = deps.workflow.steps[saga.currentStep]
  if (step === undefined) throw new Error(`workflow ${deps.workflow.name} has no step ${saga.currentStep}`)
  const answers = await readAnswers(sql, sagaId)
  const own = (action: StepAction) =>
    answers.find((answer) => answer.stepIndex === saga.currentStep && answer.action === action)
  const isChunked = isChunkedAction(step, asked.action)
  const hasProgress = asked.action === 'EXECUTE' && own('EXECUTE') !== undefined
  // If its process died, a chunk was rolled back; the effect of any other action is unknown.
  const task = { ...asked, isUnsure: isChunked ? hasProgress : asked.isUnsure || run.claims > 1 }
  const context = {
    sagaId,
    correlationId: saga.correlationId,
    payload: parse(saga.payload),
    idempotencyKey: `${sagaId}:${saga.currentStep}:${task.action}`,
    attempt: task.attempt,
    signal: run.signal,
    results: Object.fromEntries(
      answers.filter(({ action }) => action === 'EXECUTE').map(({ stepName, response }) => [stepName, parse(response)]),
    ),
    progress: parse(own(task.action)?.response ?? null),
  }
  const opened: Opened = {
    ...{ saga, task, step, context, hasProgress, startedAt: saga.now },
    ...(prepared?.step === step && { prepared: prepared.result }),
  }

  const settled = withoutPerforming(opened, run)
  if (settled !== null) await settle(deps, sql, opened, settled)
  else if (isChunked) await settle(deps, sql, opened, await performChunk(sql, opened))
  else {
    if (saga.status === 'STARTED') await updateSaga(sql, { ...saga, status: 'RUNNING', message: { type: 'keep' } })
    return opened
  }
  return null
}

async function lockOwned(sql: Transaction, sagaId: string, { jobId }: JobRun): Promise<LockedSaga | null> {
  const saga = await lockSaga(sql, sagaId)
  if (saga === null || isEnded(saga.status)) return null
  return (await ownsSaga(sql, { sagaId, jobId })) ? saga : null
}

function isGivenUp({ claims, deaths }: { claims: number; deaths: number }): boolean {
  return claims > maxClaims || deaths >= maxDeaths
}

/** The outcome of actions that are not performed. */
function withoutPerforming({ saga, task, step, hasProgress }: Opened, run: JobRun): Performed | null {
  const { claims, deaths = 0 } = run
  if (task.action === 'EXECUTE' && saga.status === 'COMPENSATING')
    return {
      outcome: { type: 'overtaken', isUnsure: task.isUnsure, hasProgress },
      error: 'cancelled',
    }
  if (task.action === 'COMPENSATE' && step.compensate === undefined && step.compensateChunk === undefined)
    return { outcome: { type: 'uncompensable' } }
  if (!isGivenUp({ claims, deaths })) return null
  const outcome: Outcome = { type: 'failed', kind: 'FAILED', isPermanent: true, isUnsure: task.isUnsure }
  const reason = deaths < maxDeaths ? `it was interrupted ${maxClaims} times` : `its process died ${deaths} times`
  return { outcome, error: reason }
}

async function settle(
  deps: SagaDeps,
  sql: Transaction,
  action: Opened,
  { outcome, response, error }: Performed,
): Promise<void> {
  const { workflow } = deps
  const { saga, task, step } = action
  const { hadFault } = saga
  const decision = decide(saga, task, outcome, { stepCount: workflow.steps.length, retry: step.retry, hadFault })
  await updateSaga(sql, { id: saga.id, ...decision, message: messageOf(action, outcome, error) })
  if (decision.log !== null) {
    await writeStepLog(sql, {
      sagaId: saga.id,
      stepIndex: stepIndexOf(deps, step),
      stepName: step.name,
      action: task.action,
      ...decision.log,
      request: saga.payload,
      response: response ?? null,
      error: error ?? null,
      startedAt: action.startedAt,
    })
  }
  if (decision.next !== null) {
    const { afterMs, ...next } = decision.next
    await addSagaJob(sql, {
      sagaId: saga.id,
      workflow: workflow.name,
      task: next,
      afterMs,
      priority: workflow.priority,
    })
  }
}

function messageOf({ saga, task, step }: Opened, { type }: Outcome, error: string | undefined): MessageChange {
  const isCancelled = task.action === 'EXECUTE' && saga.status === 'COMPENSATING'
  if (type === 'failed' && task.action === 'COMPENSATE')
    return { type: 'add', message: `compensation of step ${step.name} failed: ${error}` }
  if (type === 'overtaken' && !isCancelled) return { type: 'set', message: `cancelled by step ${step.name}: ${error}` }
  if (type === 'failed') return { type: isCancelled ? 'add' : 'set', message: `step ${step.name} failed: ${error}` }
  // An earlier try's message does not apply any more.
  return task.action === 'EXECUTE' && !isCancelled ? { type: 'set', message: null } : { type: 'keep' }
}

function stepIndexOf({ workflow }: SagaDeps, step: Step): number {
  return workflow.steps.indexOf(step)
}

function isChunkedAction(step: Step, action: StepAction): boolean {
  return action === 'EXECUTE' ? step.executeChunk !== undefined : step.compensateChunk !== undefined
}

function parse(json: string | null): Json {
  return json === null ? null : JSON.parse(json)
}
