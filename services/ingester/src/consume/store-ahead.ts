// Fetches while it stores. kafkajs asks a broker again when all batches of the broker's last answer were handled, so Kafka
// and this process stood still while PostgreSQL worked, and PostgreSQL while they did. Here a batch counts as handled as
// soon as its storing has begun, while few bytes are under way. Whether it may be stored is decided by the position in
// the database alone, so a batch that was fetched for nothing is only read again.

import { type PartitionPlace, partitionKey } from 'dlq-core/domain/record/record-place.ts'

export type StoreAhead = {
  /**
   * Begins `work` once all earlier work of the partition is over, and `bytes` fit beside what is under way. Resolves when
   * it has begun; where the bytes never fit, or are `null`, it begins alone, and resolves when it is over.
   *
   * @throws what this work, or earlier work of the partition whose caller had gone on, has thrown
   */
  begin(place: PartitionPlace, bytes: number | null, work: () => Promise<void>): Promise<void>
  /** Earlier work of the partition that is not over; null where there is none. */
  earlier(place: PartitionPlace): UnderWay | null
  /** Other partitions are ours now: what earlier work throws concerns nobody any more. */
  forget(): void
  /** Resolves when no work is under way, and none waits. */
  idle(): Promise<void>
}

/** `over` resolves when it is over, well or not. `since`: when it began, of `performance.now()`. */
export type UnderWay = { over: Promise<void>; since: number }

type Bounds = {
  maxBytes: number
  /** Work that takes longer may wait for a locked row. It leaves its room to others, up to `maxLateBytes` in all. */
  lateMs?: number
  maxLateBytes?: number
}

export function createStoreAhead({ maxBytes, lateMs = 2000, maxLateBytes = 0 }: Bounds): StoreAhead {
  /** The last work of each partition. A fault stays until somebody has learnt of it. */
  let last = new Map<string, Promise<void>>()
  const unsettled = new Set<Promise<void>>()
  /** Of these the last one of each partition. */
  const underWay = new Map<string, UnderWay>()
  let bytesUnderWay = 0
  /** Of work that has left its room. */
  let lateBytes = 0
  let less = Promise.withResolvers<void>()
  /** Who came first gets room first: else a large batch might wait for ever. */
  let turn: Promise<void> = Promise.resolve()

  async function takeRoom(bytes: number): Promise<void> {
    while (bytesUnderWay + bytes > maxBytes) await less.promise
    bytesUnderWay += bytes
  }

  function giveRoom(bytes: number): void {
    bytesUnderWay -= bytes
    less.resolve()
    less = Promise.withResolvers()
  }

  /** Of work that begins. Call what it returns when that is over. */
  function keepRoom(bytes: number): () => void {
    let isLate = false
    const timer = setTimeout(() => {
      if (lateBytes + bytes > maxLateBytes) return
      isLate = true
      lateBytes += bytes
      giveRoom(bytes)
    }, lateMs)
    return () => {
      clearTimeout(timer)
      if (isLate) lateBytes -= bytes
      else giveRoom(bytes)
    }
  }

  return {
    async begin(place, bytes, work) {
      const key = partitionKey(place)
      const isAlone = bytes === null || bytes > maxBytes
      const room = isAlone ? maxBytes : bytes
      const of = last
      const begun = (of.get(key) ?? Promise.resolve()).then(() => {
        turn = turn.then(() => takeRoom(room))
        return turn
      })
      const over = begun.then(() => {
        one.since = performance.now()
        return work().finally(keepRoom(room))
      })
      // Who comes next learns of a fault; until then it must not count as unhandled.
      const settled = over.catch(() => {}).finally(() => unsettled.delete(settled))
      const one: UnderWay = { over: settled, since: performance.now() }
      unsettled.add(settled)
      of.set(key, over)
      underWay.set(key, one)
      void settled.then(() => {
        if (underWay.get(key) === one) underWay.delete(key)
      })
      try {
        await (isAlone ? over : begun)
      } catch (error) {
        if (of.get(key) === over) of.delete(key)
        throw error
      }
    },
    earlier: (place) => underWay.get(partitionKey(place)) ?? null,
    forget() {
      last = new Map()
      underWay.clear()
    },
    async idle() {
      while (unsettled.size > 0) await Promise.all(unsettled)
    },
  }
}
