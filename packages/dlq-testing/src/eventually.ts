// Waiting for what other processes do. The bound ends a test that would hang; it judges no speed, because a
// build server may be many times slower than the machine a test was written on.
import { vi } from 'vitest'

export const patienceMs = process.env.DLQ_SOAK === '1' ? 600_000 : 90_000

/** Asks again and again, and resolves to what `check` returns once it does not throw any more. Throws its last error after 90 s. */
export function eventually<T>(check: () => T | Promise<T>, { intervalMs = 50 } = {}): Promise<T> {
  return vi.waitFor(check, { timeout: patienceMs, interval: intervalMs })
}
