// JSON above a kilobyte is sent as gzip to clients that accept it. Streams are not: a proxy or the compressor would hold
// back what has to arrive at once.

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { MiddlewareHandler } from 'hono'
import type { ApiEnv } from '../http/define-route.ts'

const minBytes = 1024
const compress = promisify(gzip)

/** Set by whoever answers with a stream. */
export const streamed = 'X-Accel-Buffering'

export const compressJson: MiddlewareHandler<ApiEnv> = async (c, next) => {
  await next()
  const { res } = c
  if (!res.headers.get('content-type')?.startsWith('application/json') || res.headers.has('content-encoding')) return
  c.header('Vary', 'Accept-Encoding', { append: true })
  if (res.body === null || res.headers.has(streamed) || !acceptsGzip(c.req.header('accept-encoding'))) return
  const bytes = Buffer.from(await res.arrayBuffer())
  const isSmall = bytes.length <= minBytes
  // A fast level: the answer is made once and sent once.
  const body = isSmall ? bytes : await compress(bytes, { level: 4 })
  const headers = new Headers(c.res.headers)
  headers.delete('Content-Length')
  if (!isSmall) headers.set('Content-Encoding', 'gzip')
  c.res = undefined
  c.res = new Response(new Uint8Array(body), { status: res.status, headers })
}

/** RFC 9110, section 12.5.3; "gzip;q=0" refuses it. */
function acceptsGzip(accepted: string | undefined): boolean {
  const codings = accepted?.split(',') ?? []
  // The wildcard means the codings that are not named.
  const gzip = codings.find((one) => /^\s*gzip\s*(;|$)/i.test(one)) ?? codings.find((one) => /^\s*\*/.test(one))
  return gzip !== undefined && !/;\s*q\s*=\s*0(\.0*)?\s*$/i.test(gzip)
}
