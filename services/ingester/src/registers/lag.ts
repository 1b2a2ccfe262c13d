// Whether this ingester is behind: by the lag of all its partitions together, because all wait for the same process. A
// payload that is stored for one partition holds up the others.

import { type PartitionPlace, partitionKey } from 'dlq-core/domain/record/record-place.ts'

export type Fetched = PartitionPlace & {
  /** The offset after the last record of the batch. */
  nextOffset: bigint
  /** Where the log ended when the batch was fetched. */
  highWatermark: bigint
}

export type Lag = {
  /** Notes how many records are behind the batch. Returns whether more than a few are behind all partitions together. */
  isBehind(batch: Fetched): boolean
}

/** An ingester that keeps up has fewer records behind its batches. */
const maxOfKeepingUp = 500n
/** Then nothing more was fetched: the partition is paused, or belongs to another ingester. */
const forgottenAfterMs = 5000

export function createLag({ now }: { now: () => number }): Lag {
  const noted = new Map<string, { behind: bigint; at: number }>()
  return {
    isBehind({ nextOffset, highWatermark, ...place }) {
      const at = now()
      const behind = highWatermark - nextOffset
      // A topic that was created again may end before the batch.
      noted.set(partitionKey(place), { behind: behind > 0n ? behind : 0n, at })
      let all = 0n
      for (const [key, one] of noted) {
        if (at - one.at > forgottenAfterMs) noted.delete(key)
        else all += one.behind
      }
      return all > maxOfKeepingUp
    },
  }
}
