// How a batch is shared among the topics that have something due: by weight, and what one topic does
// not need goes to the others (weighted max-min fairness).

export type Sharer = {
  readonly topic: string
  readonly weight: number
  /** It cannot take more than this. */
  readonly most: number
}

/**
 * Topic → how many messages of it may be claimed; at most `limit` in sum. Where there are more topics
 * than places, `start` says who comes first; turn it from batch to batch.
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
