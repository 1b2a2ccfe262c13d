// The answers of every service to its platform: /healthz (the process lives), /readyz (it can do its
// work now), /metrics (Prometheus).

import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import type { Registry } from 'prom-client'
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

export type ListeningServer = { url: string; close(): Promise<void> }

/** Listens; port 0 takes a free one. close() lets requests finish and ends idle connections. */
export function listen(
  app: Pick<Hono, 'fetch'>,
  { host, port }: { host: string; port: number },
): Promise<ListeningServer> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: host, port }, (address) => {
      resolve({
        url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
        close: () =>
          new Promise((resolve) => {
            // A connection whose last request still runs is idle only afterwards, so this asks until all are gone.
            const closing = setInterval(() => {
              if ('closeIdleConnections' in server) server.closeIdleConnections()
            }, 50)
            server.close(() => {
              clearInterval(closing)
              resolve()
            })
            if ('closeIdleConnections' in server) server.closeIdleConnections()
          }),
      })
    })
    server.on('error', reject)
  })
}
