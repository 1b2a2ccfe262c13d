// How many messages a batch takes, so that it takes about as long as it should: a batch of a slot, a chunk of a
// run, a batch of the archive. Others wait for what a batch holds, so its time is bounded and not only its size.

export type BatchTime = {
  /** The size that was asked for. */
  readonly size: number
  /** How many messages there were; fewer than `size` where no more were found. */
  readonly found: number
  readonly tookMs: number
}

export type BatchPace = {
  readonly targetMs: number
  readonly least: number
  readonly most: number
  /** A batch has at most this many times the messages of the one before. */
  readonly growth: number
}

/** Smaller changes are noise of the clock. */
const leastGrowth = 1.1

/** The size of the next batch: smaller where the last one took longer than `targetMs`, greater where it was quick. */
export function nextBatchSize({ size, found, tookMs }: BatchTime, pace: BatchPace): number {
  const fits = pace.targetMs / Math.max(1, tookMs)
  const clamp = (wanted: number) => Math.max(pace.least, Math.min(pace.most, wanted))
  if (fits < 1) return clamp(Math.floor(Math.min(size, found) * fits))
  // A batch that was not full says nothing about a larger one.
  if (found < size || fits < leastGrowth) return clamp(size)
  return clamp(Math.max(size + 1, Math.floor(size * Math.min(fits, pace.growth))))
}
