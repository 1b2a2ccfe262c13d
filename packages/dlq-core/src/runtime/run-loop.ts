// The loop around a pass. A pass does one bounded piece of work and returns; the loop owns the
// interval, the backoff after errors, and the stop. Tests call the pass and never sleep.

import { createFaultNews, type Log } from './log.ts'

export type LoopOptions = {
  name: string
  /** Wait between passes when there was nothing more to do. */
  intervalMs: number
  signal: AbortSignal
  log: Log
  /** Ends a wait early. */
  wake?: Wake
  maxBackoffMs?: number
}

/** Whether there is more to do now; else how long to wait, if not the loop's interval. */
export type PassResult = { more: boolean; waitMs?: number }

/** Runs `pass` until the signal aborts. A pass that returns { more: true } is run again at once. Errors are logged and waited out. */
export async function runLoop(pass: () => Promise<PassResult>, options: LoopOptions): Promise<void> {
  const { name, intervalMs, signal, log, wake = createWake(), maxBackoffMs = 5000 } = options
  let failures = 0
  let isNews = createFaultNews()
  while (!signal.aborted) {
    try {
      const { more, waitMs = intervalMs } = await pass()
      if (failures > 0) log.info({ loop: name, failures }, 'loop_recovered')
      failures = 0
      isNews = createFaultNews()
      // Even a loop that always has more work must let timers and I/O run.
      if (more) await new Promise((resolve) => setImmediate(resolve))
      else await wake.wait(waitMs * (0.9 + Math.random() * 0.2), signal)
    } catch (error) {
      if (signal.aborted) return
      failures += 1
      const backoffMs = Math.min(100 * 2 ** failures, maxBackoffMs)
      // The first failure may be transient; one that stays needs a person.
      const level = failures < 3 ? 'info' : failures < 6 ? 'warn' : 'error'
      if (isNews(error)) log[level]({ loop: name, failures, backoffMs, error }, 'loop_failed')
      await createWake().wait(backoffMs, signal)
    }
  }
}

export type Wake = {
  /** Ends the present wait, or the next one. */
  notify(): void
  /** Resolves after `ms`, at notify(), or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export function createWake(): Wake {
  let pending = false
  let end: (() => void) | null = null
  return {
    notify() {
      if (end) end()
      else pending = true
    },
    wait(ms, signal) {
      if (pending || signal.aborted) {
        pending = false
        return Promise.resolve()
      }
      return new Promise((resolve) => {
        const finish = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', finish)
          end = null
          resolve()
        }
        const timer = setTimeout(finish, ms)
        signal.addEventListener('abort', finish, { once: true })
        end = finish
      })
    },
  }
}
