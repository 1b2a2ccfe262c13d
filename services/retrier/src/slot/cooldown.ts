// Topics that could not be written to, although Kafka answers. They are left alone for a while, so that they neither
// delay the others nor spend attempts.

import type { HeldTopic } from 'dlq-core/queries/retry/retriers.ts'

export type Cooldown = {
  has(topic: string): boolean
  add(topic: string, forMs?: number): void
  /** As `add`; the status says why, until something was sent to the topic. */
  cannotTake(topic: string, error: Error): void
  /**
   * Kafka was asked for `tookMs`, in vain: many seconds of a slot, in which nothing else is sent. Each time in a row the topic
   * is left alone for twice as long. Several slots that ask at the same time fail once. Returns for how long.
   */
  failed(topic: string, failure: { tookMs: number; error: Error }): number
  /** Something was sent to it. */
  published(topic: string): void
  /** Whether the last that was sent to it failed, so that it may again. */
  isTroubled(topic: string): boolean
  /** The topics that Kafka cannot take records for. */
  list(): HeldTopic[]
}

export const usualCooldownMs = 15_000
const longestCooldownMs = 120_000
/** When its time is over, a topic is tried again within this time; a topic that is not has nothing that waits. */
const triedWithinMs = 30_000

type Trouble = { reason: string; since: number }

export function createCooldown({ now }: { now: () => number }): Cooldown {
  const until = new Map<string, number>()
  /** How often in a row, and when last. */
  const failures = new Map<string, { inARow: number; at: number }>()
  const troubles = new Map<string, Trouble>()
  const add = (topic: string, forMs = usualCooldownMs) => void until.set(topic, now() + forMs)
  const note = (topic: string, { message }: Error) => {
    const since = troubles.get(topic)?.since ?? now()
    troubles.set(topic, { since, reason: `Kafka cannot take them now: ${message}` })
  }
  return {
    has: (topic) => now() < (until.get(topic) ?? 0),
    add,
    cannotTake(topic, error) {
      add(topic)
      note(topic, error)
    },
    failed(topic, { tookMs, error }) {
      const at = now()
      const last = failures.get(topic)
      const isAlone = last === undefined || last.at <= at - tookMs
      const inARow = (last?.inARow ?? 0) + (isAlone ? 1 : 0)
      failures.set(topic, { inARow, at })
      const forMs = Math.min(usualCooldownMs * 2 ** (inARow - 1), longestCooldownMs)
      add(topic, forMs)
      note(topic, error)
      return forMs
    },
    published(topic) {
      failures.delete(topic)
      if (troubles.delete(topic)) until.delete(topic)
    },
    isTroubled: (topic) => failures.has(topic),
    list() {
      for (const [topic, end] of until) {
        if (now() < end + triedWithinMs) continue
        until.delete(topic)
        troubles.delete(topic)
      }
      return [...troubles].map(([topic, { reason, since }]) => ({ topic, reason, since: new Date(since) }))
    },
  }
}
