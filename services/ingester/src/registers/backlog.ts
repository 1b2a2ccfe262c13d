// Whether this ingester keeps up, or works off a backlog: of all its partitions together, because all wait for the same
// process. While it is behind in one of them, projections that are stored for another would hold it up as well.

export type FetchedPlace = {
  topic: string
  partition: number
  /** The offset after the last record of the batch. */
  nextOffset: bigint
  /** Where the log ended when the batch was fetched. */
  highWatermark: bigint
}

export type Backlog = {
  /** Notes how many records are behind the batch. Returns whether more than a few are behind all partitions together. */
  isBehind(place: FetchedPlace): boolean
}

/** An ingester that keeps up has fewer records behind its batches. */
const backlogFrom = 500n
/** A partition of which nothing was fetched for so long is paused, or another ingester's by now. */
const forgottenAfterMs = 5000

export function createBacklog({ now }: { now: () => number }): Backlog {
  const noted = new Map<string, { behind: bigint; at: number }>()
  return {
    isBehind({ topic, partition, nextOffset, highWatermark }) {
      const key = JSON.stringify([topic, partition])
      const behind = highWatermark - nextOffset
      if (behind > 0n) noted.set(key, { behind, at: now() })
      else noted.delete(key)
      let all = 0n
      for (const [key, { behind, at }] of noted) {
        if (now() - at > forgottenAfterMs) noted.delete(key)
        else all += behind
      }
      return all > backlogFrom
    },
  }
}
