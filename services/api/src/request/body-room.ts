// How many bytes of requests' large bodies are in memory at once, of one sender and of all. A body takes about four times its
// size, and more, while it is read, parsed and stored: sixty of four megabytes, which one token may send at a time, took 1.1 GB.
// A body waits for its room unread, so that its sender holds it.

import { ApiError } from '../http/api-error.ts'

/** More of one sender are refused. */
const maxWaiting = 100

const mebibyte = 1024 * 1024
/** A sender has the largest body and some more, and three of them have all. */
const defaults = { perActor: 8 * mebibyte, inAll: 24 * mebibyte }

export type TakenRoom = {
  /** The body has no more bytes than this. */
  shrink(bytes: number): void
  /** To be called once. */
  giveBack(): void
}

export type BodyRoom = {
  /**
   * Waits for room of so many bytes, behind earlier bodies of the sender. `patience` makes the signal that ends the wait.
   *
   * @throws {ApiError} 429 where too many of the sender's bodies wait, or the signal aborts before there is room
   */
  take(actor: string, bytes: number, patience: () => AbortSignal): Promise<TakenRoom>
}

type Waiting = { actor: string; bytes: number; begin: () => void }

export function createBodyRoom({ perActor, inAll } = defaults): BodyRoom {
  const byActor = new Map<string, number>()
  let taken = 0
  /** The oldest first. */
  const waiting = new Set<Waiting>()

  const ofActor = (actor: string) => byActor.get(actor) ?? 0

  const fits = (actor: string, bytes: number) => ofActor(actor) + bytes <= perActor && taken + bytes <= inAll

  function add(actor: string, bytes: number): void {
    const own = ofActor(actor) + bytes
    if (own > 0) byActor.set(actor, own)
    else byActor.delete(actor)
    taken += bytes
    if (bytes < 0) beginWaiting()
  }

  /** In their order. Who waits for room of their own holds up nobody else. */
  function beginWaiting(): void {
    const heldUp = new Set<string>()
    for (const one of waiting) {
      if (heldUp.has(one.actor)) continue
      if (fits(one.actor, one.bytes)) {
        waiting.delete(one)
        add(one.actor, one.bytes)
        one.begin()
      } else if (ofActor(one.actor) + one.bytes > perActor) heldUp.add(one.actor)
      else return
    }
  }

  function untilRoom(actor: string, bytes: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => {
      waiting.delete(one)
      reject(tooMany())
      // It may have held up others.
      beginWaiting()
    }
    const one: Waiting = {
      ...{ actor, bytes },
      begin() {
        signal.removeEventListener('abort', giveUp)
        resolve()
      },
    }
    const before = [...waiting].filter((other) => other.actor === actor)
    if (before.length >= maxWaiting || signal.aborted) throw tooMany()
    signal.addEventListener('abort', giveUp, { once: true })
    waiting.add(one)
    beginWaiting()
    return promise
  }

  return {
    async take(actor, bytes, patience) {
      if (waiting.size > 0 || !fits(actor, bytes)) await untilRoom(actor, bytes, patience())
      else add(actor, bytes)
      let own = bytes
      const shrink = (to: number) => {
        const given = own - to
        own = to
        if (given > 0) add(actor, -given)
      }
      return { shrink, giveBack: () => shrink(0) }
    },
  }
}

function tooMany(): ApiError {
  return new ApiError('SYS_DLQ_TOO_MANY_REQUESTS', 'too many large bodies are under way; try again in a moment')
}
