// The API for operators and programs. It reads rows and marks them; it never talks to Kafka.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMasks } from 'dlq-core/domain/masks/create-masks.ts'
import { pingMessages } from 'dlq-core/queries/ping.ts'
import { boundsWithin, createAside } from 'dlq-core/runtime/aside/aside.ts'
import { createDatabaseClock, measureClockMs } from 'dlq-core/runtime/clock/database-clock.ts'
import { isAuthConfigured } from 'dlq-core/runtime/config/auth-schema.ts'
import { policyLayersOf } from 'dlq-core/runtime/config/config.ts'
import { maskEntriesOf } from 'dlq-core/runtime/config/masks-schema.ts'
import { connectDatabase } from 'dlq-core/runtime/database/database.ts'
import { listen } from 'dlq-core/runtime/operations-server.ts'
import { createPolicySource } from 'dlq-core/runtime/policy-source.ts'
import { createReadiness } from 'dlq-core/runtime/readiness.ts'
import { runLoop } from 'dlq-core/runtime/run-loop.ts'
import { runService } from 'dlq-core/runtime/run-service.ts'
import { createPayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { createAuthenticate, createFindToken, createVerifyIdToken } from './access/authenticate.ts'
import { createBrokerTokens } from './access/broker-tokens.ts'
import { createRefuseUnread } from './answers/refuse-unread.ts'
import { prepareConsole } from './console/prepare-console.ts'
import { connectReplica, followReadLogin } from './fleet/connect-replica.ts'
import { createWakeRetriers } from './fleet/wake-retriers.ts'
import { createApp } from './http/app.ts'
import { createCursorSeal } from './lists/cursor-seal.ts'
import { createOidc } from './session/oidc.ts'
import { createSeal } from './session/seal.ts'
import { createSessions } from './session/sessions.ts'

await runService(
  { name: 'api', needs: ['database', 'auth-beyond-loopback'], heapGrowth: 100 },
  async ({ config, latest, login, stack, signal, log, registry, tracing }) => {
    const { request_timeout, drain_delay } = config.server
    // The time limit of a request also bounds its statements.
    const statement_timeout = Math.min(config.database.statement_timeout, request_timeout)
    const sql = stack.adopt(
      connectDatabase(
        { ...config.database, statement_timeout },
        { applicationName: 'dlq-api', log, registry, login, silenceMs: request_timeout + 5000, genericPlans: true },
      ),
      (sql) => sql.end({ timeout: 5 }),
    )
    const readLogin = followReadLogin(config.database, { latest: () => latest().database, log })
    if (readLogin) void runLoop(readLogin.look, { name: 'replica-login', intervalMs: 1000, signal, log })
    const replica = connectReplica(config.database, { log, login, readLogin, statement_timeout, request_timeout })
    if (replica) stack.defer(() => replica.end({ timeout: 5 }))
    const readiness = createReadiness({ database: () => pingMessages(sql) })
    const policyLayers = policyLayersOf(config)
    const consoleDeps = prepareConsole(config, log)
    if (isAuthConfigured(config.auth) && config.auth.session.key === undefined) log.info({}, 'session_key_random')
    const seal = createSeal(config.auth.session.key)
    const clock = createDatabaseClock(sql)
    void runLoop(clock.measure, { name: 'database-clock', intervalMs: measureClockMs, signal, log })
    const app = createApp({
      sql,
      now: clock.now,
      replica,
      log,
      registry,
      tracing,
      readiness,
      policies: createPolicySource({ sql, log, configured: policyLayers }),
      payloads: config.schemas ? createPayloadReader({ sql, schemas: config.schemas, now: Date.now }) : null,
      aside: createAside(boundsWithin(request_timeout)),
      masks: createMasks(maskEntriesOf(config.masks), config.masks_secret),
      policyLayers,
      names: config.names,
      wakeRetriers: createWakeRetriers(sql),
      dlqPatterns: config.kafka.dlq_topic_pattern,
      allowedTargets: config.kafka.allowed_targets,
      retryWaitMs: config.retry.wait,
      stopping: signal,
      version: config.app.version,
      authenticate: createAuthenticate(config.auth),
      sessions: createSessions({ auth: config.auth, seal, findToken: createFindToken(config.auth.tokens) }),
      cursorSeal: createCursorSeal(config.auth.session.key),
      oidc: createOidc({ auth: config.auth, seal, verifyIdToken: createVerifyIdToken(config.auth) }),
      ...consoleDeps,
      brokerTokens: createBrokerTokens(config.auth),
      rateLimit: config.auth.rate_limit,
      requestTimeoutMs: request_timeout,
      auditReads: config.audit.reads,
      unmaskReason: config.audit.unmask_reason,
      slowRequestMs: config.server.slow_request,
      isAuthenticated: isAuthConfigured(config.auth),
      publicUrl: config.server.public_url,
      allowedHosts: config.server.allowed_hosts ?? [],
      trustedProxies: config.server.trusted_proxies ?? [],
      corsOrigins: config.server.cors_origins ?? [],
    })

    const server = stack.adopt(
      await listen(app, { ...config.server, port: config.server.port ?? 8080, refuseUnread: createRefuseUnread(log) }),
      (server) => server.close(),
    )
    log.info({ url: server.url }, 'listening')

    // The signal to stop may have arrived during the start.
    if (!signal.aborted) await once(signal, 'abort')
    readiness.drain()
    // Requests are still answered, while load balancers notice that the service is not ready.
    await sleep(drain_delay)
  },
)
