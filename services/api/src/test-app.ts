// What the API's tests share: the application on a test database, without listening, and a retrier
// that takes every record as published.
import { setTimeout as sleep } from 'node:timers/promises'
import { deriveAttemptId } from 'dlq-core/message-id.ts'
import { settleAttempts } from 'dlq-core/queries/attempts.ts'
import { settleMessages } from 'dlq-core/queries/batches.ts'
import { pingDatabase } from 'dlq-core/queries/ping.ts'
import { releaseSlot } from 'dlq-core/queries/slots.ts'
import { auth as authSchema } from 'dlq-core/runtime/auth-schema.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { createPolicySource } from 'dlq-core/runtime/policy-source.ts'
import { createReadiness } from 'dlq-core/runtime/readiness.ts'
import { noTracing } from 'dlq-core/runtime/tracing.ts'
import { claimDue } from 'dlq-testing/claim-due.ts'
import { Registry } from 'prom-client'
import * as v from 'valibot'
import { errorSchema, statusOf } from './api-error.ts'
import { type AppDeps, createApp } from './app.ts'
import { createAuthenticate } from './authenticate.ts'
import { createBrokerTokens } from './broker-tokens.ts'
import { faultsOf } from './open-api.ts'
import { findRoute } from './route-table.ts'
import { allRoutes } from './routes/all-routes.ts'
import { startRunWorker } from './test-runs.ts'
import { createWakeRetriers } from './wake-retriers.ts'

/** Sends a request, such as `GET /healthz`. */
export type TestApp = (methodAndPath: string, init?: RequestInit) => Promise<Response>

export type TestAppOptions = Partial<AppDeps> & {
  /** The section "auth" of the configuration. */
  auth?: v.InferInput<typeof authSchema>
}

export function createTestApp(sql: Database, { auth, ...settings }: TestAppOptions = {}): TestApp {
  const log = settings.log ?? createLog({ service: 'api', level: 'silent' })
  const policyLayers = { section: {}, fileEntries: [] }
  const app = createApp({
    sql,
    log,
    registry: new Registry(),
    tracing: noTracing,
    readiness: createReadiness({ database: () => pingDatabase(sql) }),
    policies: createPolicySource({ sql, log, configured: policyLayers }),
    policyLayers,
    wakeRetriers: createWakeRetriers(sql),
    dlqPatterns: ['*.dlq.v1'],
    retryWaitMs: 60_000,
    stopping: new AbortController().signal,
    version: '0.1.0',
    authenticate: createAuthenticate(v.parse(authSchema, auth ?? {})),
    brokerTokens: createBrokerTokens(v.parse(authSchema, auth ?? {})),
    rateLimit: 1_000_000,
    requestTimeoutMs: 30_000,
    slowRequestMs: 30_000,
    corsOrigins: [],
    ...settings,
  })
  return async (methodAndPath, init) => {
    const [method, path] = methodAndPath.split(' ')
    const response = await app.request(path!, { method: method!, ...init })
    await expectDeclared(response.clone(), { method: method!, path: path!.split('?')[0]! })
    return response
  }
}

/** Every answer in every test is one that its route has declared: its status, and its body's schema. */
async function expectDeclared(response: Response, { method, path }: { method: string; path: string }): Promise<void> {
  const route = findRoute(allRoutes, method, path)
  if (!route) return
  const answer = route.answers[response.status]
  const isFault = faultsOf(route).some((code) => statusOf[code] === response.status)
  if (!answer && !isFault)
    throw new Error(`${method} ${route.path} has not declared that it answers ${response.status}`)
  const schema = answer ? answer.schema : errorSchema
  if (!schema) return
  const parsed = v.safeParse(schema, await response.json())
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

/** Carries runs on and claims and settles like a retrier, with Kafka left out, until `stop` is called. `refusal`: what Kafka says to every record. */
export function startRetrier(sql: Database, { refusal = null as string | null } = {}): { stop(): Promise<void> } {
  let stopped = false
  const pass = async () => {
    const { messages: claimed, ...batch } = await claimDue(sql)
    await sql.begin(async (sql) => {
      const status = refusal === null ? ('RESOLVED' as const) : ('PENDING' as const)
      const messages = claimed.map(({ id }) => ({ id, status, next_retry_at: null }))
      await settleMessages(sql, { ...batch, messages })
      await releaseSlot(sql, batch)
      await settleAttempts(sql, {
        attempts: claimed.map(({ id, retry_count, original_topic, run_id }, index) => ({
          message_id: id,
          run_id,
          number: retry_count,
          attempt_id: deriveAttemptId(id, retry_count),
          outcome: refusal === null ? 'published' : 'failed',
          target_topic: original_topic,
          target_partition: refusal === null ? 0 : null,
          target_offset: refusal === null ? BigInt(index) : null,
          error: refusal,
        })),
      })
    })
  }
  const runs = startRunWorker(sql)
  const running = (async () => {
    while (!stopped) {
      await pass()
      await sleep(5)
    }
  })()
  return {
    async stop() {
      stopped = true
      await Promise.all([running, runs.stop()])
    },
  }
}
