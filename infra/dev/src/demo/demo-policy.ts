// How the demo's messages are retried: as by default, but fast enough to watch.

import { defaultRetryPolicy, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'

/**
 * Retries after about 2, 4, 9, 18 … seconds. The first three may all fall into one outage of the card network, so the
 * budget is larger than the default.
 */
export const demoPolicy: RetryPolicy = { ...defaultRetryPolicy, maxRetries: 8, initialDelayMs: 4000, multiplier: 2 }

/** The same as settings of the services. */
export const demoSettings = {
  DLQ_RETRY_MAX_RETRIES: String(demoPolicy.maxRetries),
  DLQ_RETRY_INITIAL_DELAY: `${demoPolicy.initialDelayMs}ms`,
  DLQ_RETRY_MULTIPLIER: String(demoPolicy.multiplier),
}
