// Answers that are streams of server-sent events.

import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import type { Call } from '../http/define-route.ts'

/**
 * Answers with the events that `write` sends until it resolves. A fault of it ends the stream, and clients begin a new one.
 *
 * @throws {ApiError} 429 where too many streams are open
 */
export function streamEvents(
  { c, access, eventStreams, log }: Pick<Call, 'c' | 'access' | 'eventStreams' | 'log'>,
  write: (stream: SSEStreamingApi) => Promise<void>,
): Response {
  // Nobody would read it, nor end it: it would keep its place for ever.
  if (c.req.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' })
  const close = eventStreams.open(access.actor)
  return streamSSE(c, async (stream) => {
    try {
      await write(stream)
    } catch (error) {
      log.info({ error, requestId: c.get('requestId') }, 'event_stream_failed')
    } finally {
      close()
    }
  })
}
