// How many streams of events may be open. Each holds a connection and asks the database every second, for as long as its
// client likes.

import { Gauge, type Registry } from 'prom-client'
import { ApiError } from './api-error.ts'
import { createPlaces } from './places.ts'

export type EventStreams = {
  /** Counts a stream of this sender. Call what it returns, once, when the stream ends. @throws {ApiError} 429 where there are too many */
  open(actor: string): () => void
}

const defaults = { maxPerActor: 10, maxInAll: 200 }

export function createEventStreams(registry: Registry, { maxPerActor, maxInAll } = defaults): EventStreams {
  const places = createPlaces({ perActor: maxPerActor, inAll: maxInAll })
  const open = new Gauge({
    name: 'dlq_api_event_streams',
    help: 'Streams of events that clients of this API hold open.',
    registers: [registry],
  })
  return {
    open(actor) {
      const place = places.take(actor)
      if (!place.isTaken) {
        const reason = place.by === 'own' ? `${actor} holds ${maxPerActor}` : `there are ${maxInAll}`
        throw new ApiError('SYS_DLQ_TOO_MANY_REQUESTS', `too many streams of events are open: ${reason}; close some`)
      }
      open.set(places.taken)
      return () => {
        place.giveBack()
        open.set(places.taken)
      }
    },
  }
}
