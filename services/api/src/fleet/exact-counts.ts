// Reads the counts. Refuses until the first full count has ended. Folds the deltas when there are many, because every
// read adds them up.

import { foldSummary, getSummaryState, type SummaryState } from 'dlq-core/queries/reading/summary.ts'
import { ApiError } from '../http/api-error.ts'
import type { ApiDeps } from '../http/define-route.ts'

/** Reading this many deltas takes about a millisecond. */
const foldFrom = 5000
const foldLimit = 50_000

/** @throws {ApiError} 503 while the messages that were there before the counts are still being counted */
export async function requireExactCounts({ sql, log }: Pick<ApiDeps, 'sql' | 'log'>): Promise<SummaryState> {
  const state = await getSummaryState(sql)
  if (state.counted_at === null)
    throw new ApiError('SYS_DLQ_UNAVAILABLE', 'the messages are being counted for the first time; try again later')
  // It does not wait for the fold, because the answer is exact without it.
  if (state.deltas >= foldFrom)
    foldSummary(sql, { limit: foldLimit }).catch((error) => log.debug({ error }, 'fold_summary_failed'))
  return state
}
