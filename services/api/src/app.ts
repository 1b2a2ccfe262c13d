// The HTTP application: what surrounds every route. It does not listen, so tests call app.request().

import { randomBytes } from 'node:crypto'
import { isDatabaseAway } from 'dlq-core/runtime/database-errors.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { operationsRoutes } from 'dlq-core/runtime/operations-server.ts'
import type { Readiness } from 'dlq-core/runtime/readiness.ts'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { routePath } from 'hono/route'
import { Counter, Histogram, type Registry } from 'prom-client'
import { ApiError, sendError } from './api-error.ts'
import { type DlqRoutesDeps, dlqRoutes } from './routes/dlq.ts'

export type ApiEnv = { Variables: { requestId: string } }

export type AppDeps = { log: Log; registry: Registry; readiness: Readiness } & DlqRoutesDeps

const maxBodyBytes = 1024 * 1024

export function createApp({ log, registry, readiness, ...deps }: AppDeps): Hono<ApiEnv> {
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
  const app = new Hono<ApiEnv>()

  app.use(async (c, next) => {
    const given = c.req.header('x-request-id')
    const requestId = given && /^[\w.-]{1,128}$/.test(given) ? given : `req_${randomBytes(6).toString('hex')}`
    c.set('requestId', requestId)
    c.header('X-Request-Id', requestId)
    const start = performance.now()
    await next()
    const route = routePath(c, -1)
    requests.inc({ method: c.req.method, route, status: c.res.status })
    seconds.observe({ method: c.req.method, route }, (performance.now() - start) / 1000)
  })
  app.use(
    bodyLimit({
      maxSize: maxBodyBytes,
      onError: (c) =>
        sendError(c, new ApiError('SYS_DLQ_PAYLOAD_TOO_LARGE', `the body is larger than ${maxBodyBytes} bytes`)),
    }),
  )
  app.use(async (c, next) => {
    // Hono passes on what it cannot decode, so "%ff" would be looked up as the name "%ff".
    if (!isPercentEncodedUtf8(c.req.url))
      throw new ApiError('SYS_DLQ_VALIDATION_ERROR', 'the path is not percent-encoded UTF-8')
    await next()
  })
  app.route('/', operationsRoutes({ registry, readiness }))
  app.route('/api/v1/dlq', dlqRoutes(deps))

  app.notFound((c) =>
    sendError(c, new ApiError('SYS_DLQ_NOT_FOUND', `no such endpoint: ${c.req.method} ${c.req.path}`)),
  )
  app.onError((error, c) => {
    if (error instanceof ApiError) return sendError(c, error)
    if (isDatabaseAway(error)) {
      log.warn({ error, requestId: c.get('requestId') }, 'database_away')
      return sendError(c, new ApiError('SYS_DLQ_UNAVAILABLE', 'the database does not answer; try again in a moment'))
    }
    log.error({ error, requestId: c.get('requestId'), method: c.req.method, path: c.req.path }, 'request_failed')
    return sendError(
      c,
      new ApiError('SYS_DLQ_INTERNAL_ERROR', 'internal error; the log has the details under this request id'),
    )
  })
  return app
}

function isPercentEncodedUtf8(url: string): boolean {
  try {
    decodeURIComponent(new URL(url).pathname)
    return true
  } catch {
    return false
  }
}
