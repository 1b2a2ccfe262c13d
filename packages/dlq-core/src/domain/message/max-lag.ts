// A run may wait while the consumers that it sends to are behind.

type Lag = {
  readonly target_topic: string
  readonly consumer_group: string
  readonly lag: number
  readonly has_failed: boolean
}

/**
 * The group because of which a run with `maxLag` sends nothing to the topic now; null: none. Groups that failed there
 * count; where none is known to have, all that read there do.
 */
export function laggingGroup<L extends Lag>(
  lags: readonly L[],
  { topic, maxLag }: { topic: string; maxLag: number },
): L | null {
  const readers = lags.filter(({ target_topic }) => target_topic === topic)
  const failed = readers.filter(({ has_failed }) => has_failed)
  const counting = failed.length > 0 ? failed : readers
  return counting.filter(({ lag }) => lag > maxLag).toSorted((a, b) => b.lag - a.lag)[0] ?? null
}
