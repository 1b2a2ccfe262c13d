// Reads a request's body, bounded in bytes and in time: a sender that trickles a body in must not hold a connection for ever.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Context, MiddlewareHandler } from 'hono'
import { ApiError } from '../http/api-error.ts'
import type { ApiEnv } from '../http/define-route.ts'

/**
 * Sets `body` of the request.
 *
 * @throws {ApiError} 413 where it is larger than `maxBytes`, 408 where it has not come within `limitMs`
 */
export function readBody({ maxBytes, limitMs }: { maxBytes: number; limitMs: number }): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { method } = c.req
    c.set('body', method === 'GET' || method === 'HEAD' ? Buffer.alloc(0) : await bodyOf(c, { maxBytes, limitMs }))
    await next()
  }
}

async function bodyOf(
  c: Context<ApiEnv>,
  { maxBytes, limitMs }: { maxBytes: number; limitMs: number },
): Promise<Buffer> {
  const tooLarge = () => new ApiError('SYS_DLQ_PAYLOAD_TOO_LARGE', `the body is larger than ${maxBytes} bytes`)
  // Where the length is not said, or not to be trusted, the pieces are counted.
  if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw tooLarge()
  const stream = c.req.raw.body
  if (stream === null) return Buffer.alloc(0)
  const reader = stream.getReader()
  const timer = new AbortController()
  const late = sleep(limitMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const)
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    for (;;) {
      const read = await Promise.race([reader.read(), late])
      if (read === 'late') throw tooSlow(c, limitMs)
      if (read.done) return Buffer.concat(pieces)
      bytes += read.value.length
      if (bytes > maxBytes) throw tooLarge()
      pieces.push(read.value)
    }
  } finally {
    timer.abort()
    // What is left is not read. It fails where the sender is gone already.
    reader.cancel().catch(() => {})
  }
}

function tooSlow(c: Context<ApiEnv>, limitMs: number): ApiError {
  // The rest of the body would be taken for the next request.
  c.header('Connection', 'close')
  return new ApiError('SYS_DLQ_REQUEST_TIMEOUT', `the body has not come within ${limitMs / 1000} s`)
}
