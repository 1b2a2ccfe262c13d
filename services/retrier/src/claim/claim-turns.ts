// The slots of a process claim one after the other. Slots that begin together stay together otherwise: all of them claim,
// so PostgreSQL has work for several cores while this process has none, and then all of them wait for this process's one
// thread. One after the other, one claims while another publishes, and a third settles.

export type ClaimTurns = {
  /** Runs the claim when those before it have ended, however they ended. */
  take<T>(claim: () => Promise<T>): Promise<T>
}

export function createClaimTurns(): ClaimTurns {
  let last: Promise<unknown> = Promise.resolve()
  return {
    take(claim) {
      const mine = last.then(claim)
      last = mine.catch(() => {})
      return mine
    },
  }
}
