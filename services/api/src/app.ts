// The HTTP application: what surrounds every route. It does not listen, so tests call app.request().

import { isDatabaseAway } from 'dlq-core/runtime/database-errors.ts'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { anonymous, mayActAs } from './access.ts'
import { ApiError, sendError } from './api-error.ts'
import type { ApiDeps, ApiEnv, Route } from './define-route.ts'
import { observeRequests } from './observe-requests.ts'
import { openApiDocument } from './open-api.ts'
import { readRequest } from './read-request.ts'
import { findRoute, methodsAt } from './route-table.ts'
import { allRoutes } from './routes/all-routes.ts'

export type AppDeps = ApiDeps & {
  /** Ends the waits of retries, because the service stops. */
  stopping: AbortSignal
  version: string
}

const defaultMaxBodyBytes = 1024 * 1024

export function createApp({ stopping, version, ...deps }: AppDeps): Hono<ApiEnv> {
  const { log, registry } = deps
  const app = new Hono<ApiEnv>()

  app.use(observeRequests({ registry, log }))
  app.use(async (c, next) => {
    const maxSize = findRoute(allRoutes, c.req.method, c.req.path)?.maxBodyBytes ?? defaultMaxBodyBytes
    const tooLarge = new ApiError('SYS_DLQ_PAYLOAD_TOO_LARGE', `the body is larger than ${maxSize} bytes`)
    return bodyLimit({ maxSize, onError: (c) => sendError(c, tooLarge) })(c, next)
  })
  app.use(async (c, next) => {
    // Hono passes on what it cannot decode, so "%ff" would be looked up as the name "%ff".
    if (!isPercentEncodedUtf8(c.req.url))
      throw new ApiError('SYS_DLQ_VALIDATION_ERROR', 'the path is not percent-encoded UTF-8')
    await next()
  })
  app.use(async (c, next) => {
    c.set('access', anonymous)
    await next()
  })

  const document = JSON.stringify(openApiDocument(allRoutes, { version }))
  app.get('/openapi.json', (c) => c.body(document, 200, { 'content-type': 'application/json' }))
  for (const route of allRoutes) mount(app, route, { deps, stopping })

  app.notFound((c) => {
    const allowed = methodsAt(allRoutes, c.req.path)
    if (allowed.length === 0)
      return sendError(c, new ApiError('SYS_DLQ_NOT_FOUND', `no such endpoint: ${c.req.method} ${c.req.path}`))
    c.header('Allow', allowed.join(', '))
    const message = `${c.req.method} is not allowed here; allowed: ${allowed.join(', ')}`
    return sendError(c, new ApiError('SYS_DLQ_METHOD_NOT_ALLOWED', message))
  })
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

function mount(app: Hono<ApiEnv>, route: Route, { deps, stopping }: { deps: ApiDeps; stopping: AbortSignal }): void {
  app.on(route.method.toUpperCase(), route.path, async (c) => {
    const access = c.get('access')
    if (route.role !== null && !mayActAs(access.role, route.role))
      throw new ApiError('SYS_DLQ_FORBIDDEN', `this needs the role ${route.role}`)
    const read = await readRequest(c.req, route)
    const by = { actor: access.actor, role: access.role, request_id: c.get('requestId') }
    const signal = AbortSignal.any([c.req.raw.signal, stopping])
    return route.handle({ ...deps, ...read, c, access, by, signal })
  })
}

function isPercentEncodedUtf8(url: string): boolean {
  try {
    decodeURIComponent(new URL(url).pathname)
    return true
  } catch {
    return false
  }
}
