// Every request gets an id, and is counted and timed by its route. Slow ones are logged without their query, because a
// filter may hold parts of a payload.

import { randomBytes } from 'node:crypto'
import type { Header } from 'dlq-core/domain/record/record.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { noTracing, type Tracing, traceparentOf } from 'dlq-core/runtime/tracing.ts'
import type { MiddlewareHandler } from 'hono'
import { Counter, Histogram, type Registry } from 'prom-client'
import { routeLabel } from './declared-paths.ts'
import type { ApiEnv } from './define-route.ts'

export function newRequestId(): string {
  return `req_${randomBytes(6).toString('hex')}`
}

export function observeRequests({
  registry,
  log,
  tracing = noTracing,
  slowRequestMs,
}: {
  registry: Registry
  log: Log
  tracing?: Tracing
  slowRequestMs: number
}): MiddlewareHandler<ApiEnv> {
  const requests = new Counter({
    name: 'dlq_api_requests_total',
    help: 'HTTP requests by route and status.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  const seconds = new Histogram({
    name: 'dlq_api_request_seconds',
    help: 'Time to answer a request.',
    labelNames: ['method', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10],
    registers: [registry],
  })
  return async (c, next) => {
    const given = c.req.header('x-request-id')
    const requestId = given && /^[\w.-]{1,128}$/.test(given) ? given : newRequestId()
    c.set('requestId', requestId)
    c.header('X-Request-Id', requestId)
    const start = performance.now()
    const span = tracing.start({
      ...{ name: c.req.method, kind: 'server', parent: traceparentOf(traceHeaders(c.req.header('traceparent'))) },
      attributes: { 'http.request.method': c.req.method, 'dlq.request_id': requestId },
    })
    c.set('span', span)
    await next()
    const ms = performance.now() - start
    const [method, route, status] = [c.req.method, routeLabel(c), c.res.status]
    requests.inc({ method, route, status })
    seconds.observe({ method, route }, ms / 1000)
    span.rename(`${method} ${route}`)
    span.set({ 'http.route': route, 'http.response.status_code': status })
    span.end(status >= 500 ? `answered ${status}` : undefined)
    if (ms >= slowRequestMs)
      log.warn({ method, route, status, ms: Math.round(ms), requestId, actor: c.get('access')?.actor }, 'slow_request')
  }
}

function traceHeaders(traceparent: string | undefined): Header[] {
  return traceparent === undefined ? [] : [['traceparent', Buffer.from(traceparent)]]
}
