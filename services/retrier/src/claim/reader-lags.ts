// How far the consumers are behind that runs with `max_lag` send to. Remembered for a moment, because every plan asks.

import { listReaderLags, type ReaderLag } from 'dlq-core/queries/readers/lagging-readers.ts'
import { askForLook } from 'dlq-core/queries/readers/reader-watch.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'

export type ReaderLags = { of(topics: readonly string[]): Promise<readonly ReaderLag[]> }

const rememberMs = 1000
/** While a run waits for a lag, the groups are looked at this often. */
const lookEveryMs = 2000

export function createReaderLags(sql: Database): ReaderLags {
  let known: { key: string; lags: readonly ReaderLag[]; until: number } | null = null
  return {
    async of(topics) {
      const key = JSON.stringify(topics)
      if (known !== null && known.key === key && monotonicNow() < known.until) return known.lags
      const until = monotonicNow() + rememberMs
      await askForLook(sql, { withinMs: lookEveryMs })
      const lags = await listReaderLags(sql, topics)
      known = { key, lags, until }
      return lags
    },
  }
}
