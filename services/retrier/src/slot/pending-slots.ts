// Slots whose last transaction Kafka cannot end yet, because a partition that it wrote to has no leader. This process
// leaves each alone for a while and goes on with others; what the slot holds stays claimed until the outcome is known.

export type PendingSlots = {
  add(slot: number): void
  list(): number[]
}

/** A look takes ten seconds of a slot or of the sweep. */
const leaveAloneMs = 60_000

export function createPendingSlots({ now }: { now: () => number }): PendingSlots {
  const until = new Map<number, number>()
  return {
    add: (slot) => void until.set(slot, now() + leaveAloneMs),
    list() {
      for (const [slot, end] of until) if (end <= now()) until.delete(slot)
      return [...until.keys()]
    },
  }
}
