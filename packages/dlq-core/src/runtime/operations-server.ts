// The answers of every service to its platform: /healthz (the process lives), /readyz (it can do its
// work now), /metrics (Prometheus).

import { createServer, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { Hono } from 'hono'
import type { Registry } from 'prom-client'
import { httpUrl } from './outgoing/http-url.ts'
import type { Readiness } from './readiness.ts'

export type OperationsDeps = { registry: Registry; readiness: Readiness }

/** The three routes, served alone or beside others. */
export function operationsRoutes({ registry, readiness }: OperationsDeps): Hono {
  const app = new Hono()
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', async (c) => {
    const { ready, checks } = await readiness.check()
    return c.json({ status: ready ? 'ready' : 'unavailable', checks }, ready ? 200 : 503)
  })
  app.get('/metrics', async (c) => c.text(await registry.metrics(), 200, { 'content-type': registry.contentType }))
  return app
}

/** With more connections than this, each answer ends its own: one that is idle takes 11 KB. */
const manyConnections = 1000

export type ListeningServer = { url: string; close(): Promise<void> }

export type ListenOptions = {
  /** `::` is every address of the machine, of IPv6 and IPv4. */
  host: string
  /** 0 takes a free one. */
  port: number
  /**
   * How long a connection may be idle, in milliseconds. Proxies send requests by connections that they have; if the one
   * that they take is closed in this moment, they answer 502. So it is the proxy who should end them first, and Node's
   * five seconds are too short for any.
   */
  keep_alive: number
  /** Answers what is no request that the app could see. Without it, Node answers with a status alone. */
  refuseUnread?: (unread: Unread) => UnreadAnswer
}

/** Why the app never saw a request. `too-long`: with Node's bound for the first line and the headers. */
export type Unread = 'malformed' | 'too-long' | 'late' | 'failed'
export type UnreadAnswer = { status: number; headers: Readonly<Record<string, string>>; body: string }

/** close() lets requests finish and ends idle connections. */
export function listen(app: Pick<Hono, 'fetch'>, options: ListenOptions): Promise<ListeningServer> {
  const { host, port } = options
  return new Promise((resolve, reject) => {
    // Without a name Node takes every address as well, and those of IPv4 alone where the kernel has no IPv6.
    const hostname = host === '::' ? undefined : host
    const server = createServerOf(app, options, hostname)
    server.listen(port, hostname, () => {
      resolve({
        url: httpUrl(host, (server.address() as AddressInfo).port),
        close: () =>
          new Promise((resolve) => {
            // A connection whose last request still runs is idle only afterwards, so this asks until all are gone.
            const closing = setInterval(() => server.closeIdleConnections(), 50)
            server.close(() => {
              clearInterval(closing)
              resolve()
            })
            server.closeIdleConnections()
          }),
      })
    })
    server.on('error', reject)
    endWhereMany(server)
  })
}

function endWhereMany(server: Server): void {
  let open = 0
  server.on('connection', (socket) => {
    open += 1
    socket.once('close', () => (open -= 1))
  })
  server.prependListener('request', (_, response) => {
    if (open > manyConnections) response.setHeader('connection', 'close')
  })
}

function createServerOf(
  app: Pick<Hono, 'fetch'>,
  { keep_alive, refuseUnread }: ListenOptions,
  hostname?: string,
): Server {
  const settings = { keepAliveTimeout: keep_alive }
  const named = hostname === undefined ? {} : { hostname }
  if (!refuseUnread) return createServer(settings, getRequestListener(app.fetch, named))
  const answer = getRequestListener(app.fetch, {
    ...named,
    errorHandler(error) {
      const { body, ...init } = refuseUnread(error instanceof RequestError ? 'malformed' : 'failed')
      return new Response(body, init)
    },
  })
  // Node would answer a request without a host with the status alone.
  const server = createServer({ ...settings, requireHostHeader: false }, (request, response) => {
    if (request.headers.host !== undefined || request.httpVersion === '1.0') return answer(request, response)
    const { status, headers, body } = refuseUnread('malformed')
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' }).end(body)
  })
  // The header Expect may be ignored (RFC 9110, 10.1.1), where Node would answer 417.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  refuseFaults(server, refuseUnread)
  return server
}

/** How long the sender has to read the answer, before the connection is taken from it. */
const lingerMs = 1000

function refuseFaults(server: Server, refuseUnread: NonNullable<ListenOptions['refuseUnread']>): void {
  const lastOf = new WeakMap<Socket, ServerResponse>()
  const refused = new WeakSet<Socket>()
  server.prependListener('request', ({ socket }, response) => lastOf.set(socket, response))
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket
    // The rest of what was refused is a fault again.
    if (refused.has(socket)) return
    refused.add(socket)
    const last = lastOf.get(socket)
    // An answer that has begun, or is still to come, must not be mixed with this one.
    const isTaken = last !== undefined && !last.writableEnded && (last.headersSent || last.req.complete)
    if (code === 'ECONNRESET' || !socket.writable || isTaken) return socket.destroy()
    const { status, headers, body } = refuseUnread(unreadOf(code))
    const all = {
      ...headers,
      Date: new Date().toUTCString(),
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
    }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
    // Closed with bytes that nobody has read, the connection would be reset, and the answer lost.
    socket.resume().on('end', () => socket.destroy())
    setTimeout(() => socket.destroy(), lingerMs).unref()
  })
}

function unreadOf(code: string): Unread {
  if (code === 'HPE_HEADER_OVERFLOW') return 'too-long'
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'late' : 'malformed'
}
