// How fast a group reads a topic, from what looks find. Decisions only.

import type { ReaderRates } from 'dlq-core/queries/readers/reader-watch.ts'

export const noRates: ReaderRates = {
  ...{ per_second: null, best_per_second: null, best_at: null, produced_per_second: null, measured_from: null },
}

const measureForMs = 5 * 60_000
const bestOfMs = 86_400_000

/** `read`, `written`: sums over the partitions now. A measurement that does not fit (an offset was moved) begins again. */
export function ratesOf(
  before: ReaderRates,
  { read, written, nowMs }: { read: number; written: number; nowMs: number },
): ReaderRates {
  const from = before.measured_from
  const begun = { at: nowMs, read, written }
  if (from === null || read < from.read || written < from.written) return { ...before, measured_from: begun }
  const ms = nowMs - from.at
  if (ms < measureForMs) return before
  const perSecond = ((read - from.read) / ms) * 1000
  const isBest =
    before.best_per_second === null || perSecond >= before.best_per_second || nowMs - before.best_at! > bestOfMs
  return {
    ...{ per_second: perSecond, produced_per_second: ((written - from.written) / ms) * 1000, measured_from: begun },
    ...(isBest
      ? { best_per_second: perSecond, best_at: nowMs }
      : { best_per_second: before.best_per_second, best_at: before.best_at }),
  }
}
