// How many requests of one sender are worked on at once, in this process. The others wait for their turn, so that who asks a
// lot at a time waits behind himself: the database's connections are left to everybody.

import { ApiError } from '../http/api-error.ts'

/** More of one sender are refused. */
const maxWaiting = 100

export type Turns = <T>(actor: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>

type Sender = { working: number; waiting: Set<() => void> }

/**
 * The returned function does the work when it is its turn. @throws {ApiError} 429 where too many of the sender's requests
 * wait, or the signal aborts before the turn comes
 */
export function createTurns({ perActor }: { perActor: number }): Turns {
  const senders = new Map<string, Sender>()

  function untilFree(sender: Sender, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const begin = () => {
      signal.removeEventListener('abort', giveUp)
      resolve()
    }
    const giveUp = () => {
      sender.waiting.delete(begin)
      reject(tooMany())
    }
    sender.waiting.add(begin)
    signal.addEventListener('abort', giveUp, { once: true })
    return promise
  }

  return async (actor, signal, work) => {
    const sender = senders.get(actor) ?? { working: 0, waiting: new Set() }
    senders.set(actor, sender)
    if (sender.working < perActor) sender.working += 1
    else if (signal.aborted || sender.waiting.size >= maxWaiting) throw tooMany()
    // Whoever ends passes the place on.
    else await untilFree(sender, signal)
    try {
      return await work()
    } finally {
      const [next] = sender.waiting
      if (next !== undefined) {
        sender.waiting.delete(next)
        next()
      } else {
        sender.working -= 1
        if (sender.working === 0) senders.delete(actor)
      }
    }
  }
}

function tooMany(): ApiError {
  return new ApiError('SYS_DLQ_TOO_MANY_REQUESTS', 'too many of your requests are under way; try again in a moment')
}
