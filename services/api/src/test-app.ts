// Shared by the API's tests: the application on a test database, without listening.
import { pingMessages } from 'dlq-core/queries/ping.ts'
import { createAside } from 'dlq-core/runtime/aside/aside.ts'
import { auth as authSchema, isAuthConfigured } from 'dlq-core/runtime/config/auth-schema.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { createPolicySource } from 'dlq-core/runtime/policy-source.ts'
import { createReadiness } from 'dlq-core/runtime/readiness.ts'
import { noTracing } from 'dlq-core/runtime/tracing.ts'
import { Registry } from 'prom-client'
import * as v from 'valibot'
import { createAuthenticate, createFindToken } from './access/authenticate.ts'
import { createBrokerTokens } from './access/broker-tokens.ts'
import { createWakeRetriers } from './fleet/wake-retriers.ts'
import { errorSchema, statusOf } from './http/api-error.ts'
import { type AppDeps, createApp } from './http/app.ts'
import { declaredPaths } from './http/declared-paths.ts'
import type { Route } from './http/define-route.ts'
import { answersOf, faultsOf } from './http/open-api.ts'
import { createCursorSeal } from './lists/cursor-seal.ts'
import { allRoutes } from './routes/all-routes.ts'
import { createSeal } from './session/seal.ts'
import { createSessions } from './session/sessions.ts'

/** Sends a request, such as `GET /healthz`. */
export type TestApp = (methodAndPath: string, init?: RequestInit) => Promise<Response>

export type TestAppOptions = Partial<AppDeps> & {
  /** The section "auth" of the configuration. */
  auth?: v.InferInput<typeof authSchema>
}

/** One for all applications of a worker, because each would start a thread. */
const aside = createAside()

export function createTestApp(sql: Database, { auth: given, ...settings }: TestAppOptions = {}): TestApp {
  const auth = v.parse(authSchema, given ?? {})
  const log = settings.log ?? createLog({ service: 'api', level: 'silent' })
  const policyLayers = { section: {}, fileEntries: [] }
  const app = createApp({
    sql,
    log,
    registry: new Registry(),
    tracing: noTracing,
    readiness: createReadiness({ database: () => pingMessages(sql) }),
    policies: createPolicySource({ sql, log, configured: policyLayers }),
    payloads: null,
    aside,
    masks: null,
    policyLayers,
    names: { topics: {}, consumer_groups: {} },
    wakeRetriers: createWakeRetriers(sql),
    dlqPatterns: ['*.dlq.v1'],
    allowedTargets: ['*'],
    now: () => new Date(),
    retryWaitMs: 60_000,
    stopping: new AbortController().signal,
    version: '0.1.0',
    authenticate: createAuthenticate(auth),
    brokerTokens: createBrokerTokens(auth),
    sessions: createSessions({ auth, seal: createSeal(undefined), findToken: createFindToken(auth.tokens) }),
    cursorSeal: createCursorSeal(undefined),
    consoleConfig: null,
    rateLimit: 1_000_000,
    requestTimeoutMs: 30_000,
    auditReads: 'none',
    unmaskReason: 'optional',
    slowRequestMs: 30_000,
    isAuthenticated: isAuthConfigured(auth),
    corsOrigins: [],
    ...settings,
  })
  return async (methodAndPath, init) => {
    const [method, path] = methodAndPath.split(' ')
    const response = await app.request(path!, { method: method!, ...init })
    const [declared] = declaredPaths(app, method!, path!.split('?')[0]!)
    const route = allRoutes.find((route) => route.path === declared && route.method === method!.toLowerCase())
    if (route) await expectDeclared(response, route)
    return response
  }
}

/** One application for a file's requests, made when the first is sent: that takes longer than a request. */
export function lazyTestApp(service: { readonly sql: Database }, options?: TestAppOptions): TestApp {
  let app: TestApp | undefined
  return (methodAndPath, init) => {
    app ??= createTestApp(service.sql, options)
    return app(methodAndPath, init)
  }
}

/** Every answer in every test is one that its route has declared: its status, and its body's schema. */
async function expectDeclared(response: Response, route: Route): Promise<void> {
  const { method } = route
  const answer = answersOf(route)[response.status]
  const isFault = faultsOf(route).some((code) => statusOf[code] === response.status)
  if (!answer && !isFault)
    throw new Error(`${method} ${route.path} has not declared that it answers ${response.status}`)
  const schema = answer ? answer.schema : errorSchema
  if (!schema) return
  const parsed = v.safeParse(schema, await response.clone().json())
  if (!parsed.success)
    throw new Error(
      `${method} ${route.path} answers otherwise than declared: ${JSON.stringify(v.flatten(parsed.issues))}`,
    )
}

/** Status and body of an answer, for comparing both at once. */
export async function answerOf(pending: Response | Promise<Response>): Promise<{ status: number; body: unknown }> {
  const response = await pending
  return { status: response.status, body: await response.json() }
}
