// Statistics of the measured figures. Pure.

/** The middle value; the mean of the two middle ones for an even count. NaN where there is none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length === 0) return Number.NaN
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The value that `share` of the values do not exceed, by nearest rank. NaN where there is none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** A count seen at a moment (milliseconds). */
export type Sample = { atMs: number; count: number }

/**
 * Items per second between two looks. Items before the first look do not count, and so the start-up does not either.
 */
export function ratePerSecond(first: Sample, last: Sample): number {
  return ((last.count - first.count) * 1000) / (last.atMs - first.atMs)
}

/**
 * The median of the ratios of each round. Rounds are compared within themselves because the machine's
 * speed changes from one to the next. Where the two differ in length, the rest of the longer one is ignored.
 */
export function medianRatio(values: readonly number[], floors: readonly number[]): number {
  const rounds = Math.min(values.length, floors.length)
  return median(Array.from({ length: rounds }, (_, round) => values[round]! / floors[round]!))
}
