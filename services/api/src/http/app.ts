// The HTTP application: what surrounds every route. It does not listen, so tests call app.request().

import type { Database } from 'dlq-core/runtime/database.ts'
import { isDatabaseAway, isReplicaFault } from 'dlq-core/runtime/database-errors.ts'
import type { Tracing } from 'dlq-core/runtime/tracing.ts'
import type { MiddlewareHandler } from 'hono'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { cors } from 'hono/cors'
import { anonymous, mayActAs, roleNames } from './access.ts'
import { ApiError, sendError } from './api-error.ts'
import type { Authenticate } from './authenticate.ts'
import { authenticateWith, type BrokerTokens } from './broker-tokens.ts'
import type { ApiDeps, ApiEnv, Route } from './define-route.ts'
import { createFleetMetrics } from './fleet-metrics.ts'
import { linkMessage } from './link-message.ts'
import { observeRequests } from './observe-requests.ts'
import { openApiDocument } from './open-api.ts'
import { createRateLimit } from './rate-limit.ts'
import { readRequest } from './read-request.ts'
import { findRoute, methodsAt } from './route-table.ts'
import { allRoutes } from './routes/all-routes.ts'
import { withTimeLimit } from './with-time-limit.ts'

export type AppDeps = ApiDeps & {
  /** A copy of the database for lists, some moments behind it. */
  replica?: Database | undefined
  /** Ends the waits of retries, because the service stops. */
  stopping: AbortSignal
  version: string
  authenticate: Authenticate
  brokerTokens: BrokerTokens
  /** Requests per second and asker; not for those who need not authenticate. */
  rateLimit: number
  requestTimeoutMs: number
  slowRequestMs: number
  tracing: Tracing
  /** Origins of web pages that may use the API. */
  corsOrigins: readonly string[]
}

const defaultMaxBodyBytes = 1024 * 1024

const documentPath = '/openapi.json'
const maxUrlBytes = 8192

export function createApp(deps: AppDeps): Hono<ApiEnv> {
  const { sql, log, registry, tracing, version, authenticate, brokerTokens, rateLimit, slowRequestMs, corsOrigins } =
    deps
  const app = new Hono<ApiEnv>()
  const limit = createRateLimit(rateLimit)

  createFleetMetrics({ sql, registry, log })
  app.use(observeRequests({ registry, log, tracing, slowRequestMs }))
  app.use(securityHeaders)
  if (corsOrigins.length > 0) app.use(cors({ origin: [...corsOrigins], ...corsOptions }))
  app.use(async (c, next) => {
    const { pathname, search } = new URL(c.req.url)
    if (pathname.length + search.length > maxUrlBytes)
      throw new ApiError('SYS_DLQ_URI_TOO_LONG', `the path and query are longer than ${maxUrlBytes} bytes`)
    // Hono passes on what it cannot decode, so "%ff" would be looked up as the name "%ff".
    if (!isPercentEncodedUtf8(pathname))
      throw new ApiError('SYS_DLQ_VALIDATION_ERROR', 'the path is not percent-encoded UTF-8')
    await next()
  })
  app.use(async (c, next) => {
    const isPublic = c.req.path === documentPath || findRoute(allRoutes, c.req.method, c.req.path)?.role === null
    const asked = { path: c.req.path, header: (name: string) => c.req.header(name) }
    const access = isPublic
      ? anonymous
      : await authenticateWith(brokerTokens, asked, () => authenticate(c.req.header('authorization')))
    if (access !== anonymous) limit(access.actor)
    c.set('access', access)
    await next()
  })
  // After the token, so that nobody without one is listened to for long.
  app.use(async (c, next) => {
    const maxSize = findRoute(allRoutes, c.req.method, c.req.path)?.maxBodyBytes ?? defaultMaxBodyBytes
    // Made where it is needed: an error's stack trace costs as much as reading the query.
    const tooLarge = () => new ApiError('SYS_DLQ_PAYLOAD_TOO_LARGE', `the body is larger than ${maxSize} bytes`)
    return bodyLimit({ maxSize, onError: (c) => sendError(c, tooLarge()) })(c, next)
  })
  // Made when somebody asks for it: that takes longer than starting does.
  let document: string | undefined
  app.get(documentPath, (c) => {
    document ??= JSON.stringify(openApiDocument(allRoutes, { version }))
    return c.body(document, 200, { 'content-type': 'application/json' })
  })
  for (const route of allRoutes) mount(app, route, deps)

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

function mount(app: Hono<ApiEnv>, route: Route, deps: AppDeps): void {
  const limitMs = deps.requestTimeoutMs + (route.waits ? deps.retryWaitMs : 0)
  app.on(route.method.toUpperCase(), route.path, async (c) => {
    const access = c.get('access')
    if (route.role !== null && !mayActAs(access.role, route.role))
      throw new ApiError('SYS_DLQ_FORBIDDEN', `this needs the role ${roleNames[route.role]}`)
    const read = await readRequest(c.req, route)
    if (deps.tracing.isOn) await linkMessage(deps.sql, c.get('span'), c.req.param('id'))
    const by = { actor: access.actor, role: access.role, request_id: c.get('requestId') }
    const handle = (timeUp: AbortSignal, sql = deps.sql) => {
      const signal = AbortSignal.any([c.req.raw.signal, deps.stopping, timeUp])
      return route.handle({ ...deps, ...read, sql, c, access, by, signal })
    }
    const { replica } = deps
    if (replica && route.readsReplica) return withTimeLimit(limitMs, (timeUp) => fromReplica(handle, replica, timeUp))
    // What the platform asks has bounds of its own, and its own words for what is away.
    return route.role === null ? handle(deps.stopping) : withTimeLimit(limitMs, handle)
  })
}

/** A replica that is away, or had to break the reading off for what it replays, is nobody's fault: the database answers. */
async function fromReplica(
  handle: (timeUp: AbortSignal, sql?: Database) => Promise<Response>,
  replica: Database,
  timeUp: AbortSignal,
): Promise<Response> {
  try {
    return await handle(timeUp, replica)
  } catch (error) {
    if (isDatabaseAway(error) || isReplicaFault(error)) return handle(timeUp)
    throw error
  }
}

const securityHeaders: MiddlewareHandler = async (c, next) => {
  c.header('X-Content-Type-Options', 'nosniff')
  // Payloads are nobody's to keep on the way.
  c.header('Cache-Control', 'no-store')
  c.header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
  c.header('Referrer-Policy', 'no-referrer')
  await next()
}

const corsOptions = {
  allowMethods: ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE'],
  allowHeaders: ['Authorization', 'Content-Type', 'If-Match', 'Idempotency-Key', 'Prefer', 'X-Request-Id'],
  exposeHeaders: ['ETag', 'Location', 'Retry-After', 'X-Request-Id'],
  maxAge: 600,
}

function isPercentEncodedUtf8(pathname: string): boolean {
  try {
    decodeURIComponent(pathname)
    return true
  } catch {
    return false
  }
}
