// Waits for the effects of other processes. The bound ends a test that would hang. It judges no speed, because a build
// server may be many times slower than the machine on which a test was written.
import { setTimeout as sleep } from 'node:timers/promises'
import { vi } from 'vitest'

export const patienceMs = process.env.DLQ_SOAK === '1' ? 600_000 : 90_000

/** Calls `check` until it does not throw, and resolves to what it returns. Throws its last error after 90 s (soak: 600 s). */
export function eventually<T>(check: () => T | Promise<T>, { intervalMs = 50 } = {}): Promise<T> {
  return vi.waitFor(check, { timeout: patienceMs, interval: intervalMs })
}

/** Gives a fault `ms` to appear. The test then asserts that it did not, because no state can be polled for that. */
export function nothingHappensFor(ms: number): Promise<void> {
  return sleep(ms)
}
