// How many bytes of decompressed batches may be in memory. The bound of a fetch counts compressed bytes, and 26 KB can
// hold 800 MiB: the ingester died of them at every start. A batch that has no room now is left for a later fetch.

import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicNow } from '../clock/monotonic-now.ts'

/** What batches of one pool take together, at most. */
export type DecodePool = {
  readonly maxBytes: number
  /** What the fetch that begins now decompresses counts for `holder`, whose earlier fetch is over. */
  begin(holder: string | number): void
  /** What is fetched within `work` counts until `work` ends. */
  within<T>(work: () => Promise<T>): Promise<T>
  /** Nobody holds anything any more: the consumer ends. */
  clear(): void
}

export type DecodePools = {
  /** For the batches of DLQ topics. */
  fetches: DecodePool
  /** For originals. A pool of its own: who waits for an original holds some of the other. */
  originals: DecodePool
}

/** A batch with one value of the greatest size fits twice. */
export function createDecodePools({ maxValueBytes }: { maxValueBytes: number }): DecodePools {
  return {
    fetches: createDecodePool(Math.max(48 * 1024 * 1024, 2.5 * maxValueBytes)),
    originals: createDecodePool(Math.max(24 * 1024 * 1024, 1.5 * maxValueBytes)),
  }
}

/** What one fetch holds of its pool. */
export type FetchBudget = {
  readonly maxBytes: number
  /**
   * Takes the bytes, or says that the batch has to wait for another fetch. Where this fetch holds nothing it waits
   * until the others have made room, for a minute at most: otherwise a large batch might never be read.
   */
  take(bytes: number): Promise<'taken' | 'full'>
  /** Counts what was decompressed, also in vain. */
  spend(bytes: number): void
  /**
   * Whether this fetch has decompressed as much as the pool holds. While it decodes, the consumer sends no heartbeat:
   * hundreds of batches that are refused, one after the other, would cost it its place in the group each time.
   */
  isSpent(): boolean
}

/** A broker that left the cluster begins no further fetch, so what its last one held is never given back. */
const maxWaitMs = 60_000

const budgets = new AsyncLocalStorage<FetchBudget>()

/** The budget of the fetch that is being decoded here; undefined where nobody began one. */
export function currentBudget(): FetchBudget | undefined {
  return budgets.getStore()
}

export function createDecodePool(maxBytes: number): DecodePool {
  const held = new Map<object, number>()
  const fetches = new Map<string | number, object>()
  let changed = Promise.withResolvers<void>()

  const total = () => held.values().reduce((sum, bytes) => sum + bytes, 0)

  function release(fetch: object | undefined): void {
    if (fetch === undefined || !held.delete(fetch)) return
    changed.resolve()
    changed = Promise.withResolvers()
  }

  function budgetOf(fetch: object): FetchBudget {
    let spent = 0
    return {
      maxBytes,
      spend(bytes) {
        spent += bytes
      },
      isSpent: () => spent >= maxBytes,
      async take(bytes) {
        for (const deadline = monotonicNow() + maxWaitMs; total() + bytes > maxBytes; ) {
          if (held.has(fetch) || held.size === 0) return 'full'
          const leftMs = deadline - monotonicNow()
          if (leftMs <= 0) break
          await Promise.race([changed.promise, sleep(leftMs, undefined, { ref: false })])
        }
        held.set(fetch, (held.get(fetch) ?? 0) + bytes)
        return 'taken'
      },
    }
  }

  return {
    maxBytes,
    begin(holder) {
      release(fetches.get(holder))
      const fetch = {}
      fetches.set(holder, fetch)
      // kafkajs tells of a fetch before it sends it, and decodes the answer in the same asynchronous context.
      budgets.enterWith(budgetOf(fetch))
    },
    async within(work) {
      const fetch = {}
      try {
        return await budgets.run(budgetOf(fetch), work)
      } finally {
        release(fetch)
      }
    },
    clear() {
      fetches.clear()
      for (const fetch of held.keys()) release(fetch)
    },
  }
}
