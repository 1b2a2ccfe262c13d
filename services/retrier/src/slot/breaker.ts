// Decides whether to try Kafka at all. After a fault no slot claims anything for a while, and longer after each further
// fault. Then one slot probes, and the others wait for its result.

export type Breaker = {
  /** Whether the caller may go on. When it says "probe", the caller must report success or failure. */
  enter(): 'closed' | 'probe' | 'open'
  succeeded(): void
  failed(reason: string): void
  /** Whether a probe is under way. */
  isProbing(): boolean
  /** Why the breaker is open; null while it is closed. */
  fault(): string | null
}

export type BreakerOptions = {
  now: () => number
  random: () => number
  /** Called with the reason when the breaker opens or a probe fails, and with null when it closes. */
  onChange?: (reason: string | null) => void
  firstMs?: number
  maxMs?: number
}

export function createBreaker({
  now,
  random,
  onChange = () => {},
  firstMs = 500,
  maxMs = 15_000,
}: BreakerOptions): Breaker {
  let failures = 0
  let reason: string | null = null
  let openUntil = 0
  let isProbing = false
  return {
    enter() {
      if (reason === null) return 'closed'
      if (isProbing || now() < openUntil) return 'open'
      isProbing = true
      return 'probe'
    },
    succeeded() {
      if (reason !== null) onChange(null)
      failures = 0
      reason = null
      isProbing = false
    },
    failed(why) {
      // Two slots that meet the same outage count as one fault, unless one of them was the probe.
      const isNews = reason === null || isProbing
      if (isNews) failures += 1
      reason = why
      isProbing = false
      openUntil = now() + Math.min(firstMs * 2 ** (failures - 1), maxMs) * (0.75 + random() / 2)
      if (isNews) onChange(why)
    },
    isProbing: () => isProbing,
    fault: () => reason,
  }
}
