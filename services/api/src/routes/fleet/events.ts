// What changes in the fleet, as a stream: clients need not ask for what has not changed.

import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import type { SSEStreamingApi } from 'hono/streaming'
import * as v from 'valibot'
import { actAs } from '../../access/access.ts'
import { streamEvents } from '../../answers/stream-events.ts'
import { requireExactCounts } from '../../fleet/exact-counts.ts'
import { type Call, defineRoute, type noFields } from '../../http/define-route.ts'
import { wholeNumber } from '../../request/request-schemas.ts'

const eventHeaders = v.object({
  'last-event-id': v.optional(
    v.pipe(v.string(), v.description('The id of the last event: the stream continues behind it where it can.')),
  ),
})

const eventQuery = v.strictObject({
  seconds: v.exactOptional(
    v.pipe(
      wholeNumber('seconds', { min: 0, max: 86_400 }),
      v.description(
        'Seconds after which the stream ends, but not before its first event. Without it, the stream ends with the token.',
      ),
    ),
  ),
})

type EventCall = Call<typeof noFields, typeof eventQuery, typeof eventHeaders>

export const eventRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/events',
      summary: 'What changes in the fleet, as a stream of events',
      description: [
        'An event `changed` at the beginning and whenever something changes, at most one a second. Its data is JSON:',
        '`at`; `counts`, the messages in each status; `groups` and `runs`, the ids of those that have changed (`more`: and',
        'others); and `missed`: the listener has just begun, or changes were lost, so it should read everything again. A',
        'stream that broke off continues by `Last-Event-ID`, for half a minute and on the same API process. It tells of the',
        'token’s topics alone, and ends with the token. Streams are limited as those of runs are.',
      ].join(' '),
      role: 'read',
      masks: 'none',
      query: eventQuery,
      headers: eventHeaders,
      answers: { 200: { description: 'Server-sent events.', types: ['text/event-stream'] } },
    },
    async (call) => {
      await requireExactCounts(call)
      return streamEvents(call, (stream) => writeChanges(call, stream))
    },
  ),
]

/** How often the sender's permission is looked at. */
const lookMs = 1000
/** How long a stream that should end waits for its first event; one that continues may have none. */
const firstWithinMs = 5000
/** Proxies cut off what is silent for longer. */
const silenceMs = 15_000

/** Until the sender's permission ends. */
async function writeChanges(call: EventCall, stream: SSEStreamingApi): Promise<void> {
  const { c, access, signal, fleetEvents, headers, query } = call
  const endsAt = monotonicNow() + (query.seconds ?? Number.POSITIVE_INFINITY) * 1000
  const permission = JSON.stringify(access)
  const listener = fleetEvents.listen({ scope: access.topics, after: headers['last-event-id'] })
  let begun = false
  let writtenAt = monotonicNow()
  try {
    while (!stream.aborted && !signal.aborted) {
      const now = await c
        .get('identifyAgain')()
        .catch(() => null)
      if (JSON.stringify(now && actAs(now, 'read')) !== permission) return
      const waitMs = Math.min(lookMs, Math.max(endsAt - monotonicNow(), 50))
      const news = await listener.next({ waitMs, signal })
      begun ||= news !== null
      if (news === null && monotonicNow() >= endsAt + (begun ? 0 : firstWithinMs)) return
      if (news === null && monotonicNow() - writtenAt < silenceMs) continue
      if (news === null) await stream.write(': nothing has changed\n\n')
      else {
        const { id, ...data } = news
        await stream.writeSSE({ event: 'changed', id, data: JSON.stringify(data) })
      }
      writtenAt = monotonicNow()
    }
  } finally {
    listener.close()
  }
}
