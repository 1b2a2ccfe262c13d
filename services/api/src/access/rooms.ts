// Room of a bounded size, for requests or for bytes. Who finds it taken waits behind those who came before, so that a large
// wish comes to its turn, too.

import { ApiError } from '../http/api-error.ts'

/** More of one sender are refused. */
const mostWaiting = 100

export type Room = {
  /**
   * Waits for so much room.
   *
   * @throws {ApiError} 429 where too many wait, or the signal aborts before there is room
   */
  take(amount: number, signal: AbortSignal): Promise<void>
  giveBack(amount: number): void
}

/** `what` completes "too many … are under way". `onEmpty` is called when all is given back. */
export type RoomBounds = { size: number; what: string; maxWaiting?: number; onEmpty?: () => void }

export function createRoom({ size, what, maxWaiting = mostWaiting, onEmpty }: RoomBounds): Room {
  let taken = 0
  /** The oldest first. */
  const waiting = new Set<{ amount: number; begin: () => void }>()

  function beginWaiting(): void {
    for (const one of waiting) {
      if (taken + one.amount > size) return
      waiting.delete(one)
      taken += one.amount
      one.begin()
    }
  }

  function untilRoom(amount: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => {
      waiting.delete(one)
      reject(tooMany(what))
      // It may have held up smaller ones.
      beginWaiting()
    }
    const begin = () => {
      signal.removeEventListener('abort', giveUp)
      resolve()
    }
    const one = { amount, begin }
    waiting.add(one)
    signal.addEventListener('abort', giveUp, { once: true })
    return promise
  }

  return {
    async take(amount, signal) {
      if (waiting.size === 0 && taken + amount <= size) taken += amount
      else if (signal.aborted || waiting.size >= maxWaiting) throw tooMany(what)
      else await untilRoom(amount, signal)
    },
    giveBack(amount) {
      taken -= amount
      beginWaiting()
      if (taken === 0) onEmpty?.()
    },
  }
}

/** A room of its own for each sender. */
export function createRooms(bounds: Pick<RoomBounds, 'size' | 'what'>): (actor: string) => Room {
  const rooms = new Map<string, Room>()
  return (actor) => {
    const room = rooms.get(actor) ?? createRoom({ ...bounds, onEmpty: () => rooms.delete(actor) })
    rooms.set(actor, room)
    return room
  }
}

function tooMany(what: string): ApiError {
  return new ApiError('SYS_DLQ_TOO_MANY_REQUESTS', `too many ${what} are under way; try again in a moment`)
}
