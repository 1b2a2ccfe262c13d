// What a workflow is: steps in a row, each of which may say how to take back what it did.

import type { Transaction } from './sql.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** What a step is told. */
export type StepContext<Payload = Json> = {
  readonly sagaId: string
  readonly correlationId: string | null
  readonly payload: Payload
  /**
   * The same for every attempt of this action of this step, and of no other. A step that ran, but whose
   * process died before that was written down, is run again: it must then find its work done by this key.
   */
  readonly idempotencyKey: string
  /** From 1. Attempts that a process did not survive are not counted. */
  readonly attempt: number
  /** Aborts when the step's time is up or the process stops; the step should end soon after. */
  readonly signal: AbortSignal
  /** What executed steps answered, by step name. */
  readonly results: Readonly<Record<string, Json>>
  /** What the last chunk of this action answered; null before the first. */
  readonly progress: Json
}

/** One chunk of a step. With `isLast` the step is done; otherwise it is run again after `afterMs`. */
export type Chunk = {
  readonly isLast: boolean
  /** Where the step stands, for the log and for the next chunk. Left out: nothing was done that a compensation would take back. */
  readonly response?: Json
  readonly afterMs?: number
  /** Why the saga is to be cancelled from here on: what was executed is compensated, this chunk too. */
  readonly cancel?: string
}

export type StepRetry = {
  /** Attempts in all; with 1, the first failure is the step's. */
  readonly maxAttempts: number
  /** Wait before the second attempt; it doubles from attempt to attempt, up to `maxDelayMs`. */
  readonly delayMs: number
  readonly maxDelayMs?: number
}

/**
 * A step does its work in one of two ways. `execute` runs outside of any transaction, for other systems: at
 * least once, under one idempotency key. `executeChunk` runs within the transaction that writes the saga's
 * state, its log and its next job: each chunk happens exactly once, and a large piece of work is many chunks.
 * `compensate` and `compensateChunk` likewise.
 *
 * An `execute` that throws says that nothing of it is left. One that timed out, or whose process died, may
 * have happened or not: it is compensated too, so a compensation must bear that there is nothing to take back.
 */
export type Step<Payload = Json> = {
  readonly name: string
  /** For one attempt, or one chunk. */
  readonly timeoutMs: number
  readonly retry: StepRetry
  execute?(context: StepContext<Payload>): Promise<Json | undefined>
  executeChunk?(sql: Transaction, context: StepContext<Payload>): Promise<Chunk>
  compensate?(context: StepContext<Payload>): Promise<Json | undefined>
  compensateChunk?(sql: Transaction, context: StepContext<Payload>): Promise<Chunk>
}

export type Workflow<Payload = Json> = {
  readonly name: string
  readonly steps: readonly Step<Payload>[]
  /** Of its jobs: lower comes first. */
  readonly priority?: number
}

/** Thrown by a step whose next attempt would fail the same way. */
export class PermanentStepError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'PermanentStepError'
  }
}

const longestTimeoutMs = 3_600_000

/** Checks the definition and returns it. @throws {TypeError} where it could not run */
export function defineWorkflow<Payload = Json>(workflow: Workflow<Payload>): Workflow<Payload> {
  const refuse = (why: string): never => {
    throw new TypeError(`workflow ${workflow.name}: ${why}`)
  }
  if (!/^[\w.-]{1,100}$/.test(workflow.name)) refuse('its name must be letters, digits, ".", "_" and "-"')
  if (workflow.steps.length === 0) refuse('it has no steps')
  if (new Set(workflow.steps.map(({ name }) => name)).size < workflow.steps.length) refuse('two steps share a name')
  for (const step of workflow.steps) {
    if (step.name.length === 0 || step.name.length > 255) refuse('a step name has 1 to 255 characters')
    if ((step.execute === undefined) === (step.executeChunk === undefined))
      refuse(`step ${step.name} needs either execute or executeChunk`)
    if (step.compensate !== undefined && step.compensateChunk !== undefined)
      refuse(`step ${step.name} has two compensations`)
    if (!(step.timeoutMs >= 1 && step.timeoutMs <= longestTimeoutMs))
      refuse(`timeoutMs of step ${step.name} must be from 1 to ${longestTimeoutMs}`)
    if (!Number.isInteger(step.retry.maxAttempts) || step.retry.maxAttempts < 1)
      refuse(`retry.maxAttempts of step ${step.name} must be a whole number from 1`)
    if (!(step.retry.delayMs >= 0)) refuse(`retry.delayMs of step ${step.name} must not be negative`)
  }
  return workflow
}
