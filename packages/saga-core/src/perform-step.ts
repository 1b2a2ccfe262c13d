// Calls a workflow's own functions with a bound in time, and tells their possible outcomes apart.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome, Task } from './decide.ts'
import type { Transaction } from './store/sql.ts'
import { type Chunk, type Json, PermanentStepError, type Step, type StepContext } from './workflow.ts'

/** The outcome of an action; `response` is JSON text. */
export type Performed = { outcome: Outcome; response?: string | null; error?: string }

/** `prepared`: what was prepared for the chunk; it throws what preparing threw. */
export type StepCall = { task: Task; step: Step; context: StepContext; prepared?: () => unknown }

/** Thrown to roll back the transaction of a chunk. */
export class StepFailed extends Error {
  readonly action: StepCall
  readonly performed: Performed

  constructor(action: StepCall, performed: Performed, cause: unknown) {
    super(performed.error, { cause })
    this.name = 'StepFailed'
    this.action = action
    this.performed = performed
  }
}

/** How long to wait for a step after its time is up. */
const longestGraceMs = 5000
const maxErrorLength = 4000

/** Calls `execute` or `compensate`. @throws what the step throws when the process stops: the job is then run again */
export async function performOutside({ task, step, context }: StepCall, stop: AbortSignal): Promise<Performed> {
  const timeout = AbortSignal.timeout(step.timeoutMs)
  const signal = AbortSignal.any([timeout, stop])
  const call = { ...context, signal }
  const work = (async () => (task.action === 'EXECUTE' ? step.execute!(call) : step.compensate!(call)))()
  try {
    const response = await Promise.race([work, graceAfter(timeout, step.timeoutMs)])
    if (!timeout.aborted) return { outcome: { type: 'done' }, response: jsonText(response ?? null) }
    return failure({ kind: 'TIMEOUT', isUnsure: true }, `no answer within ${step.timeoutMs} ms`)
  } catch (error) {
    if (timeout.aborted) return failure({ kind: 'TIMEOUT', isUnsure: true }, `no answer within ${step.timeoutMs} ms`)
    if (stop.aborted) throw error
    const isUnsure = error instanceof UnwritableResponse
    return failure({ kind: 'FAILED', isUnsure, isPermanent: error instanceof PermanentStepError }, describe(error))
  } finally {
    // A later result is ignored.
    work.catch(() => {})
  }
}

/** Calls `executeChunk` or `compensateChunk` within the transaction. @throws {StepFailed} */
export async function performChunk(sql: Transaction, call: StepCall): Promise<Performed> {
  const { task, step, context, prepared } = call
  try {
    // The second limit covers a chunk that waits for something other than its statements. PostgreSQL has it since 17;
    // before, the pool's limit for idle transactions ends such a chunk.
    await sql`
      select set_config('statement_timeout', ${`${step.timeoutMs}ms`}, true),
             case when current_setting('server_version_num')::int >= 170000 then
               set_config('transaction_timeout', ${`${2 * step.timeoutMs + longestGraceMs}ms`}, true)
             end`
    const chunk: Chunk = await (task.action === 'EXECUTE'
      ? step.executeChunk!(sql, context, prepared?.())
      : step.compensateChunk!(sql, context))
    const response = chunk.response === undefined ? null : jsonText(chunk.response)
    if (chunk.cancel !== undefined) {
      const hasProgress = task.isUnsure || chunk.response !== undefined
      return { outcome: { type: 'overtaken', isUnsure: hasProgress, hasProgress }, response, error: chunk.cancel }
    }
    if (chunk.isLast) return { outcome: { type: 'done' }, response }
    return {
      outcome: { type: 'more', hasProgress: chunk.response !== undefined, afterMs: chunk.afterMs ?? 0 },
      response,
    }
  } catch (error) {
    const kind = (error as { code?: unknown }).code === '57014' ? 'TIMEOUT' : 'FAILED'
    const isPermanent = error instanceof PermanentStepError
    // It was rolled back. Only earlier chunks may have had an effect, and the task says whether there were any.
    throw new StepFailed(call, failure({ kind, isPermanent, isUnsure: false }, describe(error)), error)
  }
}

function failure(
  { kind, isUnsure, isPermanent = false }: { kind: 'FAILED' | 'TIMEOUT'; isUnsure: boolean; isPermanent?: boolean },
  error: string,
): Performed {
  return { outcome: { type: 'failed', kind, isPermanent, isUnsure }, error }
}

/** Resolves some seconds after the signal, so that a step can end before the next one begins. */
async function graceAfter(timeout: AbortSignal, timeoutMs: number): Promise<undefined> {
  await new Promise((resolve) => timeout.addEventListener('abort', resolve, { once: true }))
  await sleep(Math.min(timeoutMs, longestGraceMs), undefined, { ref: false })
}

class UnwritableResponse extends Error {}

/** @throws if PostgreSQL cannot store it */
function jsonText(value: Json): string {
  const text = JSON.stringify(value)
  // jsonb refuses strings with NUL or half a surrogate pair.
  if (text === undefined || /\\u(?:0000|d[89a-f])/i.test(text))
    throw new UnwritableResponse("the step's response is not JSON that PostgreSQL can hold")
  return text
}

function describe(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error)
  return message.slice(0, maxErrorLength).replaceAll('\u0000', '\ufffd').toWellFormed()
}
