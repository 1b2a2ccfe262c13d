// How many requests of one sender are worked on at once, in this process. The others wait for their turn, so that who asks a
// lot at a time waits behind himself: the database's connections are left to everybody.

import { createRooms } from './rooms.ts'

export type Turns = <T>(actor: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>

/**
 * The returned function does the work when it is its turn. @throws {ApiError} 429 where too many of the sender's requests
 * wait, or the signal aborts before the turn comes
 */
export function createTurns({ perActor }: { perActor: number }): Turns {
  const roomOf = createRooms({ size: perActor, what: 'of your requests' })
  return async (actor, signal, work) => {
    const room = roomOf(actor)
    await room.take(1, signal)
    try {
      return await work()
    } finally {
      room.giveBack(1)
    }
  }
}
