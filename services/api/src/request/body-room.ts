// How many bytes of requests' large bodies are in memory at once, of one sender and of all. A body takes about four times its
// size, and more, while it is read, parsed and stored: sixty of four megabytes, which one token may send at a time, took 1.1 GB.
// A body waits for its room unread, so that its sender holds it.

import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import { createRoom, createRooms } from '../access/rooms.ts'

const mebibyte = 1024 * 1024
/** A sender has the largest body and some more, and three of them have all. */
const defaults = { perActor: 8 * mebibyte, inAll: 24 * mebibyte, slowMs: 5000 }
const what = 'large bodies'

export type TakenRoom = {
  /** Aborts where another body waits for the room of all, and this one has not come for `slowMs`. */
  readonly tooSlow: AbortSignal
  /** The body has come, and has no more bytes than this. */
  shrink(bytes: number): void
  /** To be called once. */
  giveBack(): void
}

export type BodyRoom = {
  /**
   * Waits until there is room for the bytes. Earlier bodies of the sender come first, then earlier ones of all senders.
   *
   * @throws {ApiError} 429 where too many of the sender's bodies wait, or the signal aborts before there is room
   */
  take(actor: string, bytes: number, signal: AbortSignal): Promise<TakenRoom>
}

export function createBodyRoom({ perActor, inAll, slowMs } = defaults): BodyRoom {
  const roomOf = createRooms({ size: perActor, what })
  // As many wait for it as the rooms of their senders hold.
  const common = createRoom({ size: inAll, what, maxWaiting: Number.POSITIVE_INFINITY })
  /** Bodies that are being read, and since when. */
  const coming = new Map<AbortController, number>()
  // Else a few senders that trickle their bodies in would keep those of all others waiting.
  const endSlow = () => {
    for (const [body, since] of coming) if (monotonicNow() - since >= slowMs) body.abort()
  }
  return {
    async take(actor, bytes, signal) {
      const room = roomOf(actor)
      await room.take(bytes, signal)
      const waiting = setInterval(endSlow, slowMs)
      await common
        .take(bytes, signal)
        .catch((error) => {
          room.giveBack(bytes)
          throw error
        })
        .finally(() => clearInterval(waiting))
      const body = new AbortController()
      coming.set(body, monotonicNow())
      let own = bytes
      const shrink = (to: number) => {
        coming.delete(body)
        const given = own - to
        own = to
        if (given === 0) return
        room.giveBack(given)
        common.giveBack(given)
      }
      return { tooSlow: body.signal, shrink, giveBack: () => shrink(0) }
    },
  }
}
