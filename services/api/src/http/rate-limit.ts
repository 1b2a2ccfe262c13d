// Limits the requests per second of each actor, in this process: a token bucket that holds two seconds' worth.

import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import { ApiError } from './api-error.ts'

/** Bounds the memory. A forgotten actor begins with a full bucket. */
const maxRemembered = 10_000

/** The returned function throws 429 when the actor's bucket is empty. */
export function createRateLimit(perSecond: number, { now = monotonicNow } = {}): (actor: string) => void {
  const capacity = Math.max(1, perSecond * 2)
  const buckets = new Map<string, { tokens: number; at: number }>()
  return (actor) => {
    const at = now()
    const bucket = buckets.get(actor) ?? { tokens: capacity, at }
    const tokens = Math.min(capacity, bucket.tokens + ((at - bucket.at) / 1000) * perSecond)
    if (tokens < 1) throw new ApiError('SYS_DLQ_TOO_MANY_REQUESTS', 'too many requests; try again in a moment')
    if (buckets.size >= maxRemembered) buckets.clear()
    buckets.set(actor, { tokens: tokens - 1, at })
  }
}
