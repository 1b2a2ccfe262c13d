// The answers of every service to its platform: /healthz (the process lives), /readyz (it can do its
// work now), /metrics (Prometheus).

import type { Server } from 'node:http'
import { serve } from '@hono/node-server'
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
}

/** close() lets requests finish and ends idle connections. */
export function listen(app: Pick<Hono, 'fetch'>, { host, port, keep_alive }: ListenOptions): Promise<ListeningServer> {
  return new Promise((resolve, reject) => {
    const serverOptions = { keepAliveTimeout: keep_alive }
    // Without a name Node takes every address as well, and those of IPv4 alone where the kernel has no IPv6.
    const hostname = host === '::' ? undefined : host
    const server = serve({ fetch: app.fetch, ...(hostname && { hostname }), port, serverOptions }, (address) => {
      resolve({
        url: httpUrl(host, address.port),
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
    }) as Server
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
