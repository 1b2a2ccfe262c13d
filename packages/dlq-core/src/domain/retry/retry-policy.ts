// A policy: how often, when and how fast the messages of a topic are retried, and how long they are kept.
// Pure: clock and randomness are arguments. effective-policy.ts finds the policy in force for a topic.

import type { stalenessChoices } from '../staleness/staleness.ts'

export const backoffs = ['exponential', 'fixed', 'list'] as const
export const orderings = ['none', 'per-key'] as const
export const timestampChoices = ['keep', 'now'] as const
export const payloadChoices = ['stored', 'derived', 'auto'] as const
/** What is sent: what stands on the DLQ, or the record that failed. */
export const recordChoices = ['dlq', 'origin', 'origin-if-available'] as const
export const deliveries = ['republish', 'pull'] as const

export type RetryPolicy = {
  /** False: a message is retried only when somebody asks for it. */
  readonly autoRetry: boolean
  /** The budget: attempts before a message is DEAD. The ingester stores it in the message. */
  readonly maxRetries: number
  /** How the waits grow: by the multiplier with full jitter, not at all, or by a list. */
  readonly backoff: (typeof backoffs)[number]
  /** Upper bound of the wait before the first attempt; with `fixed` every wait, exactly. */
  readonly initialDelayMs: number
  /** With `exponential`: the factor from one wait to the next. */
  readonly multiplier: number
  /** With `exponential`: the longest wait. */
  readonly maxDelayMs: number
  /** With `list`: the waits one after the other; the last one repeats. */
  readonly backoffListMs: readonly number[]
  /** Attempts happen in windows, which start at multiples of this since 1970 (UTC); null: whenever a message is due. */
  readonly runEveryMs: number | null
  /** Messages of one topic in one window; null: all that are due. Without `runEveryMs` it has no effect. */
  readonly runLimit: number | null
  /** Messages of one topic per second, by all retriers together; null: as fast as possible. */
  readonly ratePerSecond: number | null
  /** Messages of one topic that may be RETRYING at once; null: any number. */
  readonly maxInFlight: number | null
  /** True: nothing of the topic is sent, even if somebody asks. */
  readonly paused: boolean
  /** Where to send instead of the original topic; null: to the original topic. */
  readonly redirectTopic: string | null
  /** `per-key`: a message waits for earlier dead letters of its key. */
  readonly ordering: (typeof orderings)[number]
  /** Whether the republished record keeps its timestamp. */
  readonly timestamp: (typeof timestampChoices)[number]
  /** The topic's share of a batch, compared with other topics that have something due. */
  readonly weight: number
  /**
   * Whether `payload` is stored, or derived from the bytes when it is read. `auto`: stored, but while the ingester is
   * behind only afterwards.
   */
  readonly payload: (typeof payloadChoices)[number]
  /**
   * What is sent: the copy on the DLQ topic (`dlq`), or the record that failed. Where that one cannot be had or proved, the
   * message waits for a person (`origin`), or the copy is sent (`origin-if-available`).
   */
  readonly record: (typeof recordChoices)[number]
  /**
   * What is taken out of error messages, stack traces and failure headers before they are stored: names of detectors, or
   * patterns in RE2's syntax.
   */
  readonly scrub: readonly string[]
  /** `pull`: the application claims its dead letters by SQL; retriers leave them alone. */
  readonly delivery: (typeof deliveries)[number]
  /**
   * At least this many re-failures of one error group within the re-failure window pause its automatic retries; null:
   * never.
   */
  readonly refailureThreshold: number | null
  /** … and at least this share of the group's retries in that window, from 0 to 1. */
  readonly refailureShare: number
  readonly refailureWindowMs: number
  /**
   * Whether newer records of a message's key are looked for: `warn` says so in its detail and in dry runs, `hold` sends only
   * what is fresh. `ignore` looks at known dead letters alone.
   */
  readonly staleness: (typeof stalenessChoices)[number]
  /** Whether republished records say which consumer group they are for (`dlq-for-group`). */
  readonly forGroupHeader: boolean
  /** The consumer group that judges attempts whose own group is not known; null: all groups that read the topic. */
  readonly verdictGroup: string | null
  /** How long after it was read a message may still come back; null: as the configuration says. */
  readonly verdictHorizonMs: number | null
  /** An error group with nothing left to do is resolved when nothing failed for this long; null: never. */
  readonly autoResolveMs: number | null
  /** How long after its last change a RESOLVED or DEAD message is archived. */
  readonly retentionMs: number
}

