// Topics that could not be written to, although Kafka answers. They are left alone for a while, so that they neither
// delay the others nor spend attempts.

export type Cooldown = {
  has(topic: string): boolean
  add(topic: string, forMs?: number): void
  /**
   * Kafka was asked for `tookMs`, in vain: many seconds of a slot, in which nothing else is sent. Each time in a row the topic
   * is left alone for twice as long. Several slots that ask at the same time fail once. Returns for how long.
   */
  failed(topic: string, tookMs: number): number
  /** Something was sent to it. */
  published(topic: string): void
  /** Whether the last that was sent to it failed, so that it may again. */
  isTroubled(topic: string): boolean
}

export const usualCooldownMs = 15_000
const longestCooldownMs = 120_000

export function createCooldown({ now }: { now: () => number }): Cooldown {
  const until = new Map<string, number>()
  /** How often in a row, and when last. */
  const failures = new Map<string, { inARow: number; at: number }>()
  const add = (topic: string, forMs = usualCooldownMs) => void until.set(topic, now() + forMs)
  return {
    has(topic) {
      const end = until.get(topic)
      if (end === undefined) return false
      if (now() < end) return true
      until.delete(topic)
      return false
    },
    add,
    failed(topic, tookMs) {
      const at = now()
      const last = failures.get(topic)
      const isAlone = last === undefined || last.at <= at - tookMs
      const inARow = (last?.inARow ?? 0) + (isAlone ? 1 : 0)
      failures.set(topic, { inARow, at })
      const forMs = Math.min(usualCooldownMs * 2 ** (inARow - 1), longestCooldownMs)
      add(topic, forMs)
      return forMs
    },
    published(topic) {
      if (failures.delete(topic)) until.delete(topic)
    },
    isTroubled: (topic) => failures.has(topic),
  }
}
