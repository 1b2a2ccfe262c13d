// One at a time, and none for long before the others: whoever asks for many turns waits behind everybody who asks for one.

/** `own`: the owner has as many waiting as one may have. `all`: all together have. `late`: it was not reached in time. */
export class NoTurn extends Error {
  readonly reason: 'own' | 'all' | 'late'

  constructor(reason: NoTurn['reason']) {
    super(`no turn: ${reason}`)
    this.name = 'NoTurn'
    this.reason = reason
  }
}

export type TurnBounds = { readonly maxWaiting: number; readonly maxWaitingOfOne: number; readonly maxWaitMs: number }

export type Turns = {
  /** Resolves when it is the owner's turn, with the function that ends it. @throws {NoTurn}, or the signal's reason */
  take(owner: string, signal?: AbortSignal): Promise<() => void>
}

type Waiting = { begin: () => void }

export function createTurns({ maxWaiting, maxWaitingOfOne, maxWaitMs }: TurnBounds): Turns {
  /** In the order in which they are served; an owner who was served goes to the end. */
  const queues = new Map<string, Waiting[]>()
  let waiting = 0
  let isTaken = false

  function passOn(): void {
    const [first] = queues
    if (first === undefined) {
      isTaken = false
      return
    }
    const [owner, queue] = first
    const next = queue.shift()!
    queues.delete(owner)
    if (queue.length > 0) queues.set(owner, queue)
    waiting -= 1
    next.begin()
  }

  function leave(owner: string, one: Waiting): void {
    const queue = queues.get(owner)!
    queue.splice(queue.indexOf(one), 1)
    if (queue.length === 0) queues.delete(owner)
    waiting -= 1
  }

  function endOnce(): () => void {
    let isEnded = false
    return () => {
      if (!isEnded) passOn()
      isEnded = true
    }
  }

  return {
    async take(owner, signal) {
      signal?.throwIfAborted()
      if (!isTaken) {
        isTaken = true
        return endOnce()
      }
      const queue = queues.get(owner) ?? []
      if (queue.length >= maxWaitingOfOne) throw new NoTurn('own')
      if (waiting >= maxWaiting) throw new NoTurn('all')
      const turn = Promise.withResolvers<void>()
      const one: Waiting = { begin: turn.resolve }
      queues.set(owner, queue)
      queue.push(one)
      waiting += 1
      const giveUp = (reason: unknown) => {
        leave(owner, one)
        turn.reject(reason)
      }
      const timer = Number.isFinite(maxWaitMs) ? setTimeout(() => giveUp(new NoTurn('late')), maxWaitMs) : undefined
      const onAbort = () => giveUp(signal!.reason)
      signal?.addEventListener('abort', onAbort, { once: true })
      one.begin = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        turn.resolve()
      }
      try {
        await turn.promise
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      }
      return endOnce()
    },
  }
}
