// Topics whose records are refused. A refusal by Kafka fails a whole transaction, and finding the refused record takes
// many, so one such topic could take the time of all others. Here its time is bounded: a topic whose records are
// refused in a row is held, and probed with a few messages; and Kafka's refusals of any topic take at most a part of
// the slots' time.

import type { HeldTopic } from 'dlq-core/queries/retry/retriers.ts'

export type Refused = {
  count: number
  reason: string
  /** Every record for the topic is refused, for example because the topic does not exist. */
  refusesTopic: boolean
}

export type TopicHolds = {
  /** How many messages for the topic a batch may have: none while it rests, a few while it is held. */
  mostOf(topic: string, batchSize: number): number
  /** For so long nothing is sent to the topic; 0 where something may be. */
  restMs(topic: string): number
  /** Kafka refused records of it lately, so its records do not go beside those of others. */
  isDoubtful(topic: string): boolean
  published(topic: string): void
  refused(topic: string, refused: Refused): void
  /** Kafka took this time to refuse records of the topic, failed transactions included. */
  spent(topic: string, costMs: number): void
  /**
   * Begins to look for the topic's refused records. False where another slot does: what one finds, all know. Until
   * the search ends, the topic rests for the others.
   */
  search(topic: string, searcher: object): boolean
  endSearches(searcher: object): void
  /** The topics that are held, those that are held for longest first. */
  list(): HeldTopic[]
}

/** A topic with this many refusals in a row, and no published record between them, is held. */
export const refusalsInARow = 8
/** A held topic gets this part of a batch, to see whether its records are still refused. */
const probeShare = 0.04
/** Where Kafka refuses, each refused record costs a transaction, and one tells whether the next may be taken. */
const doubtfulProbe = 1
/** Kafka's refusals of one topic take at most this part of the time … */
const costShare = 0.02
/** … beyond this, which is about what it takes to find eight refused records among 500. */
const freeCostMs = 500
const doubtfulMs = 60_000
/** A held topic is not in every batch: what is refused before it is sent costs a claim and a transaction to settle. */
const firstRestMs = 1000
const longestRestMs = 60_000
/** A search takes about as long. */
const searchRestMs = 1000
/** A plain bound: what is forgotten is learnt again. */
const maxRemembered = 10_000

type Entry = {
  inARow: number
  reason: string
  heldSince: number | null
  /** The time that refusals took and that is not made up for, as of `costAt`. */
  costMs: number
  costAt: number
  doubtfulUntil: number
  /** Grows only where the whole topic is refused: refusals cost little then, but each one takes an attempt. */
  probeMs: number
  probeAt: number
  searcher: object | null
}

export type TopicHoldsOptions = {
  now: () => number
  /** Called when a topic becomes held, and with a null `reason` when it is no longer. */
  onChange?: (topic: string, reason: string | null) => void
}

export function createTopicHolds({ now, onChange = () => {} }: TopicHoldsOptions): TopicHolds {
  const entries = new Map<string, Entry>()

  const costOf = ({ costMs, costAt }: Entry) => Math.max(0, costMs - (now() - costAt) * costShare)

  function restMs(topic: string): number {
    const entry = entries.get(topic)
    if (entry === undefined) return 0
    const searchMs = entry.searcher === null ? 0 : searchRestMs
    return Math.max(searchMs, (costOf(entry) - freeCostMs) / costShare, entry.probeAt - now())
  }

  function entryOf(topic: string): Entry {
    const known = entries.get(topic)
    if (known !== undefined) return known
    if (entries.size >= maxRemembered) entries.clear()
    const times = { heldSince: null, costAt: now(), doubtfulUntil: 0, probeAt: 0, searcher: null }
    const entry: Entry = { inARow: 0, reason: '', costMs: 0, probeMs: 0, ...times }
    entries.set(topic, entry)
    return entry
  }

  return {
    restMs,
    mostOf(topic, batchSize) {
      const entry = entries.get(topic)
      if (entry === undefined) return batchSize
      if (restMs(topic) > 0) return 0
      if (entry.heldSince === null) return batchSize
      const few = Math.max(1, Math.floor(batchSize * probeShare))
      return now() < entry.doubtfulUntil ? Math.min(few, doubtfulProbe) : few
    },
    isDoubtful(topic) {
      const entry = entries.get(topic)
      return entry !== undefined && now() < entry.doubtfulUntil
    },
    published(topic) {
      const entry = entries.get(topic)
      if (entry === undefined) return
      const wasHeld = entry.heldSince !== null
      if (costOf(entry) === 0 && now() >= entry.doubtfulUntil && entry.searcher === null) entries.delete(topic)
      else Object.assign(entry, { inARow: 0, heldSince: null, probeMs: 0, probeAt: 0 })
      if (wasHeld) onChange(topic, null)
    },
    spent(topic, costMs) {
      const entry = entryOf(topic)
      Object.assign(entry, { costMs: costOf(entry) + costMs, costAt: now(), doubtfulUntil: now() + doubtfulMs })
    },
    search(topic, searcher) {
      const entry = entryOf(topic)
      entry.searcher ??= searcher
      return entry.searcher === searcher
    },
    endSearches(searcher) {
      for (const entry of entries.values()) if (entry.searcher === searcher) entry.searcher = null
    },
    refused(topic, { count, reason, refusesTopic }) {
      const entry = entryOf(topic)
      const isNew = entry.heldSince === null
      Object.assign(entry, { reason, inARow: entry.inARow + count })
      if (entry.inARow < refusalsInARow) return
      entry.heldSince ??= now()
      entry.probeMs = refusesTopic ? Math.min(Math.max(firstRestMs, entry.probeMs * 2), longestRestMs) : firstRestMs
      entry.probeAt = now() + entry.probeMs
      if (isNew) onChange(topic, reason)
    },
    list() {
      return [...entries]
        .flatMap(([topic, { reason, heldSince }]) =>
          heldSince === null ? [] : [{ topic, reason, since: new Date(heldSince) }],
        )
        .toSorted((a, b) => a.since.getTime() - b.since.getTime())
    },
  }
}