/** Within five minutes, twenty, eighty, then DEAD. */
export const defaultRetryPolicy: RetryPolicy = {
  autoRetry: true,
  maxRetries: 3,
  backoff: 'exponential',
  initialDelayMs: 5 * 60_000,
  multiplier: 4,
  maxDelayMs: 24 * 3_600_000,
  backoffListMs: [],
  runEveryMs: null,
  runLimit: null,
  ratePerSecond: null,
  maxInFlight: null,
  paused: false,
  redirectTopic: null,
  ordering: 'none',
  timestamp: 'keep',
  weight: 1,
  payload: 'auto',
  record: 'dlq',
  scrub: [],
  delivery: 'republish',
  refailureThreshold: 20,
  refailureShare: 0.5,
  refailureWindowMs: 5 * 60_000,
  staleness: 'ignore',
  forGroupHeader: true,
  verdictGroup: null,
  verdictHorizonMs: null,
  autoResolveMs: null,
  retentionMs: 30 * 86_400_000,
}

/**
 * When the attempt after `retryCount` attempts is due; null without automatic retries.
 *
 * The exponential wait is drawn evenly from a tenth of its bound to the whole of it ("full jitter", with
 * a floor), so that messages that failed together are not retried together or at once. With windows,
 * the attempt is due in the next window after the wait, never in the present one.
 *
 * @param random in [0, 1); the smaller, the longer the wait
 */
export function nextRetryAt(policy: RetryPolicy, retryCount: number, now: Date, random: number): Date | null {
  if (!policy.autoRetry) return null
  const due = new Date(now.getTime() + Math.round(waitMs(policy, retryCount, random)))
  return policy.runEveryMs === null ? due : nextRunAt(policy.runEveryMs, { after: now, from: due })
}

const leastPartOfWait = 0.1

function waitMs(policy: RetryPolicy, retryCount: number, random: number): number {
  switch (policy.backoff) {
    case 'fixed':
      return policy.initialDelayMs
    case 'list':
      return policy.backoffListMs[Math.min(retryCount, policy.backoffListMs.length - 1)] ?? policy.initialDelayMs
    case 'exponential': {
      // The power may be Infinity, which times a delay of 0 would be no number.
      const growth = Math.min(policy.multiplier ** retryCount, Number.MAX_VALUE)
      const boundMs = Math.min(policy.initialDelayMs * growth, policy.maxDelayMs)
      return boundMs * (leastPartOfWait + (1 - leastPartOfWait) * (1 - random))
    }
  }
}

/** The first window that starts after `after`, and not before `from`. The database finds the same starts by date_bin. */
export function nextRunAt(runEveryMs: number, { after, from }: { after: Date; from: Date }): Date {
  const notBefore = Math.ceil(from.getTime() / runEveryMs) * runEveryMs
  const afterwards = (Math.floor(after.getTime() / runEveryMs) + 1) * runEveryMs
  return new Date(Math.max(notBefore, afterwards))
}

/** How many messages of the topic may be claimed at most at one time, where none of them is RETRYING. */
export function claimCeiling(policy: RetryPolicy): number {
  if (policy.paused) return 0
  const free = policy.maxInFlight ?? Number.POSITIVE_INFINITY
  const perRun = policy.runEveryMs === null ? null : policy.runLimit
  const burst = policy.ratePerSecond === null ? null : burstOf(policy.ratePerSecond)
  return Math.min(free, perRun ?? free, burst ?? free)
}

/**
 * The capacity of a rate bucket: the messages of one second. Retriers ask about twice a second; a smaller
 * bucket would overflow between two requests and allow less than the rate.
 */
export function burstOf(ratePerSecond: number): number {
  return Math.max(1, Math.ceil(ratePerSecond))
}

/** The bounds that all retriers keep together, in the form of `takeTokens`; null where the policy has none. */
export type SharedLimits = {
  readonly ratePerSecond: number | null
  readonly burst: number | null
  readonly runEveryMs: number | null
  readonly runLimit: number | null
}

/** Null if the policy has no such bounds. */
export function sharedLimitsOf({ ratePerSecond, runEveryMs, runLimit }: RetryPolicy): SharedLimits | null {
  const inRuns = runEveryMs !== null && runLimit !== null
  if (ratePerSecond === null && !inRuns) return null
  return {
    ratePerSecond,
    burst: ratePerSecond === null ? null : burstOf(ratePerSecond),
    runEveryMs: inRuns ? runEveryMs : null,
    runLimit: inRuns ? runLimit : null,
  }
}
