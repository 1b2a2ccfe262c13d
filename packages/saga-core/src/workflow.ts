// Defines a workflow: a sequence of steps, each with an optional compensation.

import type { Transaction } from './store/sql.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** The arguments of a step. */
export type StepContext<Payload = Json> = {
  readonly sagaId: string
  readonly correlationId: string | null
  readonly payload: Payload
  /**
   * The same for every try of this action of this step, and for no other. If the process dies before the outcome
   * is written, the step is executed again: it must then recognise its finished work by this key.
   */
  readonly idempotencyKey: string
  /** The number of the try, from 1. Tries whose process died are not counted. */
  readonly attempt: number
  /** Aborts when the step's time is up or the process stops; the step should then end soon. */
  readonly signal: AbortSignal
  /** The results of executed steps, by step name. */
  readonly results: Readonly<Record<string, Json>>
  /** The progress that the last chunk of this action returned; null before the first. */
  readonly progress: Json
}

/** The result of one chunk. With `isLast` the step is done; otherwise the next chunk follows after `afterMs`. */
export type Chunk = {
  readonly isLast: boolean
  /** The step's progress, for the log and the next chunk. Absent: the chunk did nothing that needs compensation. */
  readonly response?: Json
  readonly afterMs?: number
  /** Cancels the saga, for this reason: the executed steps are compensated, this chunk too. */
  readonly cancel?: string
}

export type StepRetry = {
  /** Tries in all; with 1, the first failure fails the step. */
  readonly maxAttempts: number
  /** Wait before the second try; it doubles with each try, up to `maxDelayMs`. */
  readonly delayMs: number
  readonly maxDelayMs?: number
}

/**
 * A step does its work in one of two ways. `execute` runs outside of any transaction, for other systems: at
 * least once, under one idempotency key. `executeChunk` runs within the transaction that writes the saga's
 * state, its log and its next job: each chunk happens exactly once, and a large piece of work is many chunks.
 * `compensate` and `compensateChunk` likewise. Where a chunk needs what another system says, `prepareChunk` asks it
 * before the transaction begins; the chunk gets the answer, and must check that it still fits.
 *
 * An `execute` that throws must have left nothing behind. One that timed out, or whose process died, may have
 * happened: it is compensated too, so a compensation must accept that there is nothing to undo.
 */
export type Step<Payload = Json> = {
  readonly name: string
  /** For one try, or one chunk. */
  readonly timeoutMs: number
  readonly retry: StepRetry
  execute?(context: StepContext<Payload>): Promise<Json | undefined>
  executeChunk?(sql: Transaction, context: StepContext<Payload>, prepared?: unknown): Promise<Chunk>
  /** Changes nothing: its chunk may not follow. A throw fails the chunk. */
  prepareChunk?(context: Pick<StepContext<Payload>, 'payload' | 'signal'>): Promise<unknown>
  compensate?(context: StepContext<Payload>): Promise<Json | undefined>
  compensateChunk?(sql: Transaction, context: StepContext<Payload>): Promise<Chunk>
}

export type Workflow<Payload = Json> = {
  readonly name: string
  readonly steps: readonly Step<Payload>[]
  /** Of its jobs: lower comes first. */
  readonly priority?: number
}

/** Thrown by a step whose next try would fail the same way. */
export class PermanentStepError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'PermanentStepError'
  }
}

const longestTimeoutMs = 3_600_000

/** Checks the definition and returns it. @throws {TypeError} if it is not valid */
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
    if (step.prepareChunk !== undefined && step.executeChunk === undefined)
      refuse(`step ${step.name} prepares chunks and has none`)
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
