// How many messages a slot takes at once. What comes due while a batch is under way waits for its end, so
// on a slow or busy machine the batches get smaller: it is their time that is bounded, not only their size.

export type BatchTime = {
  /** The size that was asked for. */
  readonly size: number
  /** What was claimed; less where not so much was due. */
  readonly claimed: number
  readonly tookMs: number
}

export type BatchBounds = { readonly mostMessages: number; readonly targetMs: number }

/** Transactions have a price of their own, so smaller than this part of the greatest size gains nothing. */
const leastPart = 1 / 5
const growth = 1.25

/** The size of the next batch: down at once where a batch took longer than `targetMs`, and slowly up again. */
export function nextBatchSize({ size, claimed, tookMs }: BatchTime, { mostMessages, targetMs }: BatchBounds): number {
  const least = Math.ceil(mostMessages * leastPart)
  if (tookMs > targetMs) {
    // By half at most: one slow batch may be an accident.
    return Math.max(least, Math.floor(Math.min(size, claimed) * Math.max(targetMs / tookMs, 1 / 2)))
  }
  // A batch that was not full says nothing about a larger one.
  if (claimed < size || tookMs * growth > targetMs) return size
  return Math.min(mostMessages, Math.ceil(size * growth))
}
