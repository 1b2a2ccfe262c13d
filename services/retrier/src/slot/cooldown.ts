// Topics that could not be written to, although Kafka answers. They are left alone for a while, so that they neither
// delay the others nor spend attempts.

export type Cooldown = {
  has(topic: string): boolean
  add(topic: string, forMs?: number): void
}

export const usualCooldownMs = 15_000

export function createCooldown({ now }: { now: () => number }): Cooldown {
  const until = new Map<string, number>()
  return {
    has(topic) {
      const end = until.get(topic)
      if (end === undefined) return false
      if (now() < end) return true
      until.delete(topic)
      return false
    },
    add(topic, forMs = usualCooldownMs) {
      until.set(topic, now() + forMs)
    },
  }
}
