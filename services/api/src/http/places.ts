// How many long things a sender has under way at once, and all senders together, in this process.

export type Places = {
  /** Takes a place for this sender; give it back, once, with what it returns. Otherwise: who holds them all. */
  take(actor: string): { isTaken: true; giveBack: () => void } | { isTaken: false; by: 'own' | 'all' }
  readonly taken: number
}

export function createPlaces({ perActor, inAll }: { perActor: number; inAll: number }): Places {
  const byActor = new Map<string, number>()
  let taken = 0
  return {
    take(actor) {
      const own = byActor.get(actor) ?? 0
      if (own >= perActor) return { isTaken: false, by: 'own' }
      if (taken >= inAll) return { isTaken: false, by: 'all' }
      byActor.set(actor, own + 1)
      taken += 1
      const giveBack = () => {
        const left = (byActor.get(actor) ?? 1) - 1
        if (left > 0) byActor.set(actor, left)
        else byActor.delete(actor)
        taken -= 1
      }
      return { isTaken: true, giveBack }
    },
    get taken() {
      return taken
    },
  }
}
