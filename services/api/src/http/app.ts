// The HTTP application: it mounts every declared route, each behind its own checks. It does not listen, so tests call app.request().

import { takesNoChanges } from 'dlq-core/queries/ping.ts'
import { AsideFault } from 'dlq-core/runtime/aside/aside.ts'
import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import {
  isDatabaseAway,
  isDiskFull,
  isFull,
  isLocked,
  isLoginRefused,
  isReadOnly,
  isReplicaFault,
  isSchemaOlder,
  isTooSlow,
  wantsMigrations,
} from 'dlq-core/runtime/database/database-errors.ts'
import type { Tracing } from 'dlq-core/runtime/tracing.ts'
import { type Context, type Handler, Hono, type MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { actAs, anonymous, roleNames } from '../access/access.ts'
import { brokerHeaders } from '../access/broker-tokens.ts'
import { type BrowserGuardDeps, createBrowserGuard } from '../access/browser-guard.ts'
import { createIdentify, type IdentifyDeps, letAnybodyIn } from '../access/identify.ts'
import { createTurns, type Turns } from '../access/turns.ts'
import { compressJson } from '../answers/compress-json.ts'
import { revalidate } from '../answers/revalidate.ts'
import { securityHeaders } from '../answers/security-headers.ts'
import { type ServedConsole, serveConsole } from '../console/serve-console.ts'
import { serveSignIn } from '../console/serve-sign-in.ts'
import { createFleetEvents } from '../fleet/fleet-events.ts'
import { createFleetMetrics } from '../fleet/fleet-metrics.ts'
import { sightOf } from '../masks/sight.ts'
import { readUnmask, recordUnmasked } from '../masks/unmask.ts'
import { auditRead } from '../messages/audit-read.ts'
import { createBodyRoom } from '../request/body-room.ts'
import { readBody, smallBytes } from '../request/read-body.ts'
import { readRequest } from '../request/read-request.ts'
import { allRoutes } from '../routes/all-routes.ts'
import { createSamplePlaces } from '../routes/discovery/candidates.ts'
import type { Oidc } from '../session/oidc.ts'
import { ApiError, sendError } from './api-error.ts'
import { allowedMethods } from './declared-paths.ts'
import type { ApiDeps, ApiEnv, Route } from './define-route.ts'
import { createEventStreams } from './event-streams.ts'
import { linkMessage } from './link-message.ts'
import { observeRequests } from './observe-requests.ts'
import { openApiDocument } from './open-api.ts'
import { createStreams } from './stream-text.ts'
import { withTimeLimit } from './with-time-limit.ts'

export type AppDeps = Omit<ApiDeps, 'eventStreams' | 'fleetEvents' | 'samples'> &
  IdentifyDeps &
  BrowserGuardDeps & {
    /** A replica of the database for lists. It may be some moments behind. */
    replica?: Database | undefined
    /** Absent: the API serves no console. */
    console?: ServedConsole | undefined
    /** Null or absent: nobody signs in at an identity provider. */
    oidc?: Oidc | null
    /** Aborted when the service stops: retries stop waiting for their outcome. */
    stopping: AbortSignal
    version: string
    requestTimeoutMs: number
    /** Whether requests that are shown payloads are audited. */
    auditReads: Config['audit']['reads']
    /** Whether a request with unmask=true must say why. */
    unmaskReason: Config['audit']['unmask_reason']
    slowRequestMs: number
    tracing: Tracing
  }

const defaultMaxBodyBytes = 1024 * 1024

const documentPath = '/openapi.json'
const maxUrlBytes = 8192

export function createApp(given: AppDeps): Hono<ApiEnv> {
  const deps = {
    ...{ ...given, eventStreams: createEventStreams(given.registry), fleetEvents: createFleetEvents(given) },
    samples: createSamplePlaces(),
    // Two senders that ask without a pause leave places in the pool between their statements.
    turns: createTurns({ perActor: Math.max(2, Math.floor(given.sql.options.max / 2)) }),
    waitingTurns: createTurns({ perActor: maxRetriesAwaited }),
  }
  const { sql, log, registry, tracing, version, requestTimeoutMs, slowRequestMs, corsOrigins } = deps
  const app = new Hono<ApiEnv>()
  createFleetMetrics({ sql, registry, log })
  app.use(observeRequests({ registry, log, tracing, slowRequestMs }))
  app.use(compressJson)
  app.use(setSecurityHeaders)
  if (corsOrigins.length > 0) app.use(cors({ origin: [...corsOrigins], ...corsOptions }))
  const probed = new Set(
    allRoutes.filter(({ role, method }) => role === null && method === 'get').map(({ path }) => path),
  )
  app.use(createBrowserGuard({ ...deps, probed }))
  app.use(async (c, next) => {
    const { pathname, search } = new URL(c.req.url)
    if (pathname.length + search.length > maxUrlBytes)
      throw new ApiError('SYS_DLQ_URI_TOO_LONG', `the path and query are longer than ${maxUrlBytes} bytes`)
    // Hono passes on what it cannot decode, so "%ff" would be looked up as the name "%ff".
    if (!isPercentEncodedUtf8(pathname))
      throw new ApiError('SYS_DLQ_VALIDATION_ERROR', 'the path is not percent-encoded UTF-8')
    await next()
  })

  const streams = createStreams()
  // Long answers of one sender read in turns, so that they leave connections to his other requests and to everybody.
  const readingTurns = createTurns({ perActor: Math.max(1, Math.floor(sql.options.max / 5)) })
  app.use(async (c, next) => {
    c.set('streams', streams)
    c.set('readingTurns', readingTurns)
    await next()
  })

  // Who asks comes before the body: a sender without a token cannot keep the service reading.
  const identify = createIdentify(deps)
  const room = createBodyRoom()
  // What waits for others would keep the room of its body as long.
  const admit = ({
    role,
    waits,
    maxBodyBytes = waits ? smallBytes : defaultMaxBodyBytes,
  }: Pick<Route, 'role' | 'waits' | 'maxBodyBytes'>) =>
    [
      role === null ? letAnybodyIn : identify,
      readBody({ maxBytes: maxBodyBytes, limitMs: requestTimeoutMs, room }),
    ] as const

  // Made at the first request for it: making it takes longer than starting the service.
  let document: string | undefined
  app.get(documentPath, ...admit({ role: null }), (c) => {
    document ??= JSON.stringify(openApiDocument(allRoutes, { version }))
    return c.body(document, 200, { 'content-type': 'application/json' })
  })
  for (const route of allRoutes) app.on(route.method.toUpperCase(), route.path, ...admit(route), handlerOf(route, deps))
  if (deps.console && deps.oidc)
    serveSignIn(app, { ...deps, oidc: deps.oidc, publicUrl: deps.publicUrl, prefix: deps.console.prefix })
  if (deps.console) serveConsole(app, deps.console)

  // A request for an undeclared path is identified and limited as well: only known senders learn which paths exist.
  const readUndeclared = readBody({ maxBytes: defaultMaxBodyBytes, limitMs: requestTimeoutMs, room })
  app.notFound(async (c) => {
    await identify(c, async () => {})
    await readUndeclared(c, async () => {})
    return answerUndeclared(app, c)
  })

  app.onError((error, c) => {
    if (error instanceof ApiError) return sendError(c, error)
    if (error instanceof AsideFault) return sendError(c, faultOfAside(error))
    if (isDatabaseAway(error) || isLocked(error)) {
      log.warn({ error, requestId: c.get('requestId') }, 'database_away')
      return sendError(c, new ApiError('SYS_DLQ_UNAVAILABLE', `the database ${whyAway(error)}; try again in a moment`))
    }
    log.error({ error, requestId: c.get('requestId'), method: c.req.method, path: c.req.path }, 'request_failed')
    if (isSchemaOlder(error))
      return sendError(c, new ApiError('SYS_DLQ_UNAVAILABLE', `the database ${wantsMigrations}`))
    return sendError(
      c,
      new ApiError('SYS_DLQ_INTERNAL_ERROR', 'internal error; the log has the details under this request id'),
    )
  })
  return app
}

/** Of faults after which another try may succeed. */
function whyAway(error: Error): string {
  if (isReadOnly(error)) return takesNoChanges
  if (isLoginRefused(error)) return 'refuses the login of this service'
  if (isLocked(error)) return 'is changing the same rows for somebody else'
  if (isFull(error)) return 'opens no further connection: max_connections, or a limit of its own, is reached'
  if (isDiskFull(error)) return 'cannot write: its disk is full'
  if (isTooSlow(error)) return 'took longer than database.statement_timeout allows'
  return 'does not answer'
}

/** A change that takes too long is a fault of its own field (edit-decoded.ts). */
function faultOfAside({ kind, message }: AsideFault): ApiError {
  return new ApiError(kind === 'flooded' ? 'SYS_DLQ_TOO_MANY_REQUESTS' : 'SYS_DLQ_UNAVAILABLE', message)
}

/** 405 where the path is declared for other methods, else 404. */
function answerUndeclared(app: Hono<ApiEnv>, c: Context<ApiEnv>): Response {
  const { method, path } = c.req
  const allowed = allowedMethods(app, path)
  if (allowed.length === 0)
    return sendError(c, new ApiError('SYS_DLQ_NOT_FOUND', `no such endpoint: ${method} ${path}`))
  c.header('Allow', allowed.join(', '))
  const message = `${method} is not allowed here; allowed: ${allowed.join(', ')}`
  return sendError(c, new ApiError('SYS_DLQ_METHOD_NOT_ALLOWED', message))
}

/** So many requests of one sender may wait for what a retrier does; meanwhile they hardly ask the database. */
const maxRetriesAwaited = 50

function handlerOf(route: Route, deps: AppDeps & ApiDeps & { turns: Turns; waitingTurns: Turns }): Handler<ApiEnv> {
  const turns = route.waits ? deps.waitingTurns : deps.turns
  const limitMs = deps.requestTimeoutMs + (route.waits ? deps.retryWaitMs : 0)
  return async (c) => {
    const access = actAs(c.get('access'), route.role ?? 'read')
    if (access === null)
      throw new ApiError('SYS_DLQ_FORBIDDEN', `this needs the role ${roleNames[route.role ?? 'read']}`)
    if (route.allTopics && access.topics !== null)
      throw new ApiError('SYS_DLQ_FORBIDDEN', 'this needs a token for all topics; this one is limited to some')
    const read = await readRequest(c.req, c.get('body'), route)
    const unmask = readUnmask(c.req, read.body, { route, reason: deps.unmaskReason })
    const sight = sightOf(deps.masks, access, unmask !== null)
    if (deps.tracing.isOn) await linkMessage(deps.sql, c.get('span'), c.req.param('id'))
    const by = { actor: access.actor, role: access.role, request_id: c.get('requestId') }
    const handle = async (timeUp: AbortSignal, sql = deps.sql) => {
      const signal = AbortSignal.any([c.req.raw.signal, deps.stopping, timeUp])
      const answer = await route.handle({ ...deps, ...read, sql, c, access, sight, by, signal })
      // Before the answer goes out: without the entry nothing is shown.
      if (deps.auditReads === 'payloads' && route.showsPayloads && answer.status === 200)
        await auditRead(deps.sql, { by, path: route.path, params: read.params, query: read.query })
      if (unmask !== null && sight.unmasked !== null)
        await recordUnmasked(deps.sql, { by, unmask, unmasked: sight.unmasked, route, ...read })
      return route.revalidates && answer.status === 200 ? revalidate(answer, c.req.header('if-none-match')) : answer
    }
    // Health checks have time limits and error texts of their own.
    if (route.role === null) return handle(deps.stopping)
    const { replica } = deps
    const answer = (timeUp: AbortSignal) =>
      replica && route.readsReplica ? fromReplica(handle, replica, timeUp) : handle(timeUp)
    // Who needs no token is everybody.
    if (access.actor === anonymous.actor) return withTimeLimit(limitMs, answer)
    return withTimeLimit(limitMs, (timeUp) =>
      turns(access.actor, AbortSignal.any([timeUp, c.req.raw.signal]), () => answer(timeUp)),
    )
  }
}

/** Asks the primary where the replica is away, or cancelled the query because of a recovery conflict. */
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

const setSecurityHeaders: MiddlewareHandler = async (c, next) => {
  for (const [name, value] of Object.entries(securityHeaders)) c.header(name, value)
  await next()
}

const corsOptions = {
  allowMethods: ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE'],
  allowHeaders: [
    'Authorization',
    'Content-Type',
    'If-Match',
    'If-None-Match',
    'Idempotency-Key',
    'Last-Event-ID',
    'Prefer',
    'Traceparent',
    'X-Request-Id',
    ...Object.values(brokerHeaders),
  ],
  exposeHeaders: ['Content-Disposition', 'ETag', 'Idempotency-Replayed', 'Location', 'Retry-After', 'X-Request-Id'],
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
