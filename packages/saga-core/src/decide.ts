// Decides what follows from the outcome of a step. Pure: the queries carry it out.
//
// The row of saga_states alone says where a saga stands. While it is forward, `currentStep` is the step to
// execute, and all before it are executed. While COMPENSATING it is the step to compensate next, then the
// one below it; so exactly what was executed is compensated, in reverse order.

import type { StepRetry } from './workflow.ts'

export const sagaStatuses = ['STARTED', 'RUNNING', 'COMPLETED', 'COMPENSATING', 'FAILED', 'CANCELLED'] as const
export type SagaStatus = (typeof sagaStatuses)[number]
export type StepAction = 'EXECUTE' | 'COMPENSATE'
export type StepStatus = 'SUCCESS' | 'FAILED' | 'TIMEOUT' | 'SKIPPED'

export type Position = { readonly status: SagaStatus; readonly currentStep: number }

/** The task of a job. */
export type Task = {
  readonly action: StepAction
  readonly attempt: number
  /** An earlier try may have had an effect that is not logged: it timed out, or its process died. */
  readonly isUnsure: boolean
}

export type Outcome =
  | { readonly type: 'done' }
  /** A chunk, and not the last one. */
  | { readonly type: 'more'; readonly hasProgress: boolean; readonly afterMs: number }
  | {
      readonly type: 'failed'
      readonly kind: 'FAILED' | 'TIMEOUT'
      /** The next try would fail too. */
      readonly isPermanent: boolean
      /** It, or an earlier chunk, may have had an effect. */
      readonly isUnsure: boolean
    }
  /** Cancelled before this attempt or chunk began; `hasProgress`: earlier chunks were executed. */
  | { readonly type: 'overtaken'; readonly isUnsure: boolean; readonly hasProgress: boolean }
  /** The step has no compensation. */
  | { readonly type: 'uncompensable' }

export type Decision = Position & {
  /** The step's new log entry; null without one. `isOver: false`: the step continues. */
  readonly log: { readonly status: StepStatus; readonly isOver: boolean } | null
  /** The saga's next job; null where it has ended. */
  readonly next: (Task & { readonly afterMs: number }) | null
}

export type Deciding = {
  readonly stepCount: number
  readonly retry: StepRetry
  /** Whether the log has a FAILED or TIMEOUT already. */
  readonly hadFault: boolean
}

export function isEnded(status: SagaStatus): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED'
}

/** The state, log entry and job after `task` came to `outcome`. `at` is the locked row's state, which a cancel may have changed meanwhile. */
export function decide(at: Position, task: Task, outcome: Outcome, deciding: Deciding): Decision {
  switch (outcome.type) {
    case 'done':
      return { ...afterSuccess(at, task, deciding), log: { status: 'SUCCESS', isOver: true } }
    case 'uncompensable':
      return { ...compensate(at.currentStep - 1, deciding.hadFault), log: { status: 'SKIPPED', isOver: true } }
    case 'overtaken':
      return {
        ...compensate(outcome.isUnsure ? at.currentStep : at.currentStep - 1, deciding.hadFault),
        log: { status: outcome.hasProgress ? 'SUCCESS' : 'SKIPPED', isOver: true },
      }
    case 'more': {
      const position = at.status === 'STARTED' ? { ...at, status: 'RUNNING' as const } : at
      return {
        ...position,
        log: outcome.hasProgress ? { status: 'SUCCESS', isOver: false } : null,
        next: { action: task.action, attempt: 1, isUnsure: false, afterMs: outcome.afterMs },
      }
    }
    case 'failed':
      return afterFailure(at, task, outcome, deciding)
  }
}

function afterSuccess(at: Position, { action }: Task, { stepCount, hadFault }: Deciding): Omit<Decision, 'log'> {
  if (action === 'COMPENSATE') return compensate(at.currentStep - 1, hadFault)
  // Cancelled while it ran: it was executed, so it is the first to be compensated.
  if (at.status === 'COMPENSATING') return compensate(at.currentStep, hadFault)
  const currentStep = at.currentStep + 1
  if (currentStep === stepCount) return { status: 'COMPLETED', currentStep, next: null }
  return { status: 'RUNNING', currentStep, next: { action: 'EXECUTE', attempt: 1, isUnsure: false, afterMs: 0 } }
}

function afterFailure(
  at: Position,
  task: Task,
  { kind, isPermanent, isUnsure: unsureNow }: Outcome & { type: 'failed' },
  { retry, hadFault }: Deciding,
): Decision {
  const isUnsure = task.isUnsure || unsureNow
  const isExhausted = isPermanent || task.attempt >= retry.maxAttempts
  const isCancelled = task.action === 'EXECUTE' && at.status === 'COMPENSATING'
  if (!isExhausted && !isCancelled) {
    const status = at.status === 'STARTED' ? 'RUNNING' : at.status
    const next = { ...task, attempt: task.attempt + 1, isUnsure, afterMs: retryDelayMs(retry, task.attempt) }
    return { ...at, status, log: null, next }
  }
  // A failed compensation is logged, and the other compensations still happen.
  const from = task.action === 'EXECUTE' && isUnsure ? at.currentStep : at.currentStep - 1
  // With tries left, the cancel ended the step, not the failure.
  const status = isExhausted ? kind : 'SKIPPED'
  return { ...compensate(from, hadFault || isExhausted), log: { status, isOver: true } }
}

/** Compensation continues with `step`, or has ended: CANCELLED if nothing ever failed. */
function compensate(step: number, hadFault: boolean): Omit<Decision, 'log'> {
  if (step < 0) return { status: hadFault ? 'FAILED' : 'CANCELLED', currentStep: 0, next: null }
  const next = { action: 'COMPENSATE', attempt: 1, isUnsure: false, afterMs: 0 } as const
  return { status: 'COMPENSATING', currentStep: step, next }
}

function retryDelayMs({ delayMs, maxDelayMs = 60_000 }: StepRetry, attempt: number): number {
  return Math.min(delayMs * 2 ** (attempt - 1), maxDelayMs)
}
