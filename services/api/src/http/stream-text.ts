// Streams an answer piece by piece. A piece is produced only when the client has read the one before.

import type { ServerResponse } from 'node:http'
import type { Context } from 'hono'
import { streamed } from '../answers/compress-json.ts'
import { ApiError } from './api-error.ts'
import type { ApiEnv } from './define-route.ts'
import { createPlaces, type Places } from './places.ts'

/** Pieces are gathered to this size, so that each write is worth its while. */
const chunkBytes = 64 * 1024

/** Each holds megabytes of messages for as long as its client takes to read: a sender must not fill the memory with them. */
export function createStreams({ perActor = 20, inAll = 60 } = {}): Places {
  return createPlaces({ perActor, inAll })
}

/**
 * Answers with the pieces. When the client goes away, the generator is told by its `finally`; a fault cuts the answer off.
 * @throws {ApiError} 429 where too many such answers are under way
 */
export function streamText(
  c: Context<ApiEnv>,
  pieces: AsyncGenerator<string>,
  headers: Record<string, string>,
): Response {
  // Nobody would read it.
  if (c.req.method === 'HEAD') return c.body(null, 200, { ...headers, [streamed]: 'no' })
  const giveBack = takePlace(c)
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let chunk = ''
        while (chunk.length < chunkBytes) {
          const { done, value } = await pieces.next().catch((error: unknown) => {
            giveBack.atEnd()
            throw error
          })
          if (done) {
            if (chunk !== '') controller.enqueue(encoder.encode(chunk))
            controller.close()
            giveBack.atEnd()
            return
          }
          chunk += value
        }
        controller.enqueue(encoder.encode(chunk))
      },
      async cancel() {
        giveBack.atEnd()
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 1 },
  )
  return c.body(stream, 200, { ...headers, [streamed]: 'no' })
}

/**
 * Held until the answer has been sent, or its connection is gone: also where another answer was sent instead, because this
 * one came too late. Tests that do not listen have no connection, only the end of the stream.
 */
function takePlace(c: Context<ApiEnv>): { atEnd: () => void } {
  const place = c.get('streams')?.take(c.get('access').actor)
  if (place === undefined) return { atEnd: () => {} }
  if (!place.isTaken) {
    const whose = place.by === 'own' ? 'your other' : 'other'
    throw new ApiError(
      'SYS_DLQ_TOO_MANY_REQUESTS',
      `${whose} long answers are being read; try again when they have ended`,
    )
  }
  let isHeld = true
  const giveBack = () => {
    if (isHeld) place.giveBack()
    isHeld = false
  }
  const { outgoing } = (c.env ?? {}) as { outgoing?: ServerResponse }
  if (outgoing === undefined) return { atEnd: giveBack }
  if (outgoing.closed) giveBack()
  else outgoing.once('close', giveBack)
  return { atEnd: () => {} }
}
