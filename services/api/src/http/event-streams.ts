// How many streams of events may be open. Each holds a connection and asks the database every second, for as long as its
// client likes.

import { Gauge, type Registry } from 'prom-client'
import { ApiError } from './api-error.ts'

export type EventStreams = {
  /** Counts a stream of this sender. Call what it returns, once, when the stream ends. @throws {ApiError} 429 where there are too many */
  open(actor: string): () => void
}

const defaults = { maxPerActor: 10, maxInAll: 200 }

export function createEventStreams(registry: Registry, { maxPerActor, maxInAll } = defaults): EventStreams {
  const byActor = new Map<string, number>()
  let inAll = 0
  const open = new Gauge({
    name: 'dlq_api_event_streams',
    help: 'Streams of events that clients of this API hold open.',
    registers: [registry],
  })
  return {
    open(actor) {
      const own = byActor.get(actor) ?? 0
      if (own >= maxPerActor || inAll >= maxInAll) {
        const reason = own >= maxPerActor ? `${actor} holds ${own}` : `there are ${inAll}`
        throw new ApiError('SYS_DLQ_TOO_MANY_REQUESTS', `too many streams of events are open: ${reason}; close some`)
      }
      byActor.set(actor, own + 1)
      inAll += 1
      open.set(inAll)
      return () => {
        const left = (byActor.get(actor) ?? 1) - 1
        if (left > 0) byActor.set(actor, left)
        else byActor.delete(actor)
        inAll -= 1
        open.set(inAll)
      }
    },
  }
}
