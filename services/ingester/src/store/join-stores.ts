// Stores small batches of several partitions in one transaction. A hundred DLQ topics with a trickle each would otherwise
// cost a hundred transactions a second, each of which waits for the disk.

import { partitionKey } from 'dlq-core/domain/record/record-place.ts'
import { isDatabaseAway } from 'dlq-core/runtime/database/database-errors.ts'
import type { Batch, StoreDeps, StoreOptions, StoreOutcome } from './store-batch.ts'
import { storeBatch, storeTogether } from './store-batch.ts'

export type Store = (batch: Batch, options?: StoreOptions) => Promise<StoreOutcome>

type Waiting = {
  batch: Batch
  options: StoreOptions
  settle: { resolve: (outcome: StoreOutcome) => void; reject: (error: unknown) => void }
}

/** Transactions at once: while one waits for PostgreSQL, the next is read. */
const maxTransactions = 3
/** A batch with more records has a transaction of its own. */
const maxSmallRecords = 100
const maxJoinedRecords = 500

/**
 * A store for any number of callers, each with a partition of its own. While all transactions are busy, callers wait. A
 * partition whose last batch failed is stored alone until it succeeds, and such ones never take all transactions: one that
 * waits for a locked row until its time is over would have every other fail with it.
 */
export function createJoinedStore(deps: StoreDeps): Store {
  const waiting: Waiting[] = []
  const failing = new Set<string>()
  const isFailing = ({ batch }: Waiting) => failing.has(partitionKey(batch))
  let transactions = 0
  let ofFailing = 0

  /** Takes the batch that has waited longest, and, if it is small, the small ones behind it. */
  function take(): Waiting[] {
    const first = waiting.findIndex((one) => !isFailing(one) || ofFailing < maxTransactions - 1)
    if (first === -1) return []
    const joined = waiting.splice(first, 1)
    let records = joined[0]!.batch.records.length
    if (records > maxSmallRecords || isFailing(joined[0]!)) return joined
    for (let at = 0; at < waiting.length; ) {
      const size = waiting[at]!.batch.records.length
      if (size > maxSmallRecords || records + size > maxJoinedRecords || isFailing(waiting[at]!)) {
        at++
        continue
      }
      records += size
      joined.push(...waiting.splice(at, 1))
    }
    return joined
  }

  function begin(): void {
    while (transactions < maxTransactions) {
      const joined = take()
      if (joined.length === 0) return
      const failed = Number(isFailing(joined[0]!))
      transactions++
      ofFailing += failed
      void storeAll(deps, joined).finally(() => {
        transactions--
        ofFailing -= failed
        begin()
      })
    }
  }

  return async (batch, options = {}) => {
    const { promise, ...settle } = Promise.withResolvers<StoreOutcome>()
    waiting.push({ batch, options, settle })
    // In the next turn, so that the partitions of one fetch come together.
    setImmediate(begin)
    try {
      const outcome = await promise
      failing.delete(partitionKey(batch))
      return outcome
    } catch (error) {
      failing.add(partitionKey(batch))
      throw error
    }
  }
}

/** Never rejects: each caller learns what became of its own batch. */
async function storeAll(deps: StoreDeps, joined: readonly Waiting[]): Promise<void> {
  if (joined.length > 1) {
    try {
      const outcomes = await storeTogether(deps, joined)
      for (const [index, { settle }] of joined.entries()) settle.resolve(outcomes[index]!)
      return
    } catch (error) {
      if (isDatabaseAway(error)) {
        for (const { settle } of joined) settle.reject(error)
        return
      }
      // One of them is to blame: each alone finds out.
    }
  }
  for (const { batch, options, settle } of joined) {
    await storeBatch(deps, batch, options).then(settle.resolve, settle.reject)
  }
}
