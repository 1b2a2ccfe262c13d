// Work beside the event loop, on one thread: a process that works out a large change answers nobody, renews no lease and
// sends nothing. Bounded in time, in memory and in what waits for it.

import type { Piscina } from 'piscina'
import type { ChangeResult, ChangeTask } from './change-worker.ts'
import { createTurns, NoTurn, type TurnBounds } from './fair-turns.ts'

/** `maxRunMs`: of one task, with the start of the thread. `maxHeapMiB`: of the thread. */
export type AsideBounds = TurnBounds & { readonly maxRunMs: number; readonly maxHeapMiB: number }

const asideBounds: AsideBounds = {
  ...{ ...boundsWithin(15_000), maxHeapMiB: 128 },
  ...{ maxWaiting: 16, maxWaitingOfOne: 4 },
}

/** For those who answer within `requestMs`: a task that has waited still has its time. */
export function boundsWithin(requestMs: number): Pick<AsideBounds, 'maxRunMs' | 'maxWaitMs'> {
  return { maxRunMs: (requestMs * 2) / 3, maxWaitMs: requestMs / 4 }
}

/** For those who have time: runs of a retrier, each of which works out one message after the other. */
export const patientBounds: Partial<AsideBounds> = {
  maxRunMs: 20_000,
  maxWaiting: Number.POSITIVE_INFINITY,
  maxWaitingOfOne: Number.POSITIVE_INFINITY,
  maxWaitMs: Number.POSITIVE_INFINITY,
}

/** The thread ends after this time without work, and gives its memory back. */
const idleMs = 10_000

/**
 * `overrun`: the task takes more time or memory than one may. `flooded`: its owner has too many waiting. `crowded`: all
 * have, or its turn did not come. `given_up`: nobody waits for it any more.
 */
export class AsideFault extends Error {
  readonly kind: 'overrun' | 'flooded' | 'crowded' | 'given_up'

  constructor(kind: AsideFault['kind'], message: string, options?: { cause: unknown }) {
    super(message, options)
    this.name = 'AsideFault'
    this.kind = kind
  }
}

export type Aside = {
  /** `owner`: who asks. Turns go round among owners. @throws {AsideFault} */
  run(task: ChangeTask, asker: Asker): Promise<ChangeResult>
}
export type Asker = { readonly owner: string; readonly signal?: AbortSignal | undefined }

/** One for a process. Its thread starts when it is needed, and keeps no process alive. */
export function createAside(given: Partial<AsideBounds> = {}): Aside {
  const bounds = { ...asideBounds, ...given }
  const turns = createTurns(bounds)
  let pool: Promise<Piscina<ChangeTask, ChangeResult>> | null = null

  return {
    async run(task, { owner, signal }) {
      const end = await turns.take(owner, signal).catch((error: unknown) => {
        throw faultOf(error, signal)
      })
      const timeUp = new AbortController()
      const timer = setTimeout(() => timeUp.abort(), bounds.maxRunMs)
      try {
        pool ??= makePool(bounds)
        const ended = signal === undefined ? timeUp.signal : AbortSignal.any([timeUp.signal, signal])
        // An abort ends the thread: nothing else stops a loop.
        return await (await pool).run(task, { signal: ended })
      } catch (error) {
        if (timeUp.signal.aborted) throw new AsideFault('overrun', `it takes longer than ${bounds.maxRunMs / 1000} s`)
        throw faultOf(error, signal)
      } finally {
        clearTimeout(timer)
        end()
      }
    },
  }
}

function faultOf(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return new AsideFault('given_up', 'the request was given up', { cause: error })
  if (error instanceof NoTurn) {
    const isOwn = error.reason === 'own'
    const message = isOwn
      ? 'too many large changes of yours are being worked out; send one after the other'
      : 'too many large changes are being worked out; try again in a moment'
    return new AsideFault(isOwn ? 'flooded' : 'crowded', message)
  }
  if ((error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new AsideFault('overrun', 'it takes more memory than one change may', { cause: error })
  return error
}

async function makePool({ maxHeapMiB }: AsideBounds): Promise<Piscina<ChangeTask, ChangeResult>> {
  // Only here, because most processes never meet a large value.
  const { Piscina } = await import('piscina')
  const pool: Piscina<ChangeTask, ChangeResult> = new Piscina({
    filename: new URL('./change-worker.ts', import.meta.url).href,
    ...{ minThreads: 0, maxThreads: 1, idleTimeout: idleMs },
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
  })
  // A thread that ended without a task: the next task gets another one.
  return pool.on('error', () => {})
}
