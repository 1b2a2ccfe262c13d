// Reads a request's body, bounded in bytes and in time: a sender that trickles a body in must not hold a connection for ever,
// and many bodies at a time must not take the memory of the process.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Context, MiddlewareHandler } from 'hono'
import { ApiError } from '../http/api-error.ts'
import type { ApiEnv } from '../http/define-route.ts'
import type { BodyRoom } from './body-room.ts'

/** Such a body waits for nobody: signing in, and nearly all that people and consumers send. */
export const smallBytes = 64 * 1024

type Bounds = { maxBytes: number; limitMs: number; room: BodyRoom }

/**
 * Sets `body` of the request. A large one has its room until it is answered.
 *
 * @throws {ApiError} 413 where it is larger than `maxBytes`, 408 where it has not come within `limitMs`, or others wait for
 * the room of a slow one, 429 where there is no room for it within this time
 */
export function readBody({ maxBytes, limitMs, room }: Bounds): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { method } = c.req
    if (method === 'GET' || method === 'HEAD') {
      c.set('body', Buffer.alloc(0))
      return next()
    }
    const said = saidBytes(c, maxBytes)
    if (said > maxBytes) throw tooLarge(maxBytes)
    const taken = said <= smallBytes ? null : await room.take(c.get('access').actor, said, patienceOf(c, limitMs))
    try {
      const body = await bodyOf(c, { maxBytes, limitMs, tooSlow: taken?.tooSlow })
      taken?.shrink(body.length)
      c.set('body', body)
      await next()
    } finally {
      taken?.giveBack()
    }
  }
}

/** Aborts when the sender is gone, or has waited as long as a body may take. */
function patienceOf(c: Context<ApiEnv>, limitMs: number): AbortSignal {
  return AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(limitMs)])
}

/** A body in pieces may be as large as it is allowed to be. */
function saidBytes(c: Context<ApiEnv>, maxBytes: number): number {
  const length = c.req.header('content-length')
  if (length !== undefined) return Number(length)
  return c.req.header('transfer-encoding') === undefined ? 0 : maxBytes
}

async function bodyOf(
  c: Context<ApiEnv>,
  { maxBytes, limitMs, tooSlow }: Omit<Bounds, 'room'> & { tooSlow: AbortSignal | undefined },
): Promise<Buffer> {
  const stream = c.req.raw.body
  if (stream === null) return Buffer.alloc(0)
  const reader = stream.getReader()
  const timer = new AbortController()
  const late = sleep(limitMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const)
  const ended = new Promise<'ended'>((resolve) => tooSlow?.addEventListener('abort', () => resolve('ended')))
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    for (;;) {
      const read = await Promise.race([reader.read(), late, ended])
      if (read === 'late') throw notCome(c, `the body has not come within ${limitMs / 1000} s`)
      if (read === 'ended') throw notCome(c, 'the body comes slowly, and other large bodies wait for its room')
      if (read.done) return Buffer.concat(pieces)
      // Where the length is not said, or not to be trusted.
      bytes += read.value.length
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      pieces.push(read.value)
    }
  } finally {
    timer.abort()
    // What is left is not read. It fails where the sender is gone already.
    reader.cancel().catch(() => {})
  }
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('SYS_DLQ_PAYLOAD_TOO_LARGE', `the body is larger than ${maxBytes} bytes`)
}

function notCome(c: Context<ApiEnv>, message: string): ApiError {
  // The rest of the body would be taken for the next request.
  c.header('Connection', 'close')
  return new ApiError('SYS_DLQ_REQUEST_TIMEOUT', message)
}
