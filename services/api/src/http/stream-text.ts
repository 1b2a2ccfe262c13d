// Streams an answer piece by piece. A piece is produced only when the client has read the one before.

import type { Context } from 'hono'
import { streamed } from '../answers/compress-json.ts'

/** Pieces are gathered to this size, so that each write is worth its while. */
const chunkBytes = 64 * 1024

/** Answers with the pieces. When the client goes away, the generator is told by its `finally`; a fault cuts the answer off. */
export function streamText(c: Context, pieces: AsyncGenerator<string>, headers: Record<string, string>): Response {
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let chunk = ''
        while (chunk.length < chunkBytes) {
          const { done, value } = await pieces.next()
          if (done) {
            if (chunk !== '') controller.enqueue(encoder.encode(chunk))
            controller.close()
            return
          }
          chunk += value
        }
        controller.enqueue(encoder.encode(chunk))
      },
      async cancel() {
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 1 },
  )
  return c.body(stream, 200, { ...headers, [streamed]: 'no' })
}
