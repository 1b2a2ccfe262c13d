import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
/**
 * How long to wait before the database is asked again for what a request waits for. The longer it has taken, the rarer:
 * many requests that wait a minute each would otherwise ask thousands of times a second. It adds a tenth at most.
 */
export function pollPause({
  startedAt,
  deadline,
  pollMs,
}: {
  startedAt: number
  deadline: number
  pollMs: number
}): number {
  const now = monotonicNow()
  return Math.max(pollMs, Math.min((now - startedAt) / 10, deadline - pollMs - now))
}
