// Shares a batch among the topics that have something due: by weight, and the others get what one topic does not need
// (weighted max-min fairness).

export type Sharer = {
  readonly topic: string
  readonly weight: number
  /** The most that it can take. */
  readonly most: number
}

/**
 * Returns topic → how many of its messages may be claimed; `limit` at most in all. `start` says which topic comes first:
 * the caller raises it from batch to batch, because there may be more topics than places.
 */
export function shareBatch(
  sharers: readonly Sharer[],
  { limit, start }: { limit: number; start: number },
): Map<string, number> {
  const shares = new Map<string, number>()
  const turn = sharers.length === 0 ? 0 : start % sharers.length
  let hungry = [...sharers.slice(turn), ...sharers.slice(0, turn)].filter(({ most }) => most >= 1)
  let left = limit
  while (left > 0 && hungry.length > 0) {
    const ofRound = left
    const weights = hungry.reduce((sum, { weight }) => sum + weight, 0)
    for (const { topic, weight, most } of hungry) {
      const has = shares.get(topic) ?? 0
      const given = Math.min(Math.floor(most) - has, Math.max(1, Math.floor((ofRound * weight) / weights)), left)
      shares.set(topic, has + given)
      left -= given
      if (left === 0) break
    }
    hungry = hungry.filter(({ topic, most }) => (shares.get(topic) ?? 0) < Math.floor(most))
  }
  for (const [topic, share] of shares) if (share === 0) shares.delete(topic)
  return shares
}
