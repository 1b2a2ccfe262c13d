// Reading the counts: refused until they are right, and folded when many deltas have gathered, because
// every read adds them up.

import { foldSummary, getSummaryState, type SummaryState } from 'dlq-core/queries/summary.ts'
import { ApiError } from './api-error.ts'
import type { ApiDeps } from './define-route.ts'

/** A read of so many deltas takes about a millisecond. */
const foldFrom = 5000
const foldLimit = 50_000

/** @throws {ApiError} 503 while the messages that were there before the counts are still being counted */
export async function requireExactCounts({ sql, log }: Pick<ApiDeps, 'sql' | 'log'>): Promise<SummaryState> {
  const state = await getSummaryState(sql)
  if (state.counted_at === null)
    throw new ApiError('SYS_DLQ_UNAVAILABLE', 'the messages are being counted for the first time; try again later')
  // Not waited for: this answer is as exact without.
  if (state.deltas >= foldFrom)
    foldSummary(sql, { limit: foldLimit }).catch((error) => log.debug({ error }, 'fold_summary_failed'))
  return state
}
