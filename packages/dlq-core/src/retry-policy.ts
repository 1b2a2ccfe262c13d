// When a message is retried next. Pure: the clock and the dice are arguments.

export type RetryPolicy = {
  /** False: a message is retried only when somebody asks for it. */
  readonly autoRetry: boolean
  /** Attempts before a message is DEAD. */
  readonly maxRetries: number
  /** Upper bound of the wait before the first attempt. */
  readonly initialDelayMs: number
  /** Each further wait is this many times the one before. */
  readonly multiplier: number
  readonly maxDelayMs: number
}

/** Five minutes, twenty, eighty, then DEAD. */
export const defaultRetryPolicy: RetryPolicy = {
  autoRetry: true,
  maxRetries: 3,
  initialDelayMs: 5 * 60_000,
  multiplier: 4,
  maxDelayMs: 24 * 3_600_000,
}

/**
 * When the attempt after `retryCount` attempts is due; null where nobody retries by itself.
 * The wait is drawn evenly from its upper half, so that what failed together does not return together.
 *
 * @param random in [0, 1)
 */
export function nextRetryAt(policy: RetryPolicy, retryCount: number, now: Date, random: number): Date | null {
  if (!policy.autoRetry) return null
  const delayMs = Math.min(policy.initialDelayMs * policy.multiplier ** retryCount, policy.maxDelayMs)
  return new Date(now.getTime() + Math.round(delayMs * (0.5 + random / 2)))
}
