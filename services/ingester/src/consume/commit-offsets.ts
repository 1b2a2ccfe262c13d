// Commits offsets to Kafka for whoever looks at the group's lag; where reading goes on is decided by the positions in the
// database. So the offsets of all partitions are committed together, and once a second at most: one commit for each
// transaction was forty requests a second, which Kafka writes to its log.

import { setTimeout as sleep } from 'node:timers/promises'
import { type PartitionPlace, partitionKey } from 'dlq-core/domain/record/record-place.ts'
import type { TopicPartitionOffset } from 'kafkajs'

export type OffsetCommits = {
  /** Notes that all before the offset is stored: it is committed now or soon. */
  note(place: PartitionPlace, offset: bigint): void
  /** Other partitions are ours now: what was noted of former ones is for their new owners to say. */
  forget(): void
  /** Commits what is left, if Kafka answers soon. */
  stop(): Promise<void>
}

/** A broker that is away must not hold up the end. */
const lastCommitMs = 1000

export function createOffsetCommits({
  intervalMs = 1000,
  commit,
  onFault,
}: {
  intervalMs?: number
  commit: (offsets: TopicPartitionOffset[]) => Promise<void>
  /** Nothing waits for a commit. Where one fails, the next one says more. */
  onFault: (error: unknown) => void
}): OffsetCommits {
  const noted = new Map<string, TopicPartitionOffset>()
  let timer: NodeJS.Timeout | null = null
  /** One at a time: an older offset must not come behind a newer one. */
  let underWay: Promise<void> | null = null

  function send(): void {
    if (underWay !== null || noted.size === 0) return
    const offsets = [...noted.values()]
    noted.clear()
    underWay = commit(offsets)
      .catch(onFault)
      .finally(() => {
        underWay = null
      })
  }

  /** Sends at once, and what comes within the interval at its end. */
  function begin(): void {
    timer = noted.size === 0 ? null : setTimeout(begin, intervalMs)
    send()
  }

  return {
    note(place, offset) {
      noted.set(partitionKey(place), { ...place, offset: String(offset) })
      if (timer === null) begin()
    },
    forget: () => noted.clear(),
    async stop() {
      if (timer !== null) clearTimeout(timer)
      timer = null
      const all = async () => {
        await underWay
        send()
        await underWay
      }
      await Promise.race([all(), sleep(lastCommitMs, undefined, { ref: false })])
    },
  }
}
